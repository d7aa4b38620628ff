package adapter

import (
	"context"
	"encoding/json"
	"sync"
	"unicode/utf8"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// prefixes is the component sessionindex, with a physical index beside it.
type prefixes struct {
	sessionindex.Indexer
	physical *physical
}

func (p *prefixes) moved()        { p.Tick() }
func (p *prefixes) steps() uint64 { return p.Steps() }

func newPrefixes(config json.RawMessage, c *clock, library MakeIndex) (*prefixes, error) {
	set, err := decode[struct {
		Sessions  *int   `json:"sessions"`
		Retention *int64 `json:"retention"`
	}](config)
	if err != nil {
		return nil, err
	}
	var cfg sessionindex.Config
	// The library takes 0 for its default; a 0 that is written down is a mistake.
	if set.Sessions != nil {
		if cfg.Sessions = *set.Sessions; cfg.Sessions < 1 {
			return nil, failf(invalidArgument, "sessions is %d; want 1 or more", cfg.Sessions)
		}
	}
	if set.Retention != nil {
		if cfg.Retention = milliseconds(*set.Retention); cfg.Retention <= 0 {
			return nil, failf(invalidArgument, "retention is %d; want 1 or more", *set.Retention)
		}
	}
	if library == nil {
		library = func(cfg sessionindex.Config, c sessionindex.Clock, p sessionindex.Physical) (sessionindex.Indexer, error) {
			return sessionindex.NewIndex(cfg, c, p)
		}
	}
	p := &prefixes{physical: &physical{held: map[sessionindex.WorkerRank]map[sessionindex.Hash]bool{}}}
	if p.Indexer, err = library(cfg, c, p.physical); err != nil {
		return nil, failf(invalidArgument, "%v", err)
	}
	return p, nil
}

// physical is a physical index that holds what it is told, and fails when it is told to.
type physical struct {
	mu                 sync.Mutex
	held               map[sessionindex.WorkerRank]map[sessionindex.Hash]bool
	barrier, lowerTier bool // fails
}

func (p *physical) set(at sessionindex.WorkerRank, blocks []sessionindex.Hash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, at)
	if len(blocks) == 0 {
		return
	}
	held := map[sessionindex.Hash]bool{}
	for _, b := range blocks {
		held[b] = true
	}
	p.held[at] = held
}

func (p *physical) fail(barrier, lowerTier bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.barrier, p.lowerTier = barrier, lowerTier
}

// Holds implements sessionindex.Physical.
func (p *physical) Holds(_ context.Context, at sessionindex.WorkerRank, block sessionindex.Hash) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[at][block], nil
}

// Barrier implements sessionindex.Physical.
func (p *physical) Barrier(context.Context, ...sessionindex.Member) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.barrier {
		return failf(unavailable, "waiting for the physical index fails, as physical.fail has asked")
	}
	return nil
}

// ClearLowerTiers implements sessionindex.Physical.
func (p *physical) ClearLowerTiers(context.Context, sessionindex.Member) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lowerTier {
		return failf(unavailable, "clearing the lower tiers fails, as physical.fail has asked")
	}
	return nil
}

// place is where something is, or who has gone: rank is absent for a whole worker.
type place struct {
	Instance string  `json:"instance"`
	Worker   string  `json:"worker"`
	Rank     *uint32 `json:"rank"`
}

// at is the rank of an operation that must name one.
func (p place) at() (sessionindex.WorkerRank, error) {
	if p.Worker == "" || p.Rank == nil {
		return sessionindex.WorkerRank{}, failf(invalidArgument, "worker or rank is missing; want both, the rank from 0 on")
	}
	return sessionindex.WorkerRank{Worker: p.Worker, Rank: *p.Rank}, nil
}

// member is the worker, or the rank, of an operation on the lifecycle.
func (p place) member() (sessionindex.Member, error) {
	if p.Worker == "" {
		return sessionindex.Member{}, failf(invalidArgument, "worker is missing")
	}
	return sessionindex.Member{Worker: p.Worker, Rank: p.Rank}, nil
}

// maxIncarnation is the most characters of an incarnation.
const maxIncarnation = 256

func isIncarnation(name string) bool {
	return name != "" && utf8.RuneCountInString(name) <= maxIncarnation
}
