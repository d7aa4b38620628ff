package affinity

import (
	"context"
	"strings"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF017Long: an id that is too long beside a good one.
func (Cases) AFF017Long() bench.Case {
	return bench.Case{
		ID:          "AFF-017/too-long",
		Stimulus:    "requests whose first header in the order of precedence names a session of 257 bytes, and a later one a bound session, in every shape",
		Requirement: "each is answered 4xx and reaches no worker; the bound session stays",
		Claims:      []string{"affinity.idLimit"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			good := r.SessionID(0)
			long := good + strings.Repeat("z", 257-len(good))
			for i, s := range bench.Shapes() {
				r.Do(ctx, bench.Req{Counts: good, Turn: i, Header: named(threadID, good), Phase: "bound", Tokens: 1}.In(s))
				for _, h := range []string{canonical, claudeSession} {
					r.Do(ctx, bench.Req{Header: named(h, long, threadID, good), Phase: "too long", Tokens: 1}.In(s))
				}
				r.Do(ctx, bench.Req{Header: named(threadID, long, xSessionID, good), Phase: "too long", Tokens: 1}.In(s))
			}
			return nil
		},
		Judge: judge.All(judge.Served(len(bench.Shapes()), "bound"), judge.Sticks(1, "bound"), judge.Refused("too long")),
	}
}
