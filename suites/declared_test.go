package suites

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// TestTheReferenceIsWhatItDeclaresAtCapacity runs the cases of a full table over HTTP
// under each declaration; certify runs them under one.
func TestTheReferenceIsWhatItDeclaresAtCapacity(t *testing.T) {
	cat := loaded(t)
	claims := cat.Spec.ClaimNames()
	text := string(target.Reference(claims).Source())
	for _, declared := range []string{target.CapacityUnpinned, target.CapacityEvict} {
		m, err := target.Parse("reference.yaml", []byte(strings.Replace(text, "atCapacity: refuse", "atCapacity: "+declared, 1)), claims)
		if err != nil {
			t.Fatal(err)
		}
		pool := bench.NewPool(bench.Env{Manifest: m})
		for _, id := range []string{"AFF-009/full", "RTE-006/full-table"} {
			c, ok := cat.Case(id)
			if !ok {
				t.Fatalf("no case %s", id)
			}
			if out := pool.Exec(t.Context(), c, 1, func(*history.History) error { return nil }); out.Verdict != report.Pass {
				t.Errorf("%s, declared %s: %s %s %+v", id, declared, out.Verdict, out.Detail, out.Finding)
			}
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestALastTurnIsJudgedAsDeclared tells the judge of AFF-018/final of a router that keeps
// its sessions' bindings and of one that ends them.
func TestALastTurnIsJudgedAsDeclared(t *testing.T) {
	c, ok := loaded(t).Case("AFF-018/final")
	if !ok {
		t.Fatal("no such case")
	}
	workers := []string{"w0", "w1", "w2", "w3"}
	// tell makes a history in which the last turn of each session sends it that many
	// workers on.
	tell := func(final string, on func(s int) int) *history.History {
		h := &history.History{Workers: workers, Session: history.Session{Kind: target.KindTable, Final: final}}
		turn := func(session, phase string, w int) {
			key := fmt.Sprint("k-", len(h.Requests))
			at := time.Duration(len(h.Requests)) * time.Millisecond
			h.Requests = append(h.Requests, history.Request{Key: key, Session: session, Phase: phase, Sent: at, Ended: at, Status: 200, End: history.Complete})
			h.Attempts = append(h.Attempts, ledger.Attempt{Key: key, Worker: workers[w%len(workers)], Status: 200, Arrived: at, End: ledger.Complete})
		}
		for s := range 60 {
			id, later := fmt.Sprint("s-", s), s+on(s)
			for _, phase := range []string{"before", "before", "final"} {
				turn(id, phase, s)
			}
			turn("", "between", s+1)
			turn(id, "after", later)
			turn(id, "after", later)
		}
		return h
	}
	stays, anew := func(int) int { return 0 }, func(s int) int { return s / 4 % 4 }
	for _, x := range []struct {
		name, declared string
		on             func(int) int
		good           bool
	}{
		{"ignored as declared", target.FinalIgnore, stays, true},
		{"released against what is declared", target.FinalIgnore, anew, false},
		{"released as declared", target.FinalRelease, anew, true},
		{"ignored against what is declared", target.FinalRelease, stays, false},
	} {
		f := c.Judge(tell(x.declared, x.on))
		if clean(f) != x.good || !x.good && len(f.Violations) == 0 {
			t.Errorf("%s: %+v", x.name, f)
		}
	}
}
