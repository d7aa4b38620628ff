package mutants

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/sessionindex"
	"github.com/routeproof/routeproof/suites/target"
)

// Law is how the cost of an event grows: the factor by which an event of n blocks, or an
// event of one block at depth n, costs more than the reference's.
type Law func(n float64) float64

// Laws that measurements are calibrated on. All of them begin with the reference's cost
// at n = 16. The answers of an index under any of them are right; it is only slow.
var Laws = map[string]Law{
	"linear":    func(float64) float64 { return 1 },
	"n log n":   func(n float64) float64 { return max(1, math.Log2(n)/4) },
	"n^1.2":     func(n float64) float64 { return max(1, math.Pow(n/16, 0.2)) },
	"quadratic": func(n float64) float64 { return max(1, n/16) },
}

// CostlyIndex is a session index whose cost follows a law, in steps and in time.
func CostlyIndex(law Law) target.IndexFactory {
	return func(c sessionindex.Config, clock sessionindex.Clock, p sessionindex.Physical) (sessionindex.Indexer, error) {
		x, err := sessionindex.NewIndex(c, clock, p)
		return &costly{Indexer: x, law: law, depth: map[sessionindex.Hash]int{}}, err
	}
}

// SlowIndex is a session index that takes longer by a share of its own time for each
// store and match, in as many steps: 0.15 is 15 %.
func SlowIndex(share float64) target.IndexFactory {
	return func(c sessionindex.Config, clock sessionindex.Clock, p sessionindex.Physical) (sessionindex.Indexer, error) {
		x, err := sessionindex.NewIndex(c, clock, p)
		return &costly{Indexer: x, law: func(float64) float64 { return 1 + share }}, err
	}
}

// costly takes a law's factor longer than the index that it holds.
type costly struct {
	sessionindex.Indexer
	law Law

	mu    sync.Mutex
	depth map[sessionindex.Hash]int // of known blocks; nil where the law does not ask
	extra uint64                    // steps
}

// toil is a ticket that takes its time.
type toil struct {
	sessionindex.Ticket
	index *costly
	began time.Time // of admission
	more  float64   // the law's factor less one
}

func (x *costly) AdmitStore(s sessionindex.Store) sessionindex.Ticket {
	began := time.Now()
	n := len(s.Blocks)
	if x.depth != nil {
		n = x.enter(s)
	}
	return x.ticket(x.Indexer.AdmitStore(s), began, n, len(s.Blocks))
}

func (x *costly) AdmitMatch(m sessionindex.Match) sessionindex.Ticket {
	began := time.Now()
	n := 1
	if x.depth != nil {
		x.mu.Lock()
		n = x.depth[m.Block]
		x.mu.Unlock()
	}
	return x.ticket(x.Indexer.AdmitMatch(m), began, n, 1)
}

// enter notes how deep blocks lie and returns what the law is asked for: the number of
// blocks or, of one, its depth.
func (x *costly) enter(s sessionindex.Store) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	above, _ := s.Parent.Value()
	d := x.depth[above]
	for i, h := range s.Blocks {
		if _, known := x.depth[h]; !known {
			x.depth[h] = d + i + 1
		}
	}
	if len(s.Blocks) > 1 {
		return len(s.Blocks)
	}
	return d + 1
}

// ticket counts the steps that the law adds to the reference's, which are a few for an
// event and one for each block.
func (x *costly) ticket(t sessionindex.Ticket, began time.Time, n, blocks int) sessionindex.Ticket {
	const event = 5
	more := x.law(float64(n)) - 1
	if x.depth != nil {
		x.mu.Lock()
		x.extra += uint64(math.Round(more * float64(event+blocks)))
		x.mu.Unlock()
	}
	return sessionindex.Ticket{Grip: toil{t, x, began, more}}
}

// Apply implements sessionindex.TicketGrip.
func (t toil) Apply(ctx context.Context, _ uint64) (sessionindex.Result, error) {
	r, err := t.Ticket.Apply(ctx)
	if t.more > 0 {
		now := time.Now()
		for end := now.Add(time.Duration(t.more * float64(now.Sub(t.began)))); time.Now().Before(end) && ctx.Err() == nil; {
		}
	}
	return r, err
}

func (x *costly) Steps() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Indexer.Steps() + x.extra
}
