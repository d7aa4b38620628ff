// Package stats is the arithmetic of statistical cases. A statistical case
// looks once: it states its false-alarm rate, the smallest fault it must catch
// and the power it catches that fault with, and the sample size follows. There
// is no retry and no best-of-k, because a test repeated until it passes has
// another false-alarm rate and another power than it states.
//
// Everything here is exact binomial arithmetic, not a normal approximation: at
// a false-alarm rate of 1e-6 and a few hundred requests the approximation is
// wrong by factors. The package is pure: no clock, no network, no randomness.
package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// UpperTail is P[X >= k] for X ~ Binomial(n, p), that is
//
//	sum over i = k..n of C(n,i) p^i (1-p)^(n-i)  =  I_p(k, n-k+1)
//
// with I the regularised incomplete beta function (DLMF 8.17.5). The relative
// error is below 1e-10 for n up to 1,500 and below 1e-9 up to MaxTrials, in
// the far tail too; a complement 1-CDF would lose every digit there. It is NaN
// if n is negative or p is not within 0..1.
func UpperTail(n, k int, p float64) float64 {
	switch {
	case n < 0 || !(p >= 0 && p <= 1):
		return math.NaN()
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// LowerTail is P[X <= k] for X ~ Binomial(n, p), that is I_(1-p)(n-k, k+1).
// Accuracy and bad input are as for UpperTail.
func LowerTail(n, k int, p float64) float64 {
	switch {
	case n < 0 || !(p >= 0 && p <= 1):
		return math.NaN()
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}
