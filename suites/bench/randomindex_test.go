package bench_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/internal/require"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/sessionindex"
	"github.com/routeproof/routeproof/suites/target"
)

// randomIndex is the case, with few conversations.
func randomIndex(conversations int) bench.Case {
	c := sessionindex.Cases{}.SPX028Random().Normal()
	r := bench.RandomIndex{Conversations: conversations, Steps: c.Talk.(bench.RandomIndex).Steps}
	c.Talk, c.Judge = r, judge.IndexModelled(conversations)
	return c
}

func TestTheReferencesIndexAnswersAsTheModelSays(t *testing.T) {
	indexAnswers(t, target.Reference([]string{bench.SessionIndexClaim}))
}

func TestThePythonIndexAnswersAsTheModelSays(t *testing.T) {
	python := require.Require(t, "python3")
	file, err := filepath.Abs("../../fixtures/adapters/python/sessionindex.py")
	if err != nil {
		t.Fatal(err)
	}
	indexAnswers(t, library(t, python, file))
}

// indexAnswers holds conversations, each hundred of them with an adapter of its own.
func indexAnswers(t *testing.T, m *target.Manifest) {
	t.Helper()
	began, done, conversations := time.Now(), 0, asked(t, "ROUTEPROOF_RANDOM", 30)
	for seed := uint64(1); done < conversations; seed++ {
		n := min(100, conversations-done)
		pool := bench.NewPool(bench.Env{Manifest: m})
		out := pool.Exec(t.Context(), randomIndex(n), seed, func(h *history.History) error {
			for _, l := range h.Replay() {
				t.Log(l)
			}
			return nil
		})
		if err := pool.Close(); err != nil {
			t.Fatal(err)
		}
		if out.Verdict != report.Pass {
			t.Fatalf("seed %d: %s %s %+v", seed, out.Verdict, out.Detail, out.Finding)
		}
		done += n
	}
	t.Logf("%d conversations in %v", done, time.Since(began).Round(time.Millisecond))
}

// TestWhatAnIndexDoesWrongIsShrunkAndCanBePlayedAgain: to the wrong library, which gives the
// wrong answer again, and to the reference, which gives the right one.
func TestWhatAnIndexDoesWrongIsShrunkAndCanBePlayedAgain(t *testing.T) {
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	for id, most := range map[string]int{"spx/takes-cycles": 4, "spx/keeps-the-tail": 4, "spx/graft-keeps-both": 5, "spx/reads-are-use": 6, "spx/stamped-late": 6, "spx/forgets-late": 5} {
		t.Run(id, func(t *testing.T) {
			x, _ := cat.Mutant(id)
			shrinks(t, x, bench.SessionIndexClaim, randomIndex(100), most, func(h *history.History) int { return len(h.Lineages[len(h.Lineages)-1].Script.Steps) })
		})
	}
}
