package stats

import (
	"math"
	"strings"
	"testing"
)

var planGrid = []struct{ alpha, p0, p1, power float64 }{
	{1e-6, 0, 0.05, 0.99},
	{1e-6, 0.01, 0.1, 0.99},
	{1e-6, 0.25, 0.5, 0.99},
	{1e-6, 0.25, 0.4, 0.999},
	{1e-9, 1.0 / 3, 0.6, 0.99},
	{1e-12, 0.5, 0.9, 0.9999},
	{1e-7, 0.7, 1, 0.99},
}

func TestAPlanKeepsWhatItPromisesInExactArithmetic(t *testing.T) {
	for _, g := range planGrid {
		up, err := PlanUpper(g.alpha, g.p0, g.p1, g.power)
		if err != nil {
			t.Fatalf("upper %+v: %v", g, err)
		}
		a, _ := exactTails(up.N, up.K, g.p0)
		pw := 1.0
		if g.p1 < 1 { // the exact sum divides by 1-p
			pw, _ = exactTails(up.N, up.K, g.p1)
		}
		if a > g.alpha || pw < g.power || relative(up.Alpha, a) > 1e-10 || relative(up.Power, pw) > 1e-10 {
			t.Errorf("upper %+v: %+v, exactly alpha %v and power %v", g, up, a, pw)
		}
		low, err := PlanLower(g.alpha, 1-g.p0, 1-g.p1, g.power)
		if err != nil {
			t.Fatalf("lower %+v: %v", g, err)
		}
		if low.N != up.N || low.K != up.N-up.K {
			t.Errorf("%+v: lower plan %+v is not the mirror image of upper plan %+v", g, low, up)
		}
	}
}

func TestNoSmallerSampleWouldDo(t *testing.T) {
	for _, g := range planGrid {
		up, err := PlanUpper(g.alpha, g.p0, g.p1, g.power)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= up.N; n++ {
			for k := 0; k <= n; k++ {
				if n == up.N && k == up.K {
					break
				}
				if UpperTail(n, k, g.p0) <= g.alpha && UpperTail(n, k, g.p1) >= g.power {
					t.Fatalf("%+v: planned %+v, but n=%d k=%d does as well", g, up, n, k)
				}
			}
		}
	}
}

func TestTheInformationBoundRefusesNoPlanThatExists(t *testing.T) {
	for _, g := range planGrid {
		up, err := PlanUpper(g.alpha, g.p0, g.p1, g.power)
		if err != nil {
			t.Fatal(err)
		}
		if b := atLeast(g.alpha, g.p0, g.p1, g.power); b > float64(up.N) {
			t.Errorf("%+v: bound %v, yet %d trials do", g, b, up.N)
		}
	}
}

func TestAPlanBeyondTheLargestSampleIsRefusedByTheSearchToo(t *testing.T) {
	const p0, p1 = 1e-5, 1.45e-4 // within the bound, and yet out of reach
	if b := atLeast(1e-6, p0, p1, 0.99); b > MaxTrials {
		t.Fatalf("bound %v; this tests the search only below %d", b, MaxTrials)
	}
	if p, err := PlanUpper(1e-6, p0, p1, 0.99); err == nil || !strings.Contains(err.Error(), "131072 trials") {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := PlanLower(1e-6, p1, p0, 0.99); err == nil || !strings.Contains(err.Error(), "131072 trials") {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestFirstFindsTheFirst(t *testing.T) {
	for _, from := range []int{1, 2, 50, MaxTrials - 1, MaxTrials} {
		for _, at := range []int{0, 1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 1000, MaxTrials - 1, MaxTrials, MaxTrials + 1} {
			want := min(max(at, from), MaxTrials+1)
			if got := first(from, func(n int) bool { return n >= at }); got != want {
				t.Errorf("from %d, true from %d on: %d, want %d", from, at, got, want)
			}
		}
	}
}

func TestPowerAgainstSampleSizeIsASawTooth(t *testing.T) {
	g := planGrid[2]
	up, err := PlanUpper(g.alpha, g.p0, g.p1, g.power)
	if err != nil {
		t.Fatal(err)
	}
	dips := 0
	for n, k := up.N, up.K; n < up.N+60; n++ {
		for UpperTail(n, k, g.p0) > g.alpha {
			k++
		}
		if UpperTail(n, k, g.p1) < g.power {
			dips++
		}
	}
	if dips == 0 {
		t.Error("no larger sample falls below the power; the doc comment of PlanUpper warns of what does not happen")
	}
}

func TestPlansGrowWithWhatIsAsked(t *testing.T) {
	n := func(alpha, p0, p1, power float64) int {
		t.Helper()
		p, err := PlanUpper(alpha, p0, p1, power)
		if err != nil {
			t.Fatal(err)
		}
		return p.N
	}
	base := n(1e-6, 0.25, 0.5, 0.99)
	for name, larger := range map[string]int{
		"a smaller false-alarm rate": n(1e-9, 0.25, 0.5, 0.99),
		"a smaller fault":            n(1e-6, 0.25, 0.4, 0.99),
		"a higher sound rate":        n(1e-6, 0.35, 0.5, 0.99),
		"more power":                 n(1e-6, 0.25, 0.5, 0.9999),
	} {
		if larger <= base {
			t.Errorf("%s takes %d trials, not more than %d", name, larger, base)
		}
	}
}

func TestPlanErrorsNameTheBadValue(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name                   string
		alpha, p0, p1, pw      float64
		wantUpper, wantInLower string
	}{
		{"a false-alarm rate above the bound", 1e-5, 0.1, 0.2, 0.99, "false-alarm rate 1e-05", "false-alarm rate 1e-05"},
		{"a false-alarm rate of zero", 0, 0.1, 0.2, 0.99, "false-alarm rate 0", "false-alarm rate 0"},
		{"a false-alarm rate that is no number", nan, 0.1, 0.2, 0.99, "NaN", "NaN"},
		{"too little power", 1e-6, 0.1, 0.2, 0.98, "power 0.98", "power 0.98"},
		{"certain power", 1e-6, 0.1, 0.2, 1, "power 1", "power 1"},
		{"rates in the wrong order", 1e-6, 0.2, 0.2, 0.99, "p1 = 0.2", "p1 = 0.8"},
		{"a rate outside 0..1", 1e-6, -0.1, 0.2, 0.99, "p0 = -0.1", "p0 = 1.1"},
		{"a fault outside 0..1", 1e-6, 0.1, 1.5, 0.99, "p1 = 1.5", "p1 = -0.5"},
		{"a rate that is no number", 1e-6, nan, 0.2, 0.99, "NaN", "NaN"},
		{"a fault too small to see", 1e-6, 0.5, 0.501, 0.99, "131072 trials", "131072 trials"},
	} {
		if _, err := PlanUpper(c.alpha, c.p0, c.p1, c.pw); err == nil || !strings.Contains(err.Error(), c.wantUpper) {
			t.Errorf("upper, %s: error %v, want one naming %q", c.name, err, c.wantUpper)
		}
		if _, err := PlanLower(c.alpha, 1-c.p0, 1-c.p1, c.pw); err == nil || !strings.Contains(err.Error(), c.wantInLower) {
			t.Errorf("lower, %s: error %v, want one naming %q", c.name, err, c.wantInLower)
		}
	}
}

func BenchmarkPlanUpper(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := PlanUpper(1e-6, 0.25, 0.4, 0.99); err != nil {
			b.Fatal(err)
		}
	}
}
