package mutants

import (
	"github.com/routeproof/routeproof/impl/sessionindex"
	"github.com/routeproof/routeproof/suites/target"
)

// index is a mutant that is a session index alone.
func index(id, fault string, make target.IndexFactory, killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy, Index: make}
}

// broken is the naive index with a rule broken.
func broken(id, fault string, f func(*rules), killedBy ...string) Mutant {
	return index(id, fault, newNaive(f), killedBy...)
}

// indexed is the reference's index with something put around it.
func indexed(id, fault string, f func(sessionindex.Indexer) sessionindex.Indexer, killedBy ...string) Mutant {
	return index(id, fault, func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		x, err := sessionindex.NewIndex(cfg, clock, physical)
		if err != nil {
			return nil, err
		}
		return f(x), nil
	}, killedBy...)
}

// upon is the reference's index upon another physical index.
func upon(id, fault string, f func(sessionindex.Physical) sessionindex.Physical, killedBy ...string) Mutant {
	return index(id, fault, func(cfg sessionindex.Config, clock sessionindex.Clock, physical sessionindex.Physical) (sessionindex.Indexer, error) {
		return sessionindex.NewIndex(cfg, clock, f(physical))
	}, killedBy...)
}
