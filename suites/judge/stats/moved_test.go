package stats

import (
	"math"
	"strings"
	"testing"
)

func TestAllSameIsTheFirstCountThatChanceRarelyReaches(t *testing.T) {
	for _, c := range []struct {
		alpha   float64
		workers int
		want    int
	}{
		{1e-6, 10, 6}, // 10^-6 is 1e-6, whatever the rounding
		{1e-6, 2, 20}, // 2^-20 = 9.5e-7
		{1e-6, 4, 10}, // 4^-10 = 9.5e-7
		{1e-6, 3, 13}, // 3^-12 = 1.9e-6, 3^-13 = 6.3e-7
		{1e-9, 10, 9}, {1e-15, 10, 15}, {1e-12, 1000, 4}, {1e-12, 3, 26},
	} {
		if got, err := AllSame(c.alpha, c.workers); err != nil || got != c.want {
			t.Errorf("alpha %v over %d workers: %d sessions (%v), want %d", c.alpha, c.workers, got, err, c.want)
		}
	}
}

func TestAllSameErrorsNameTheBadValue(t *testing.T) {
	if _, err := AllSame(1e-6, 1); err == nil || !strings.Contains(err.Error(), "1 workers") {
		t.Errorf("one worker: %v", err)
	}
	if _, err := AllSame(0.05, 4); err == nil || !strings.Contains(err.Error(), "0.05") {
		t.Errorf("loose alpha: %v", err)
	}
}

func TestMovedThresholdsAreTightInExactArithmetic(t *testing.T) {
	for _, n := range []int{40, 200, 1000} {
		for _, p := range []float64{0.2, 0.25, 0.35, 0.5, 0.6} {
			for _, alpha := range []float64{1e-6, 1e-9} {
				most, err := MovedAtMost(n, p, alpha)
				if err != nil {
					if n > 40 {
						t.Errorf("n=%d p=%v: %v", n, p, err)
					}
					continue
				}
				keeps, _ := exactTails(n, most+1, p)
				breaks, _ := exactTails(n, most, p)
				if keeps > alpha || breaks <= alpha {
					t.Errorf("at most %d of %d at p=%v alpha=%v: P[X>m]=%v, P[X>m-1]=%v", most, n, p, alpha, keeps, breaks)
				}
				least, err := MovedAtLeast(n, p, alpha)
				if err != nil {
					if n > 100 {
						t.Errorf("n=%d p=%v: %v", n, p, err)
					}
					continue
				}
				_, keeps = exactTails(n, least-1, p)
				_, breaks = exactTails(n, least, p)
				if keeps > alpha || breaks <= alpha {
					t.Errorf("at least %d of %d at p=%v alpha=%v: P[X<m]=%v, P[X<m+1]=%v", least, n, p, alpha, keeps, breaks)
				}
				if least >= most {
					t.Errorf("n=%d p=%v: at least %d but at most %d", n, p, least, most)
				}
			}
		}
	}
}

func TestMovedThresholdsGrowWithTheShare(t *testing.T) {
	lastMost, lastLeast := 0, 0
	for p := 0.1; p < 0.9; p += 0.05 {
		most, err := MovedAtMost(500, p, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		least, err := MovedAtLeast(500, p, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if most <= lastMost || least <= lastLeast {
			t.Errorf("share %v: at most %d after %d, at least %d after %d", p, most, lastMost, least, lastLeast)
		}
		lastMost, lastLeast = most, least
	}
}

func TestMovedErrorsNameTheBadValueAndChecksThatCannotFail(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     func(int, float64, float64) (int, error)
		n     int
		p     float64
		alpha float64
		want  string
	}{
		{"no session", MovedAtMost, 0, 0.25, 1e-6, "0 sessions"},
		{"too many sessions", MovedAtLeast, MaxTrials + 1, 0.25, 1e-6, "131073 sessions"},
		{"a share that is no number", MovedAtMost, 10, math.NaN(), 1e-6, "NaN"},
		{"a negative share", MovedAtLeast, 10, -0.5, 1e-6, "-0.5"},
		{"a loose false-alarm rate", MovedAtMost, 10, 0.25, 0.1, "0.1"},
		{"everything allowed", MovedAtMost, 100, 1, 1e-6, "share 1"},
		{"nothing asked", MovedAtLeast, 100, 0, 1e-6, "share 0"},
		{"a check that never fails from above", MovedAtMost, 5, 0.25, 1e-6, "use more sessions"},
		{"a check that never fails from below", MovedAtLeast, 20, 0.25, 1e-6, "use more sessions"},
	} {
		if got, err := c.f(c.n, c.p, c.alpha); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d, %v, want an error naming %q", c.name, got, err, c.want)
		}
	}
}
