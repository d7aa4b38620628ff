// Package stats is the arithmetic of measurements: exponents of step counts, slopes of
// times with intervals, exact bounds on rates, and whether one measurement is slower
// than another. It is pure: no clock, and randomness only from the caller.
//
// Times on a machine that does other things as well have heavy tails, drift, and step
// where a cache ends. So nothing here assumes a distribution: slopes are Theil-Sen's,
// intervals come from order statistics, comparisons are Mann-Whitney's and Wilcoxon's.
package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/montanaflynn/stats"
)

// Point is one measurement of a ladder: at size N, Y of something.
type Point struct{ N, Y float64 }

// Median returns the median, NaN of nothing.
func Median(values []float64) float64 {
	m, err := stats.Median(values)
	if err != nil {
		return math.NaN()
	}
	return m
}

// GeometricMean returns the geometric mean of positive values, NaN of nothing.
func GeometricMean(values []float64) float64 {
	sum := 0.0 // of logarithms: a product would overflow
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// Slope is Theil-Sen's slope of log2 Y over log2 N: the median of the slopes between all
// pairs of points with different N. A third of the points may be anything at all, nearly
// (29 %), before it breaks. It is NaN with fewer than two sizes or where a value is not
// positive.
func Slope(points []Point) float64 {
	var slopes []float64
	for i, p := range points {
		for _, q := range points[:i] {
			if p.N != q.N {
				slopes = append(slopes, (math.Log2(p.Y)-math.Log2(q.Y))/(math.Log2(p.N)-math.Log2(q.N)))
			}
		}
	}
	if slices.ContainsFunc(slopes, math.IsNaN) {
		return math.NaN()
	}
	return Median(slopes)
}

// Medians merges the points of the same size into one, in the order of sizes.
func Medians(points []Point) []Point {
	at := map[float64][]float64{}
	for _, p := range points {
		at[p.N] = append(at[p.N], p.Y)
	}
	var all []Point
	for n, ys := range at {
		all = append(all, Point{n, Median(ys)})
	}
	slices.SortFunc(all, func(a, b Point) int { return cmp.Compare(a.N, b.N) })
	return all
}
