package affinity

import (
	"context"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/target"
)

// AFF018Final: a marker that ends nothing, or the binding, as declared.
func (Cases) AFF018Final() bench.Case {
	plan, alpha := replan(1)
	n := plan.N
	return bench.Case{
		ID:          "AFF-018/final",
		Stimulus:    "bound sessions, one turn of which says that it is the last; two more turns",
		Requirement: "as the manifest declares: all are at one worker (ignore), or the two are placed like those of a new session and stay together (release)",
		Drive: func(ctx context.Context, r *bench.Run) error {
			turn := func(t int, phase string) {
				for _, s := range r.Rand().Perm(n) {
					q := bench.Req{Session: r.SessionID(s), Turn: t, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s+3*t)%8])
					if phase == "final" {
						q.Header = named("X-Dynamo-Session-Final", []string{"true", "1", "True"}[s%3])
					}
					r.Do(ctx, q)
					between(ctx, r)
				}
			}
			for t, phase := range []string{"before", "before", "final", "after", "after"} {
				turn(t, phase)
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			served := judge.All(judge.Served(2*n, "before"), judge.Served(n, "final"), judge.Served(2*n, "after"))
			if h.Session.Final == target.FinalRelease {
				return judge.All(served, judge.Sticks(n, "before", "final"), judge.Settled(n, "after"),
					judge.Replaced(judge.ByPhase, n*3/4, alpha, "final", "after", "between", "a session whose last turn has ended to be placed like a new one"))(h)
			}
			return judge.All(served, judge.Sticks(n), judge.Placed(placed(n)))(h)
		},
	}
}

// parented names a child and its parent by headers of one family.
var parented = []func(child, parent string) []string{
	func(child, parent string) []string {
		return []string{canonical, child, "X-Dynamo-Parent-Session-ID", parent}
	},
	func(child, parent string) []string {
		return []string{claudeSession, child, claudeAgent, child, "x-claude-code-parent-agent-id", parent}
	},
	func(child, parent string) []string {
		return []string{threadID, child, "x-codex-parent-thread-id", parent}
	},
	func(child, parent string) []string { return []string{xSessionID, child, "x-parent-session-id", parent} },
}

// AFF018Parent: children of one session.
func (Cases) AFF018Parent() bench.Case {
	cells := len(parented)
	plan, alpha := replan(cells)
	return bench.Case{
		ID:          "AFF-018/parent",
		Stimulus:    "bound sessions, and for each a new session that names it as its parent, by the headers of each family of agents",
		Requirement: "the children are placed like any new session",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i := range plan.N * cells {
				id, names := r.SessionID(i), parented[i%cells]
				header := named(names(id, "")[:2]...)
				phase := family(i % cells)
				r.Do(ctx, bench.Req{Counts: id, Header: header, Phase: "parent" + phase, Tokens: 1}.In(bench.Shapes()[i%8]))
				between(ctx, r)
				// For the judge it is the same session: it must not come back to where that is.
				r.Do(ctx, bench.Req{Counts: id, Turn: 1, Header: named(names(id+"-child", id)...), Phase: "child" + phase, Tokens: 1}.In(bench.Shapes()[(i+1)%8]))
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			var all []judge.Judge
			for i := range cells {
				phase := family(i)
				all = append(all, judge.Served(plan.N, "parent"+phase), judge.Served(plan.N, "child"+phase),
					judge.Replaced(judge.ByPhase, plan.N*3/4, alpha, "parent"+phase, "child"+phase, "between", "a session with a parent to be placed like any new one"))
			}
			return judge.All(all...)(h)
		},
	}
}

// family names the i-th family of headers, for a phase.
func family(i int) string {
	return []string{"", " of claude", " of codex", " by x-session-id"}[i]
}
