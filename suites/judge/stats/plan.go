package stats

import (
	"fmt"
	"math"
	"sort"
)

// Bounds that hold for every statistical case.
const (
	MaxAlpha  = 1e-6    // the largest false-alarm rate a case may state
	MinPower  = 0.99    // the smallest power a case may state
	MaxTrials = 1 << 17 // the largest sample a plan may ask for, 131,072
)

// Plan is a sample size and a threshold. N trials are made, exactly N: with
// the threshold recomputed for one trial more, the power may fall below what
// was asked (see PlanUpper).
type Plan struct {
	N     int     // trials
	K     int     // upper plan: alarm iff count >= K; lower plan: alarm iff count <= K
	Alpha float64 // achieved: probability of an alarm at p0
	Power float64 // achieved: probability of an alarm at p1
}

// PlanUpper finds the smallest n for which a threshold k exists with
//
//	P[X >= k | p0] <= alpha   and   P[X >= k | p1] >= power,   X ~ Binomial(n, p)
//
// where p0 is the largest rate a sound target may show and p1 > p0 the
// smallest fault that must be caught. By monotonicity in p the plan also holds
// for every rate below p0 and every fault above p1. At that n, K is the
// smallest threshold that keeps alpha, so the achieved power is the best there.
//
// N is the smallest sample that works, not a bound from which all work: k is a
// whole number, so power against n is a saw-tooth that drops each time k steps
// up (Chernick and Liu, "The saw-toothed behavior of power versus sample size",
// The American Statistician 56(2), 2002).
//
// The search walks k. For fixed k, power holds from some n on, B(k), and alpha
// holds up to some n, A(k), both non-decreasing in k; the smallest n that
// works is B(k) for the first k with B(k) <= A(k).
//
// It is an error if alpha is not within 0..MaxAlpha (0 excluded), power not
// within MinPower..1 (1 excluded), 0 <= p0 < p1 <= 1 does not hold, or more
// than MaxTrials trials would be needed.
func PlanUpper(alpha, p0, p1, power float64) (Plan, error) {
	if err := checkRates(alpha, power); err != nil {
		return Plan{}, err
	}
	if !(p0 >= 0 && p0 < p1 && p1 <= 1) {
		return Plan{}, fmt.Errorf("upper plan: p0 = %v and p1 = %v, want 0 <= p0 < p1 <= 1", p0, p1)
	}
	if atLeast(alpha, p0, p1, power) > MaxTrials {
		return Plan{}, tooMany(alpha, p0, p1, power)
	}
	n := 1
	for k := 1; ; k++ {
		n = first(n, func(n int) bool { return UpperTail(n, k, p1) >= power })
		if n > MaxTrials {
			return Plan{}, tooMany(alpha, p0, p1, power)
		}
		if a := UpperTail(n, k, p0); a <= alpha {
			return Plan{N: n, K: k, Alpha: a, Power: UpperTail(n, k, p1)}, nil
		}
	}
}

// PlanLower is PlanUpper for faults that show as too few: p1 < p0, and the
// alarm is X <= K with
//
//	P[X <= k | p0] <= alpha   and   P[X <= k | p1] >= power.
//
// It is an error if 0 <= p1 < p0 <= 1 does not hold, and otherwise as for
// PlanUpper.
func PlanLower(alpha, p0, p1, power float64) (Plan, error) {
	if err := checkRates(alpha, power); err != nil {
		return Plan{}, err
	}
	if !(p1 >= 0 && p1 < p0 && p0 <= 1) {
		return Plan{}, fmt.Errorf("lower plan: p0 = %v and p1 = %v, want 0 <= p1 < p0 <= 1", p0, p1)
	}
	if atLeast(alpha, p0, p1, power) > MaxTrials {
		return Plan{}, tooMany(alpha, p0, p1, power)
	}
	// For fixed k the sides swap: alpha holds from some n on, power up to some n.
	n := 1
	for k := 0; ; k++ {
		n = first(n, func(n int) bool { return LowerTail(n, k, p0) <= alpha })
		if n > MaxTrials {
			return Plan{}, tooMany(alpha, p0, p1, power)
		}
		if pw := LowerTail(n, k, p1); pw >= power {
			return Plan{N: n, K: k, Alpha: LowerTail(n, k, p0), Power: pw}, nil
		}
	}
}

// first is the smallest n from the given one on for which holds is true, given
// that it stays true from there on; MaxTrials+1 if there is none up to
// MaxTrials. The answer is mostly near, so it doubles its step, then bisects.
func first(from int, holds func(n int) bool) int {
	no, step := from-1, 1
	for no+step <= MaxTrials && !holds(no+step) {
		no, step = no+step, 2*step
	}
	return no + 1 + sort.Search(min(step, MaxTrials+1-no)-1, func(i int) bool { return holds(no + 1 + i) })
}

func checkAlpha(alpha float64) error {
	if !(alpha > 0 && alpha <= MaxAlpha) {
		return fmt.Errorf("false-alarm rate %v, want above 0 and at most %v", alpha, MaxAlpha)
	}
	return nil
}

func checkRates(alpha, power float64) error {
	if err := checkAlpha(alpha); err != nil {
		return err
	}
	if !(power >= MinPower && power < 1) {
		return fmt.Errorf("power %v, want at least %v and below 1", power, MinPower)
	}
	return nil
}

// atLeast is a number of trials below which no test of any kind has this alpha
// and power. A decision knows no more than the data it rests on, so
// d(power, alpha) <= n * d(p1, p0), with d the relative entropy of two coins
// (data-processing inequality; Cover and Thomas, "Elements of Information
// Theory", 2nd ed., 2.8 and 11.8). It refuses hopeless plans at once, where the
// search would walk all of MaxTrials.
func atLeast(alpha, p0, p1, power float64) float64 {
	return entropy(power, alpha) / entropy(p1, p0)
}

// entropy is the relative entropy of a coin with rate p from one with rate q, in nats.
func entropy(p, q float64) float64 {
	part := func(p, q float64) float64 {
		if p == 0 {
			return 0
		}
		return p * math.Log(p/q)
	}
	return part(p, q) + part(1-p, 1-q)
}

func tooMany(alpha, p0, p1, power float64) error {
	return fmt.Errorf("telling %v from %v at a false-alarm rate of %v with power %v takes more than %d trials; state a larger smallest fault",
		p1, p0, alpha, power, MaxTrials)
}

// Must serves plans whose numbers are constants of a case: a bad one is a defect
// of the suite that the first test shows, so it panics.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
