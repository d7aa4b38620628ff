package stats

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Change is what a comparison of two samples came to.
type Change string

// The changes.
const (
	Same     Change = "same"     // no significant difference, or one too small to matter
	Slower   Change = "slower"   // a regression
	Faster   Change = "faster"   // an improvement
	TooFew   Change = "too few"  // values to tell anything at this level
	Unpaired Change = "unpaired" // in one of the two measurements only
)

// Comparison is how one sample differs from another: lower is better.
type Comparison struct {
	Old, New float64 // medians
	Factor   float64 // New / Old
	P        float64 // Mann-Whitney's, or the sign test's of paired values
	Change   Change
}

// String is "+12.3 % (p=0.001)".
func (c Comparison) String() string {
	return fmt.Sprintf("%+.1f %% (p=%.3g)", 100*(c.Factor-1), c.P)
}

// Compare says whether new is slower than old: their distributions differ at level
// alpha (Mann-Whitney, as benchstat does it), and the medians by a factor of at least
// 1+effect. Significance alone would call a difference of 1 % if one only measured long
// enough; an effect alone would call noise.
func Compare(old, new []float64, alpha, effect float64) Comparison {
	t := benchmath.Thresholds{CompareAlpha: alpha}
	c := Comparison{Old: Median(old), New: Median(new)}
	c.Factor = c.New / c.Old
	r := benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(old), &t), benchmath.NewSample(slices.Clone(new), &t))
	c.P = r.P
	c.Change = change(c.Factor, r.P <= alpha, effect)
	if r.P > alpha && len(r.Warnings) > 0 {
		c.Change = TooFew
	}
	return c
}

// ComparePairs says whether new is slower than old where each new value was measured
// right beside an old one: by the sign test on the factors, and their median.
func ComparePairs(old, new []float64, alpha, effect float64) Comparison {
	n := min(len(old), len(new))
	c := Comparison{Old: Median(old), New: Median(new), Factor: math.NaN(), P: 1, Change: TooFew}
	factors := make([]float64, n)
	for i := range n {
		factors[i] = new[i] / old[i]
	}
	c.Factor = Median(factors)
	above, below := 0, 0
	for _, f := range factors {
		switch {
		case f > 1:
			above++
		case f < 1:
			below++
		}
	}
	c.P = signTest(above, below)
	if signTest(n, 0) <= alpha {
		c.Change = change(c.Factor, c.P <= alpha, effect)
	}
	return c
}

func change(factor float64, significant bool, effect float64) Change {
	switch {
	case significant && factor >= 1+effect:
		return Slower
	case significant && factor <= 1/(1+effect):
		return Faster
	}
	return Same
}

// signTest is the two-sided P value of so many signs of each kind, were both as likely.
func signTest(a, b int) float64 {
	n, k := a+b, min(a, b)
	tail, term := 0.0, math.Pow(0.5, float64(n))
	for i := range k + 1 {
		tail += term
		term *= float64(n-i) / float64(i+1)
	}
	return min(1, 2*tail)
}
