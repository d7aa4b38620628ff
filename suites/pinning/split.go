package pinning

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// PDS001Whole: what the phases are asked.
func (Cases) PDS001Whole() bench.Case {
	return bench.Case{
		ID:          "PDS-001/whole",
		Stimulus:    "requests with a prompt of many blocks and unusual body fields, keyless and in sessions, in every shape",
		Requirement: "both workers are asked what the client asked, and the hand-off's parameters arrive as they were issued",
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, shape := range bench.Shapes() {
				for j, id := range []string{"", r.SessionID(i)} {
					limit := []string{"max_completion_tokens", "max_tokens"}[(i+j)%2] // either name limits the answer
					r.Do(ctx, bench.Req{Session: id, Prompt: strings.Repeat("several words of a prompt ", 40), Tokens: 3, Extra: map[string]any{
						limit: 3, "min_tokens": 2, "seed": json.RawMessage(`9007199254740993`), "temperature": json.RawMessage(`0.1`), "stop": []string{"</s>", "\u2028"},
						"x_unknown": json.RawMessage(`{"deep": [1, null, {"k": []}]}`),
					}}.In(shape))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(16), judge.Handed(16), judge.AskedWhole(16)),
	}
}

// PDS002Pinned: sessions whose turns name their decode worker.
func (Cases) PDS002Pinned() bench.Case {
	const sessions, turns = 24, 4
	return bench.Case{
		ID:          "PDS-002/pinned",
		Stimulus:    "24 sessions of four turns in every shape, the first and the third of which are pinned to a decode worker",
		Requirement: "a session's turns are decoded there, and prefilled at one worker",
		Claims:      []string{"pins.worker"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			decode := r.WorkersOf(bench.Decode)
			r.Parallel(sessions, 6, func(s int) {
				for t := range turns {
					q := bench.Req{Session: r.SessionID(s), Turn: t, Tokens: 1}.In(bench.Shapes()[(s+3*t)%8])
					if t%2 == 0 {
						q.Pin = at(decode[s%len(decode)])
					}
					r.Do(ctx, q)
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(turns*sessions), judge.AsPinned(2*sessions), judge.Only(history.Prefill, judge.Sticks(sessions)), judge.Only(history.Decode, judge.Sticks(sessions))),
	}
}

// PDS002Mishaps: a prefill that goes wrong in a session.
func (Cases) PDS002Mishaps() bench.Case {
	const sessions = 24
	return bench.Case{
		ID:          "PDS-002/mishaps",
		Stimulus:    "sessions one turn of which has its prefill answered 429 or 503, in every shape; then two more turns",
		Requirement: "a session's turns are prefilled at one worker and decoded at one",
		Claims:      []string{"affinity.overloadKeeps"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			for s := range sessions {
				for t := range 4 {
					q := bench.Req{Key: r.Key(), Session: r.SessionID(s), Turn: t, Phase: "bound", Tokens: 1}.In(bench.Shapes()[(s+3*t)%8])
					if t == 1 {
						q.Phase = "full"
						r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: []int{429, 503}[s%2]}})
					}
					r.Do(ctx, q)
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(3*sessions, "bound"), judge.SameClass("full"), judge.Only(history.Prefill, judge.Sticks(sessions)), judge.Only(history.Decode, judge.Sticks(sessions, "bound"))),
	}
}

// PDS003Refused: pins for prefill that cannot be followed.
func (Cases) PDS003Refused() bench.Case {
	return bench.Case{
		ID:          "PDS-003/refused",
		Stimulus:    "pins for prefill to workers and ranks that there are not, to a rank alone, and in bound sessions to another worker than the bound one, in every shape",
		Requirement: "each is answered 4xx and reaches no worker; the bound sessions stay",
		Claims:      []string{"affinity.key", "pins.rank", "pins.prefill"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			prefill := r.WorkersOf(bench.Prefill)
			for i, shape := range bench.Shapes() {
				id, home := r.SessionID(i), prefill[i%len(prefill)]
				r.Do(ctx, bench.Req{Session: id, PrefillPin: at(home), Phase: "bound"}.In(shape))
				other := prefill[(i+1)%len(prefill)]
				for j, pin := range []*script.Where{at("no-such-worker"), on(home, ranks), on("", i%ranks), at(other)} {
					r.Do(ctx, bench.Req{Session: id, Turn: 1 + j, PrefillPin: pin, Phase: "refused"}.In(shape))
					if j < 3 {
						r.Do(ctx, bench.Req{PrefillPin: pin, Phase: "refused"}.In(shape))
					}
				}
				r.Do(ctx, bench.Req{Session: id, Turn: 1, PrefillPin: at(home), Phase: "refused", Header: http.Header{r.Pins().PrefillRank: {"one"}}}.In(shape))
				r.Do(ctx, bench.Req{Session: id, Turn: 9, Phase: "bound"}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(16, "bound"), judge.Only(history.Prefill, judge.Sticks(8, "bound")), judge.Refused("refused")),
	}
}

// PDS003Down: a pinned prefill worker that does not answer.
func (Cases) PDS003Down() bench.Case {
	return bench.Case{
		ID:          "PDS-003/prefill-down",
		Stimulus:    "a prefill worker refuses connections, then breaks them before headers; requests pinned to it for prefill, keyless and as first turns, in every shape",
		Requirement: "none reaches another prefill worker or a decode worker, and their clients see an error",
		Claims:      []string{"affinity.key", "pins.prefill"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			victim := r.WorkersOf(bench.Prefill)[0]
			for n, kind := range []worker.Kind{worker.ResetBeforeHeaders, worker.Refuse} {
				r.Fault(victim, bench.Fault{Kind: kind})
				for i, shape := range bench.Shapes() {
					for _, id := range []string{"", r.SessionID(10*n + i)} {
						r.Do(ctx, bench.Req{Session: id, PrefillPin: at(victim), Phase: fmt.Sprint("down ", kind)}.In(shape))
					}
				}
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			reset, refuse := fmt.Sprint("down ", worker.ResetBeforeHeaders), fmt.Sprint("down ", worker.Refuse)
			return judge.All(judge.AsPinned(0, reset, refuse), judge.ErrorSeen(32, reset, refuse), judge.Untouched(history.Decode, 16, reset))(h)
		},
	}
}
