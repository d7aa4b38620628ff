package bench_test

import (
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
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
	began, done, conversations := time.Now(), 0, asked(t, "ROUTEPROOF_RANDOM", 30)
	m := target.Reference([]string{bench.SessionIndexClaim})
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
