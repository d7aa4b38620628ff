// Package complexity finds out how the cost of a session index's operations grows. A
// ladder doubles one size and measures one operation at each rung, through the component
// protocol alone, so that a library in any language is measured like the reference.
//
// Steps, where the target counts them, tell the class exactly. Time tells what steps
// cannot (work that nobody counted), but only beside a control: the time of a bare Go
// map itself grows by an exponent of 1.1 to 1.3, because larger maps miss more caches.
// So the slope of the ratio is what is judged, index and control measured one right
// after the other.
package complexity

import (
	"context"
	"iter"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Ladder is one operation at sizes that double.
type Ladder struct {
	Name   string // such as k/new
	Symbol string // of the size
	Title  string // what is done, and what doubles
	Class  string // what it may cost
	// Steps is the largest exponent of the steps.
	Steps float64
	// Total: what is judged is the cost of N operations; else, of one.
	Total bool
	// Slack is the largest slope of time over control.
	Slack float64
	// Memory is the largest exponent of the bytes allocated, nil for none.
	Memory *float64
	// From and To are the exponents of two of the first and the last rung, Short of the
	// last of the short suite; Speed are the sizes at which speed is compared.
	From, Short, To int
	Speed           []int
	Needs           []component.Claim

	begin func(*bench) rounds
}

// rounds measures each of the sizes once, in their order. What was built stays for the
// next round.
type rounds func(ctx context.Context, sizes []int) iter.Seq2[record.Sample, error]

// The slacks. Each is between what the reference shows and what a target of n^1.2 does;
// TestCalibrate measures how often it is right.
const (
	SlackFlat   = 0.05 // where the operation touches the same few blocks at each size
	SlackScale  = 0.04 // where each rung touches more memory than the last, as the control does
	SlackCoarse = 0.30 // where nobody has calibrated, and for targets that count no steps
)

// Value is what is judged of a sample's steps.
func (l *Ladder) value(s record.Sample, of float64) stats.Point {
	y := of / float64(s.Ops)
	if l.Total {
		y *= float64(s.N)
	}
	return stats.Point{N: float64(s.N), Y: y}
}

// Sizes are the rungs up to an exponent.
func (l *Ladder) Sizes(to int) (sizes []int) {
	for e := l.From; e <= to; e++ {
		sizes = append(sizes, 1<<e)
	}
	return sizes
}
