package selection

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func fleet(n int) []Candidate {
	c := make([]Candidate, n)
	for i := range c {
		c[i].ID = fmt.Sprintf("w%d", i)
	}
	return c
}

func TestEveryPolicyAnswersMinusOneWithoutCandidatesAndZeroForOne(t *testing.T) {
	for _, name := range Names() {
		p, err := ByName(name, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Pick(nil); got != -1 {
			t.Errorf("%s: Pick(nil) = %d, want -1", name, got)
		}
		if got := p.Pick(fleet(1)); got != 0 {
			t.Errorf("%s: Pick(one) = %d, want 0", name, got)
		}
		if none, one := p.Peek(nil), p.Peek(fleet(1)); none != -1 || one != 0 {
			t.Errorf("%s: Peek(nil) = %d, Peek(one) = %d, want -1 and 0", name, none, one)
		}
	}
}

func TestEveryPolicySpreadsSequentialRequestsOverAnIdleFleet(t *testing.T) {
	const workers, picks = 8, 8000
	for _, name := range Names() {
		p, _ := ByName(name, 7)
		counts := make([]int, workers)
		c := fleet(workers)
		for range picks {
			counts[p.Pick(c)]++
		}
		for i, n := range counts { // mean 1000, standard deviation below 30
			if n < 800 || n > 1200 {
				t.Errorf("%s: worker %d got %d of %d, want about %d", name, i, n, picks, picks/workers)
			}
		}
	}
}

func TestEveryPolicyIsSafeForConcurrentUse(t *testing.T) {
	for _, name := range Names() {
		p, _ := ByName(name, 3)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				c := fleet(5)
				for range 500 {
					if i := p.Pick(c); i < 0 || i >= len(c) {
						t.Errorf("%s: Pick = %d", name, i)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestTheSameSeedMakesTheSameChoicesAndAnotherSeedOthers(t *testing.T) {
	sequence := func(name string, seed uint64) string {
		p, _ := ByName(name, seed)
		var b strings.Builder
		for range 64 {
			fmt.Fprint(&b, p.Pick(fleet(8)), " ")
		}
		return b.String()
	}
	for _, name := range []string{NameRandom, NamePowerOfTwo, NameLeastLoaded} {
		if first, again := sequence(name, 1), sequence(name, 1); first != again {
			t.Errorf("%s: one seed gave two sequences", name)
		}
		if sequence(name, 1) == sequence(name, 2) {
			t.Errorf("%s: two seeds gave one sequence", name)
		}
	}
}

func TestPeekSaysWhatPickWillDoAndLeavesNoTrace(t *testing.T) {
	for _, name := range Names() {
		p, _ := ByName(name, 9)
		undisturbed, _ := ByName(name, 9)
		c := fleet(6)
		for i := range 200 {
			c[i%6].InFlight = i % 5
			first, second := p.Peek(c), p.Peek(c)
			got, want := p.Pick(c), undisturbed.Pick(c)
			if first != got || second != got || got != want {
				t.Fatalf("%s: Peek said %d and %d, Pick did %d, and without Peek %d", name, first, second, got, want)
			}
		}
	}
}

func TestRoundRobinRotatesThroughRanks(t *testing.T) {
	p := NewRoundRobin()
	c := []Candidate{{ID: "a"}, {ID: "b"}, {ID: "a", Rank: 1}, {ID: "b", Rank: 1}}
	for i := range 12 {
		if got := p.Pick(c); got != i%4 {
			t.Fatalf("pick %d = %d, want %d", i, got, i%4)
		}
	}
}

func TestAnUnknownPolicyIsAnErrorThatListsTheKnownOnes(t *testing.T) {
	_, err := ByName("fastest", 0)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range append(Names(), `"fastest"`) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %s", err, want)
		}
	}
}

func TestRoundRobinRotatesThroughAFixedList(t *testing.T) {
	p := NewRoundRobin()
	c := fleet(3)
	for i := range 9 {
		if got := p.Pick(c); got != i%3 {
			t.Fatalf("pick %d = %d, want %d", i, got, i%3)
		}
	}
}

func TestRoundRobinStaysFairWhenListsAlternate(t *testing.T) {
	// One model on a and b, another on b and c: a cursor would starve c.
	p := NewRoundRobin()
	first := []Candidate{{ID: "a"}, {ID: "b"}}
	second := []Candidate{{ID: "b"}, {ID: "c"}}
	counts := map[string]int{}
	for range 300 {
		counts[first[p.Pick(first)].ID]++
		counts[second[p.Pick(second)].ID]++
	}
	for _, id := range []string{"a", "b", "c"} {
		if counts[id] < 190 || counts[id] > 210 {
			t.Errorf("counts %v, want about 200 each", counts)
		}
	}
}

func TestRoundRobinGivesANewcomerOneTurnAndThenItsShare(t *testing.T) {
	p := NewRoundRobin()
	for range 100 {
		p.Pick(fleet(3))
	}
	counts := make([]int, 4)
	for range 40 {
		counts[p.Pick(fleet(4))]++
	}
	for i, n := range counts {
		if n != 10 {
			t.Errorf("worker %d got %d of 40, want 10 each: %v", i, n, counts)
		}
	}
}

func TestRoundRobinForgetsWorkersThatNeverReturn(t *testing.T) {
	p := NewRoundRobin()
	for i := range 20000 {
		p.Pick([]Candidate{{ID: fmt.Sprint("gone-", i)}, {ID: "stays"}})
	}
	if len(p.last) > 4096 {
		t.Errorf("%d ids remembered", len(p.last))
	}
}

func TestLeastLoadedNeverPicksABusierWorker(t *testing.T) {
	p := NewLeastLoaded(1)
	c := []Candidate{{"a", 0, 2}, {"b", 0, 1}, {"c", 0, 3}, {"c", 1, 1}}
	seen := map[int]int{}
	for range 1000 {
		seen[p.Pick(c)]++
	}
	if seen[1]+seen[3] != 1000 || seen[1] < 400 || seen[3] < 400 {
		t.Errorf("picks %v, want only 1 and 3, about 500 each", seen)
	}
}

func TestPowerOfTwoNeverPicksTheBusiestAndPrefersTheIdle(t *testing.T) {
	p := NewPowerOfTwo(1)
	c := []Candidate{{"idle", 0, 0}, {"some", 0, 5}, {"busiest", 0, 9}}
	seen := map[int]int{}
	for range 3000 {
		seen[p.Pick(c)]++
	}
	if seen[2] != 0 { // it loses every comparison
		t.Errorf("the busiest was picked %d times", seen[2])
	}
	if seen[0] < 1850 || seen[0] > 2150 { // drawn in two of three pairs
		t.Errorf("the idle one was picked %d times, want about 2000", seen[0])
	}
}

func BenchmarkPick(b *testing.B) {
	for _, name := range Names() {
		for _, n := range []int{8, 64} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				p, _ := ByName(name, 1)
				c := fleet(n)
				b.ReportAllocs()
				for b.Loop() {
					p.Pick(c)
				}
			})
		}
	}
}
