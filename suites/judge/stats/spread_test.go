package stats

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func plan(t *testing.T) Spread {
	t.Helper()
	s, err := PlanSpread(4, 4, 1e-6, 0.5, 0.02, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var workerNames = []string{"w0", "w1", "w2", "w3"}

// draw is one cell in which worker w0 has the given share and the rest is even.
func draw(r *rand.Rand, s Spread, share float64) map[string]int {
	counts := make([]int, s.Workers)
	for range s.N {
		if r.Float64() < share {
			counts[0]++
		} else {
			counts[1+r.IntN(s.Workers-1)]++
		}
	}
	out := make(map[string]int, s.Workers)
	for i, c := range counts {
		out[workerNames[i]] = c
	}
	return out
}

func alarms(t *testing.T, s Spread, counts map[string]int) bool {
	t.Helper()
	d, err := s.Check(counts)
	if err != nil {
		t.Fatal(err)
	}
	return len(d) > 0
}

func TestAUniformRandomTargetNeverAlarmsInTenThousandRuns(t *testing.T) {
	s, r := plan(t), rand.New(rand.NewPCG(1, 2))
	for run := range 10_000 {
		for range s.Cells {
			if counts := draw(r, s, 1/float64(s.Workers)); alarms(t, s, counts) {
				t.Fatalf("run %d alarms on %v; plan %+v", run, counts, s)
			}
		}
	}
}

func TestTheSmallestFaultIsCaughtAsOftenAsStated(t *testing.T) {
	const runs = 4000
	s, r := plan(t), rand.New(rand.NewPCG(3, 4))
	for name, share := range map[string]float64{"hot worker": 0.5, "starving worker": 0.02} {
		caught := 0
		for range runs {
			if alarms(t, s, draw(r, s, share)) {
				caught++
			}
		}
		// So few would be caught once in a million if the power were just 0.99.
		if LowerTail(runs, caught, 0.99) < 1e-6 {
			t.Errorf("%s: caught in %d of %d runs, stated power 0.99; plan %+v", name, caught, runs, s)
		}
	}
}

func TestRoundRobinNeverAlarms(t *testing.T) {
	for _, workers := range []int{2, 3, 4, 7, 16} {
		fair := 1 / float64(workers)
		s, err := PlanSpread(workers, 3, 1e-6, fair+(1-fair)/3, fair/10, 0.99)
		if err != nil {
			t.Fatal(err)
		}
		for start := range workers {
			counts := map[string]int{}
			for w := range workers {
				counts[fmt.Sprint(w)] = 0
			}
			for i := range s.N {
				counts[fmt.Sprint((start+i)%workers)]++
			}
			if d, err := s.Check(counts); err != nil || len(d) > 0 {
				t.Errorf("%d workers from %d: %v %v; plan %+v", workers, start, d, err, s)
			}
		}
	}
}

func TestASpreadPlanKeepsItsBoundsInExactArithmetic(t *testing.T) {
	for _, c := range []struct {
		workers, cells int
		big, small     float64
	}{{2, 1, 0.9, 0}, {3, 2, 0.6, 0.05}, {4, 4, 0.5, 0.02}, {8, 6, 0.4, 0}, {4, 1, 1, 0}} {
		s, err := PlanSpread(c.workers, c.cells, 1e-6, c.big, c.small, 0.99)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		fair := 1 / float64(c.workers)
		over, _ := exactTails(s.N, s.Max+1, fair)
		_, under := exactTails(s.N, s.Min-1, fair)
		if a := float64(c.workers*c.cells) * (over + under); a > 1e-6 || relative(s.Alpha, a) > 1e-9 {
			t.Errorf("%+v: plan %+v, exact alpha %v", c, s, a)
		}
		hot := 1.0
		if c.big < 1 {
			hot, _ = exactTails(s.N, s.Max+1, c.big)
		}
		_, cold := exactTails(s.N, s.Min-1, c.small)
		if pw := min(hot, cold); pw < 0.99 || relative(s.Power, pw) > 1e-9 {
			t.Errorf("%+v: plan %+v, exact power %v", c, s, pw)
		}
		if s.Min < 1 || s.Max >= s.N {
			t.Errorf("%+v: plan %+v cannot alarm on one side", c, s)
		}
	}
}

func TestMoreCellsTakeMoreRequests(t *testing.T) {
	one, err := PlanSpread(4, 1, 1e-6, 0.5, 0.02, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	many, err := PlanSpread(4, 64, 1e-6, 0.5, 0.02, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	if many.N <= one.N {
		t.Errorf("64 cells of %d requests, 1 cell of %d", many.N, one.N)
	}
}

func TestCheckNamesEveryWorkerOutsideTheBounds(t *testing.T) {
	s := Spread{Workers: 3, N: 30, Min: 5, Max: 15}
	got, err := s.Check(map[string]int{"c": 4, "b": 10, "a": 16})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Worker != "a" || got[1].Worker != "c" {
		t.Fatalf("deviations %v, want a and c", got)
	}
	if want := "worker a got 16 requests, allowed 5 to 15"; got[0].String() != want {
		t.Errorf("got %q, want %q", got[0], want)
	}
	if d, err := s.Check(map[string]int{"a": 5, "b": 10, "c": 15}); err != nil || len(d) != 0 {
		t.Errorf("counts on the bounds: %v %v, want no deviation", d, err)
	}
}

func TestCheckRefusesACellThatWasNotRunAsPlanned(t *testing.T) {
	s := Spread{Workers: 2, N: 10, Min: 1, Max: 9}
	for want, counts := range map[string]map[string]int{
		"counts of 1 workers, planned for 2": {"a": 10},
		"add up to 9 requests":               {"a": 4, "b": 5},
		"worker b has a count of -1":         {"a": 11, "b": -1},
	} {
		if _, err := s.Check(counts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one naming %q", counts, err, want)
		}
	}
}

func TestSpreadErrorsNameTheBadValue(t *testing.T) {
	for _, c := range []struct {
		workers, cells        int
		alpha, big, small, pw float64
		want                  string
	}{
		{1, 1, 1e-6, 0.9, 0, 0.99, "spread over 1 workers"},
		{4, 0, 1e-6, 0.5, 0, 0.99, "spread in 0 cells"},
		{4, 1, 0.01, 0.5, 0, 0.99, "false-alarm rate 0.01"},
		{4, 1, 1e-6, 0.25, 0, 0.99, "big share 0.25"},
		{4, 1, 1e-6, 1.2, 0, 0.99, "big share 1.2"},
		{4, 1, 1e-6, 0.5, 0.25, 0.99, "small share 0.25"},
		{4, 1, 1e-6, 0.5, -1, 0.99, "small share -1"},
		{4, 1, 1e-6, 0.5, 0, 0.5, "power 0.5"},
		{4, 1, 1e-6, 0.2501, 0, 0.99, "trials"},
	} {
		if _, err := PlanSpread(c.workers, c.cells, c.alpha, c.big, c.small, c.pw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one naming %q", c, err, c.want)
		}
	}
}

func TestAPlanInBurstsIsOfWholeBurstsAndHasTheirBounds(t *testing.T) {
	for _, step := range []int{1, 7, 32, 100, 1000} {
		s, err := PlanSpreadBy(step, 4, 8, 1e-6, 0.5, 0.05, 0.99)
		if err != nil {
			t.Fatal(err)
		}
		one, err := PlanSpread(4, 8, 1e-6, 0.5, 0.05, 0.99)
		if err != nil {
			t.Fatal(err)
		}
		if s.N%step != 0 || s.N < one.N || s.Alpha > 1e-6 || s.Power < 0.99 {
			t.Errorf("bursts of %d: %+v; alone %+v", step, s, one)
		}
		each := 1e-6 / 64
		if UpperTail(s.N, s.Max+1, 0.25) > each || UpperTail(s.N, s.Max, 0.25) <= each || LowerTail(s.N, s.Min-1, 0.25) > each || LowerTail(s.N, s.Min, 0.25) <= each {
			t.Errorf("bursts of %d: bounds %d to %d are not those of %d requests", step, s.Min, s.Max, s.N)
		}
	}
	for _, step := range []int{0, -32} {
		if _, err := PlanSpreadBy(step, 4, 8, 1e-6, 0.5, 0.05, 0.99); err == nil || !strings.Contains(err.Error(), "bursts of") {
			t.Errorf("bursts of %d: %v", step, err)
		}
	}
}
