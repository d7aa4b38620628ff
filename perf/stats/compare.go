package stats

import (
	"cmp"
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
	Factor   float64 // between the two; not always New / Old, see shift
	P        float64 // Mann-Whitney's; of paired values see ComparePairs
	Change   Change
}

// String is "+12.3 % (p=0.001)".
func (c Comparison) String() string {
	return fmt.Sprintf("%+.1f %% (p=%.3g)", 100*(c.Factor-1), c.P)
}

// Compare says whether new is slower than old: their distributions differ at level
// alpha (Mann-Whitney, as benchstat does it), and by a factor of at least 1+effect.
// Significance alone would call a difference of 1 % if one only measured long enough; an
// effect alone would call noise.
func Compare(old, new []float64, alpha, effect float64) Comparison {
	t := benchmath.Thresholds{CompareAlpha: alpha}
	c := Comparison{Old: Median(old), New: Median(new), Factor: shift(old, new)}
	r := benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(old), &t), benchmath.NewSample(slices.Clone(new), &t))
	c.P = r.P
	c.Change = change(c.Factor, r.P <= alpha, effect)
	if r.P > alpha && (len(r.Warnings) > 0 || leastP(len(old), len(new)) > alpha) {
		c.Change = TooFew
	}
	return c
}

// shift is the median of the factors between every new value and every old one (Hodges
// and Lehmann). Where values lie on two levels, as they do when memory is laid out in one
// of two ways, the median of either sample may be on the one or the other by chance, and
// their quotient as far off as the levels are apart; this is not.
func shift(old, new []float64) float64 {
	factors := make([]float64, 0, len(old)*len(new))
	for _, a := range old {
		for _, b := range new {
			factors = append(factors, b/a)
		}
	}
	return Median(factors)
}

// leastP is the P value of samples of such sizes that do not overlap at all. The library
// warns only where both are small.
func leastP(m, n int) float64 {
	p := 2.0
	for i := range m {
		p *= float64(i+1) / float64(n+i+1)
	}
	return min(1, p)
}

// ComparePairs says whether new is slower than old where each new value was measured
// right beside an old one: by the factors' signs or Wilcoxon's signed ranks of their
// logarithms, and the median of the means of any two of these (Hodges and Lehmann). Ranks
// tell more where noise is even, signs where a few values are far off: the P value is twice
// the smaller one, which makes up for asking twice.
func ComparePairs(old, new []float64, alpha, effect float64) Comparison {
	n := min(len(old), len(new))
	c := Comparison{Old: Median(old), New: Median(new), Change: TooFew}
	logs := make([]float64, n)
	var means []float64
	for i := range n {
		logs[i] = math.Log(new[i] / old[i])
		for j := range i + 1 {
			means = append(means, (logs[i]+logs[j])/2)
		}
	}
	c.Factor, c.P = math.Exp(Median(means)), min(1, 2*signs(logs), 2*signedRanks(logs))
	if math.Pow(0.5, float64(n-2)) <= alpha { // what n values of one sign come to
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

// signs is the sign test's two-sided P value of differences.
func signs(differences []float64) float64 {
	n, above := 0, 0
	for _, d := range differences {
		if d != 0 {
			n++
		}
		if d > 0 {
			above++
		}
	}
	tail, term := 0.0, math.Pow(0.5, float64(n))
	for i := range min(above, n-above) + 1 {
		tail += term
		term *= float64(n-i) / float64(i+1)
	}
	return min(1, 2*tail)
}

// signedRanks is Wilcoxon's two-sided P value of differences, were each as likely to have
// either sign. It is exact: of all 2^n ways to choose the signs, how many part the ranks at
// least as unevenly. Equal differences share a rank; those of zero say nothing.
func signedRanks(differences []float64) float64 {
	d := slices.DeleteFunc(slices.Clone(differences), func(v float64) bool { return v == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	total, positive := 0, 0
	ways := []float64{1} // by twice the sum of positive ranks: the part of all choices
	for from := 0; from < len(d); {
		to := from + 1
		for to < len(d) && math.Abs(d[to]) == math.Abs(d[from]) {
			to++
		}
		rank := from + to + 1 // twice the mean of from+1 to to
		for ; from < to; from++ {
			total += rank
			if d[from] > 0 {
				positive += rank
			}
			next := make([]float64, total+1)
			for sum, part := range ways {
				next[sum] += part / 2
				next[sum+rank] += part / 2
			}
			ways = next
		}
	}
	p := 0.0
	for _, part := range ways[:min(positive, total-positive)+1] {
		p += part
	}
	return min(1, 2*p)
}
