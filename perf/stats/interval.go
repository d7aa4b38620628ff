package stats

import (
	"math"
	"slices"
)

// Interval is an estimate, and the interval in which the true value is; outside at
// either side with at most Risk.
type Interval struct {
	Value, Lo, Hi float64
	Risk          float64
}

// MedianInterval is the median of values and its interval from order statistics: the
// k-th smallest and the k-th largest, with the largest k for which
// P[Binomial(n, 1/2) < k] <= risk. This is exact for independent values of any
// distribution. With too few values even the extremes are not wide enough: then the
// interval is unbounded.
func MedianInterval(values []float64, risk float64) Interval {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	v := Interval{Value: Median(sorted), Lo: math.Inf(-1), Hi: math.Inf(1), Risk: risk}
	k, below, term := 0, 0.0, math.Pow(0.5, float64(n))
	for i := 0; i < n; i++ { // below = P[X <= i] = P[X < i+1]
		below += term
		if below > risk {
			break
		}
		k = i + 1
		term *= float64(n-i) / float64(i+1)
	}
	if k > 0 {
		v.Lo, v.Hi = sorted[k-1], sorted[n-k]
	}
	return v
}

// Looks says how often a measurement may be looked at before it ends: after these
// numbers of rounds. Each look spends an equal part of the risk, so that the risk of
// ever deciding wrongly, at either side, is at most the whole (Bonferroni): looking
// again and again with an undiminished level would have another error rate than stated.
type Looks struct {
	Rounds []int   // ascending
	Risk   float64 // of a wrong decision at either side, over all looks
}

// DefaultLooks decides after 9, 16, 28 or 48 rounds: mostly after the first.
var DefaultLooks = Looks{Rounds: []int{9, 16, 28, 48}, Risk: 0.0125}

// Each is the risk that one look spends.
func (l Looks) Each() float64 { return l.Risk / float64(len(l.Rounds)) }

// Last is the most rounds there are.
func (l Looks) Last() int { return l.Rounds[len(l.Rounds)-1] }

// Due says whether there is a look after so many rounds.
func (l Looks) Due(rounds int) bool { return slices.Contains(l.Rounds, rounds) }

// Decision is what a look came to.
type Decision string

// The decisions.
const (
	Within       Decision = "within"       // the whole interval is at or below the limit
	Beyond       Decision = "beyond"       // the whole interval is above it
	Inconclusive Decision = "inconclusive" // neither: the noise does not allow to tell
)

// Decide holds an interval against a limit.
func (v Interval) Decide(limit float64) Decision {
	switch {
	case v.Hi <= limit:
		return Within
	case v.Lo > limit:
		return Beyond
	}
	return Inconclusive
}
