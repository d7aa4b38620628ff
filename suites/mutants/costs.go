package mutants

import (
	"context"
	"math"
	"math/rand/v2"
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

// CostlyIndex is a session index whose cost follows a law. It finds blocks again and
// again; each find is counted as a step.
func CostlyIndex(law Law) target.IndexFactory {
	return func(c sessionindex.Config, clock sessionindex.Clock, p sessionindex.Physical) (sessionindex.Indexer, error) {
		x, err := sessionindex.NewIndex(c, clock, p)
		return &costly{Indexer: x, law: law, depth: map[sessionindex.Hash]int{}}, err
	}
}

// What an event of the reference costs, in finds and in steps: so much for itself, and
// so much for each block.
const (
	eventFinds, blockFinds = 10, 2
	eventSteps, blockSteps = 5, 1
)

type costly struct {
	sessionindex.Indexer
	law Law

	mu    sync.Mutex
	depth map[sessionindex.Hash]int
	all   []sessionindex.Hash
	extra uint64
}

func (x *costly) AdmitStore(s sessionindex.Store) sessionindex.Ticket {
	x.mu.Lock()
	above, _ := s.Parent.Value()
	d := x.depth[above]
	for i, h := range s.Blocks {
		if _, known := x.depth[h]; !known {
			x.all = append(x.all, h)
			x.depth[h] = d + i + 1
		}
	}
	n := d + 1
	if len(s.Blocks) > 1 {
		n = len(s.Blocks)
	}
	x.toil(n, len(s.Blocks))
	x.mu.Unlock()
	return x.Indexer.AdmitStore(s)
}

func (x *costly) AdmitMatch(m sessionindex.Match) sessionindex.Ticket {
	x.mu.Lock()
	x.toil(x.depth[m.Block], 1)
	x.mu.Unlock()
	return x.Indexer.AdmitMatch(m)
}

// toil does the work that the law asks for beyond the reference's.
func (x *costly) toil(n, blocks int) {
	more := x.law(float64(n)) - 1
	x.extra += uint64(math.Round(more * float64(eventSteps+blockSteps*blocks)))
	sum := 0
	for range int(more*float64(eventFinds+blockFinds*blocks)) * min(1, len(x.all)) {
		sum += x.depth[x.all[rand.IntN(len(x.all))]]
	}
	if sum < 0 { // never: it keeps the finds from being left out
		x.extra++
	}
}

func (x *costly) Steps() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Indexer.Steps() + x.extra
}

// SlowIndex is a session index that takes longer by a share of its own time for each
// store and match: 0.15 is 15 %.
func SlowIndex(share float64) target.IndexFactory {
	return func(c sessionindex.Config, clock sessionindex.Clock, p sessionindex.Physical) (sessionindex.Indexer, error) {
		x, err := sessionindex.NewIndex(c, clock, p)
		return &slower{x, share}, err
	}
}

type slower struct {
	sessionindex.Indexer
	share float64
}

// slowerTicket remembers what admission has cost.
type slowerTicket struct {
	sessionindex.Ticket
	spent time.Duration
	share float64
}

func (x *slower) AdmitStore(s sessionindex.Store) sessionindex.Ticket {
	began := time.Now()
	t := x.Indexer.AdmitStore(s)
	return sessionindex.Ticket{Grip: slowerTicket{t, time.Since(began), x.share}}
}

func (x *slower) AdmitMatch(m sessionindex.Match) sessionindex.Ticket {
	began := time.Now()
	t := x.Indexer.AdmitMatch(m)
	return sessionindex.Ticket{Grip: slowerTicket{t, time.Since(began), x.share}}
}

// Apply implements sessionindex.TicketGrip.
func (t slowerTicket) Apply(ctx context.Context, _ uint64) (sessionindex.Result, error) {
	began := time.Now()
	r, err := t.Ticket.Apply(ctx)
	own := t.spent + time.Since(began)
	for end := time.Now().Add(time.Duration(t.share * float64(own))); time.Now().Before(end); {
	}
	return r, err
}
