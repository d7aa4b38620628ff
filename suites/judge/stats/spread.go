package stats

import (
	"fmt"
	"slices"
)

// Spread is a plan for the question "does the target spread requests over its
// workers?". It is asked in cells (say endpoint x stream), each of N requests
// over Workers workers; a cell alarms iff a worker's count is above Max or
// below Min.
type Spread struct {
	Workers int
	Cells   int
	N       int     // requests in each cell
	Max     int     // most requests one worker may get in a cell
	Min     int     // fewest requests one worker may get in a cell, at least 1
	Alpha   float64 // achieved: bound on the probability that any cell alarms, all cells and workers together
	Power   float64 // achieved: probability that one cell sees the smallest fault, the lesser of the two
}

// PlanSpread finds the smallest N with thresholds such that
//
//   - a target that picks uniformly and independently at random alarms in any
//     of the cells with probability at most alpha. Each count is then
//     Binomial(N, 1/workers); the 2 * workers * cells questions share alpha
//     evenly (Bonferroni), which needs no independence between counts;
//   - a worker whose share of a cell is bigShare or more is seen in that cell
//     with probability at least power;
//   - so is a worker whose share is smallShare or less; 0 means starved.
//
// Random choice is the most uneven of the sound policies that look at nothing:
// round robin keeps every count within one of N/workers, which lies within
// Min..Max, and so never alarms, whatever its starting point. A policy that
// looks at load is a different matter: on an idle fleet, least-loaded with a
// fixed tie-break always picks the first worker, so a case must either keep
// load on the fleet or not ask this question.
//
// It is an error if workers < 2, cells < 1, bigShare is not within
// (1/workers, 1], smallShare not within [0, 1/workers), alpha or power out of
// range (see PlanUpper), or N would exceed MaxTrials.
func PlanSpread(workers, cells int, alpha, bigShare, smallShare, power float64) (Spread, error) {
	return PlanSpreadBy(1, workers, cells, alpha, bigShare, smallShare, power)
}

// PlanSpreadBy is PlanSpread for requests that come in bursts of step: N is a multiple
// of it, and the bounds are those of that N.
func PlanSpreadBy(step, workers, cells int, alpha, bigShare, smallShare, power float64) (Spread, error) {
	if step < 1 {
		return Spread{}, fmt.Errorf("bursts of %d requests, want at least 1", step)
	}
	if workers < 2 {
		return Spread{}, fmt.Errorf("spread over %d workers, want at least 2", workers)
	}
	if cells < 1 {
		return Spread{}, fmt.Errorf("spread in %d cells, want at least 1", cells)
	}
	if err := checkRates(alpha, power); err != nil {
		return Spread{}, err
	}
	fair := 1 / float64(workers)
	if !(bigShare > fair && bigShare <= 1) {
		return Spread{}, fmt.Errorf("big share %v, want above the fair share %v and at most 1", bigShare, fair)
	}
	if !(smallShare >= 0 && smallShare < fair) {
		return Spread{}, fmt.Errorf("small share %v, want at least 0 and below the fair share %v", smallShare, fair)
	}
	questions := 2 * float64(workers) * float64(cells)
	each := alpha / questions
	upper, err := PlanUpper(each, fair, bigShare, power)
	if err != nil {
		return Spread{}, err
	}
	lower, err := PlanLower(each, fair, smallShare, power)
	if err != nil {
		return Spread{}, err
	}
	// Neither side works below its own smallest n, and because of the saw-tooth
	// the larger of the two need not suit the other side.
	over, under := upper.K, lower.K
	for n := (max(upper.N, lower.N) + step - 1) / step * step; n <= MaxTrials; n += step {
		for UpperTail(n, over, fair) > each {
			over++
		}
		for LowerTail(n, under+1, fair) <= each {
			under++
		}
		pw := min(UpperTail(n, over, bigShare), LowerTail(n, under, smallShare))
		if pw < power {
			continue
		}
		a := float64(workers) * float64(cells) * (UpperTail(n, over, fair) + LowerTail(n, under, fair))
		return Spread{Workers: workers, Cells: cells, N: n, Max: over - 1, Min: under + 1, Alpha: a, Power: pw}, nil
	}
	return Spread{}, fmt.Errorf("seeing shares %v and %v of %d workers takes more than %d requests; state a larger smallest fault",
		bigShare, smallShare, workers, MaxTrials)
}

// Deviation is one worker's count outside Min..Max.
type Deviation struct {
	Worker   string
	Count    int
	Min, Max int // what the plan allows
}

func (d Deviation) String() string {
	return fmt.Sprintf("worker %s got %d requests, allowed %d to %d", d.Worker, d.Count, d.Min, d.Max)
}

// Check judges one cell: requests per worker, with a worker that got none
// listed as 0. Deviations come in the order of worker names. It is an error,
// not a verdict, if the counts are not of Workers workers or do not add up to
// N: the cell then was not run as planned.
func (s Spread) Check(counts map[string]int) ([]Deviation, error) {
	if len(counts) != s.Workers {
		return nil, fmt.Errorf("counts of %d workers, planned for %d; list a worker that got nothing as 0", len(counts), s.Workers)
	}
	names, sum := make([]string, 0, len(counts)), 0
	for w, c := range counts {
		if c < 0 {
			return nil, fmt.Errorf("worker %s has a count of %d, want at least 0", w, c)
		}
		names, sum = append(names, w), sum+c
	}
	if sum != s.N {
		return nil, fmt.Errorf("counts add up to %d requests, planned for exactly %d", sum, s.N)
	}
	slices.Sort(names)
	var out []Deviation
	for _, w := range names {
		if c := counts[w]; c > s.Max || c < s.Min {
			out = append(out, Deviation{Worker: w, Count: c, Min: s.Min, Max: s.Max})
		}
	}
	return out, nil
}
