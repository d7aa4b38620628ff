// Package bench holds what one case works with: the target, the mock fleet,
// clients, and the history that they write. It launches and restores, drives
// and records; it never judges.
package bench

import (
	"context"
	"slices"
	"time"

	"github.com/routeproof/routeproof/suites/judge"
)

// Case checks a clause: Drive makes a history, Judge reads it.
type Case struct {
	ID          string   // clause ID, slash, a name: "AFF-001/turns"
	Stimulus    string   // one line: what is done
	Requirement string   // one line: what must be seen
	Claims      []string // claims that the case needs beside its clause's
	Workers     int      // aggregated workers at the start; 0 = 4, or none if Fleet has prefill or decode workers
	Fleet       Fleet    // prefill and decode workers beside them, and ranks
	Store       string   // kind of the discovery store where the target looks for its workers: target.StoreEtcd or StoreFile; "" = it is told about them
	Where       Where    // how it gets at the store
	Variant     string   // manifest variant the target must run in; "" = as written
	// Alone asks for a target and a fleet of its own. A case that breaks workers or
	// rewires them needs it; one that only sends requests shares them.
	Alone bool
	// Limit ends the case; 0 = 60 s. What it cuts off is not held against the
	// target: without other violations the case is then inconclusive.
	Limit time.Duration
	// Cost is the expected duration, for balancing shards; 0 = DefaultCost, or TalkCost.
	Cost  time.Duration
	Drive func(ctx context.Context, r *Run) error // an error is the harness's own
	// Talk takes the place of Drive where the case talks to a component.
	Talk  Talk
	Judge judge.Judge

	at Role // whom its plans steer and its drive waits for; "": any
}

// In makes of a case about aggregated workers the same about one phase of requests that
// are served in two, under another name: its plans are for the workers of that role, it
// waits for them, and its judge sees nothing else. Its drive must name no worker.
func (c Case) In(role Role, name string) Case {
	c.ID = c.Clause() + "/" + name
	c.Stimulus = string(role) + " workers in the place of workers that do all: " + c.Stimulus
	c.Claims = append(slices.Clone(c.Claims), "pds.split")
	c.Workers, c.Fleet = 0, Split
	c.Judge = judge.Only(string(role), c.Judge)
	c.at = role
	return c
}

// Split is the fleet of cases about requests that are served in two phases: of one
// fleet, so that they share it.
var Split = Fleet{Prefill: 3, Decode: 3, Ranks: 4}

// Component says whether the case talks to a component instead of a router.
func (c Case) Component() bool { return c.Talk != nil }

// Library names the component that the case talks to, "" if none.
func (c Case) Library() string {
	if c.Talk == nil {
		return ""
	}
	return c.Talk.component()
}

// Clause is the ID of the clause that the case checks.
func (c Case) Clause() string { return c.ID[:len("AAA-000")] }

// DefaultWorkers and DefaultLimit stand in for a case's zero values.
const (
	DefaultWorkers = 4
	DefaultLimit   = 60 * time.Second
	DefaultCost    = 300 * time.Millisecond
	TalkCost       = 20 * time.Millisecond // of a conversation with a library
)

// LimitFor is the limit of a case that sends so many requests one after another: a
// router may take a tenth of a second for each.
func LimitFor(requests int) time.Duration {
	return DefaultLimit + time.Duration(requests)*100*time.Millisecond
}

// Normal fills in a case's zero values.
func (c Case) Normal() Case {
	if c.Workers == 0 && c.Fleet.Prefill+c.Fleet.Decode == 0 {
		c.Workers = DefaultWorkers
	}
	if c.Limit == 0 {
		c.Limit = DefaultLimit
	}
	if c.Cost == 0 {
		c.Cost = DefaultCost
		if c.Talk != nil {
			c.Cost = TalkCost
		}
	}
	return c
}
