package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
)

// noisy makes a measurement of ladders a and b, whose times are a factor of the usual.
func noisy(rng *rand.Rand, factors map[string]float64) *record.File {
	f := &record.File{Suite: "speed", Complete: true}
	for _, name := range []string{"a", "b", "c"} {
		factor, ok := factors[name]
		if !ok {
			continue
		}
		l := record.Ladder{Name: name, Symbol: "n"}
		for round := range 31 {
			for _, n := range []int{64, 1024} {
				machine := math.Exp(0.5 * rng.NormFloat64()) // what both sides see
				steps := int64(n)
				s := record.Sample{Round: round, N: n, Ops: n, Steps: &steps,
					NS:      int64(float64(n) * 1000 * machine * factor * spread(rng)),
					Control: int64(float64(n) * 500 * machine * spread(rng))}
				l.Samples = append(l.Samples, s)
			}
		}
		f.Ladders = append(f.Ladders, l)
	}
	return f
}

// spread is the noise of one timing: mostly small, sometimes large.
func spread(rng *rand.Rand) float64 {
	v := math.Exp(0.04 * rng.NormFloat64())
	if rng.Float64() < 0.03 {
		v *= 1 + 2*rng.ExpFloat64()
	}
	return v
}

func TestFilesCallsASlowdownAndNothingElse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const trials = 300
	called, wolf := stats.Rate{Trials: trials}, stats.Rate{Trials: trials}
	for range trials {
		base := noisy(rng, map[string]float64{"a": 1, "b": 1})
		bad := Files(base, noisy(rng, map[string]float64{"a": 1, "b": 1.15}), Saved).Regressions()
		if len(bad) == 1 && bad[0].Ladder == "b" {
			called.Hits++
		}
		if len(Files(base, noisy(rng, map[string]float64{"a": 1, "b": 1}), Saved).Regressions()) > 0 {
			wolf.Hits++
		}
	}
	if called.AtLeast(0.95) < 0.98 || wolf.AtMost(0.95) > 0.02 {
		t.Errorf("a slowdown of 15 %% is called, and alone, in %v; wolf is cried in %v", called, wolf)
	}
}

func TestSideBySideCallsTenPercent(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const trials = 300
	called, wolf := stats.Rate{Trials: trials}, stats.Rate{Trials: trials}
	for range trials {
		// Neighbours see the same machine: the second is the first, but for noise of its own.
		one := func(factor float64) *record.File {
			seed := rand.NewPCG(rng.Uint64(), 1)
			f := noisy(rand.New(seed), map[string]float64{"a": 1})
			for i := range f.Ladders[0].Samples {
				s := &f.Ladders[0].Samples[i]
				s.NS = int64(float64(s.Control) * 2 * factor * spread(rng))
				s.Control = 500 * int64(s.N)
			}
			return f
		}
		old := one(1)
		if r := SideBySide(old, one(1.10), Pairs); len(r.Regressions()) == 1 {
			called.Hits++
		}
		if len(SideBySide(old, one(1), Pairs).Regressions()) > 0 {
			wolf.Hits++
		}
	}
	// Here the two do not see the same machine at all, so this shows the arithmetic only.
	if wolf.AtMost(0.95) > 0.02 {
		t.Errorf("wolf is cried in %v", wolf)
	}
	old := noisy(rng, map[string]float64{"a": 1})
	new := noisy(rng, map[string]float64{"a": 1})
	for i, s := range old.Ladders[0].Samples {
		new.Ladders[0].Samples[i].NS = int64(1.10 * float64(s.NS) * (1 + 0.04*rng.NormFloat64()))
	}
	if r := SideBySide(old, new, Pairs); len(r.Regressions()) != 1 {
		t.Errorf("10 %% slower beside each other: %+v", r.Rows)
	}
}

func TestFilesSeesWhatIsMissingOrLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	old, new := noisy(rng, map[string]float64{"a": 1, "b": 1}), noisy(rng, map[string]float64{"b": 1, "c": 1})
	judged := func(v record.Verdict, e float64) *record.Judged {
		return &record.Judged{Verdict: v, Class: "O(n)", Steps: &record.Figure{Verdict: v, Exponent: e, Limit: 1.01}}
	}
	old.Ladders[1].Judged, new.Ladders[0].Judged = judged(record.Pass, 1), judged(record.Fail, 2)
	new.Complete, new.Environment.CPU = false, "another"
	r := Files(old, new, Saved)
	changes := map[string]stats.Change{}
	for _, row := range r.Rows {
		changes[row.Ladder] = row.Change
	}
	if changes["a"] != stats.Unpaired || changes["c"] != stats.Unpaired || len(r.Rows) != 3 {
		t.Errorf("rows %v", changes)
	}
	if bad := r.Regressions(); len(bad) != 1 || !strings.Contains(bad[0].Class, "it was O(n): steps now grow with exponent 2.00") {
		t.Errorf("a lost class: %+v", bad)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "the processor differs: , now another") || !strings.Contains(notes, "the new measurement was interrupted") {
		t.Errorf("notes: %s", notes)
	}
	if r := Files(noisy(rng, map[string]float64{"a": 1}), noisy(rng, map[string]float64{"b": 1}), Saved); !r.Undecided() {
		t.Error("two measurements that share nothing are decided")
	}
	short := noisy(rng, map[string]float64{"a": 1})
	short.Ladders[0].Samples = short.Ladders[0].Samples[:8]
	if r := Files(short, short, Saved); !r.Undecided() {
		t.Errorf("three rounds are decided: %+v", r.Rows)
	}
}

// Whatever the old measurement has and the new one lacks could be the slow part.
func TestWhatIsMissingIsAGap(t *testing.T) {
	one := map[string]float64{"a": 1, "b": 1}
	for _, c := range []struct {
		name   string
		change func(old, new *record.File)
		want   string // of the only gap; empty: there is none
	}{
		{"nothing", func(_, _ *record.File) {}, ""},
		{"a ladder of the new one's", func(old, _ *record.File) { old.Ladders = old.Ladders[:1] }, ""},
		{"a ladder of the old one's", func(_, new *record.File) { new.Ladders = new.Ladders[:1] }, "b is missing in the new one"},
		{"both decline", func(old, new *record.File) {
			old.Ladders[1] = record.Ladder{Name: "b", Declined: "no"}
			new.Ladders[1] = record.Ladder{Name: "b", Declined: "no"}
		}, ""},
		{"declined before, and gone", func(old, new *record.File) {
			old.Ladders[1], new.Ladders = record.Ladder{Name: "b", Declined: "no"}, new.Ladders[:1]
		}, ""},
		{"the old one declined", func(old, _ *record.File) { old.Ladders[1] = record.Ladder{Name: "b", Declined: "no"} }, ""},
		{"the new one declines", func(_, new *record.File) { new.Ladders[1] = record.Ladder{Name: "b", Declined: "no claim"} }, "b is declined by the new one (no claim)"},
		{"a size", func(_, new *record.File) {
			new.Ladders[1].Samples = slices.DeleteFunc(new.Ladders[1].Samples, func(s record.Sample) bool { return s.N == 1024 })
		}, "b is missing in the new one at n = 1024"},
		{"all sizes", func(_, new *record.File) { new.Ladders[1].Samples = nil }, "b was timed at no size in both"},
		{"rounds", func(_, new *record.File) { new.Ladders[1].Samples = new.Ladders[1].Samples[:4] }, "b was timed too seldom"},
		{"the end of the old one", func(old, _ *record.File) { old.Complete = false }, "the old measurement was interrupted"},
		{"the end of the new one", func(_, new *record.File) { new.Complete = false }, "the new measurement was interrupted"},
		{"the suite", func(_, new *record.File) { new.Suite = "short" }, "the old one is of the suite speed and the new one of short"},
	} {
		rng := rand.New(rand.NewPCG(7, 8))
		old, new := noisy(rng, one), noisy(rng, one)
		c.change(old, new)
		r := Files(old, new, Saved)
		if got := strings.Join(r.Gaps(), "; "); got != c.want || len(r.Regressions()) > 0 {
			t.Errorf("%s: gaps %q, want %q; regressions %+v", c.name, got, c.want, r.Regressions())
		}
	}
}
