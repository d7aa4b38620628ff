package pinning

import (
	"context"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// PIN002Split: pins against living bindings, where requests are served in two phases.
func (Cases) PIN002Split() bench.Case {
	const sessions = 16
	return bench.Case{
		ID:          "PIN-002/split",
		Stimulus:    "prefill and decode workers; bound sessions, turns pinned to each decode worker but the bound one, in every shape, unpinned turns between",
		Requirement: "the contradicting turns are answered 4xx and reach no worker of either phase, the others stay in both",
		Claims:      []string{"pds.split"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(sessions, 4, func(s int) {
				id := r.SessionID(s)
				q := bench.Req{Key: r.Key(), Session: id, Phase: "bound", Tokens: 1}.In(bench.Shapes()[s%8])
				r.Do(ctx, q)
				home := r.Served(q.Key)
				for i, w := range r.WorkersOf(bench.Decode) {
					if w != home {
						r.Do(ctx, bench.Req{Session: id, Turn: 1 + i, Pin: at(w), Phase: "contradicts"}.In(bench.Shapes()[(s+3*i)%8]))
						r.Do(ctx, bench.Req{Session: id, Turn: 1 + i, Phase: "bound", Tokens: 1}.In(bench.Shapes()[(s+i)%8]))
					}
				}
			})
			return nil
		},
		Judge: judge.All(judge.Served(3*sessions, "bound"), judge.Refused("contradicts"),
			judge.Only(history.Prefill, judge.Sticks(sessions, "bound")), judge.Only(history.Decode, judge.Sticks(sessions, "bound"))),
	}
}

// PIN010Split: pins that name nobody, where requests are served in two phases.
func (Cases) PIN010Split() bench.Case {
	return bench.Case{
		ID:          "PIN-010/split",
		Stimulus:    "prefill and decode workers; pins for decode to workers and ranks that there are not, keyless, in new sessions and in a bound one, in every shape",
		Requirement: "each is answered 4xx and reaches no worker of either phase; the bound session stays in both",
		Claims:      []string{"affinity.key", "pins.rank", "pds.split"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			bound, home := r.SessionID(0), r.WorkersOf(bench.Decode)[0]
			r.Do(ctx, bench.Req{Session: bound, Pin: at(home), Phase: "bound", Tokens: 1})
			for i, shape := range bench.Shapes() {
				for j, pin := range []*script.Where{at("no-such-worker"), on(home, ranks+i), on("", i%ranks)} {
					for _, id := range []string{"", bound, r.SessionID(1 + 3*i + j)} {
						r.Do(ctx, bench.Req{Session: id, Pin: pin, Phase: "unknown"}.In(shape))
					}
				}
				r.Do(ctx, bench.Req{Session: bound, Phase: "bound", Tokens: 1}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(9, "bound"), judge.Refused("unknown"),
			judge.Only(history.Prefill, judge.Sticks(1, "bound")), judge.Only(history.Decode, judge.Sticks(1, "bound"))),
	}
}

// PIN004Split: what is bound to a rank in each phase.
func (Cases) PIN004Split() bench.Case {
	const sessions = 36
	return bench.Case{
		ID:          "PIN-004/split",
		Stimulus:    "prefill and decode workers of four ranks; new sessions pinned to a rank in both phases, then turns pinned to the workers alone, not at all, and to the ranks; then to other ranks in one phase",
		Requirement: "in each phase the turns are at the bound rank; those to other ranks are answered 4xx and reach no worker",
		Claims:      []string{"pds.split", "pins.prefill"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			prefill, decode := r.WorkersOf(bench.Prefill), r.WorkersOf(bench.Decode)
			r.Parallel(sessions, 4, func(s int) {
				id, p, d := r.SessionID(s), prefill[s%3], decode[s/3%3]
				pr, dr := s/3%ranks, (s+1)%ranks
				for t := range 4 {
					q := bench.Req{Session: id, Turn: t, Phase: "bound", Tokens: 1}.In(bench.Shapes()[(s+3*t)%8])
					switch t {
					case 1:
						q.Pin, q.PrefillPin = at(d), at(p)
					case 2:
					default:
						q.Pin, q.PrefillPin = on(d, dr), on(p, pr)
					}
					r.Do(ctx, q)
				}
				r.Do(ctx, bench.Req{Session: id, Turn: 4, PrefillPin: on(p, (pr+1)%ranks), Phase: "other rank"}.In(bench.Shapes()[s%8]))
				r.Do(ctx, bench.Req{Session: id, Turn: 5, Pin: on(d, (dr+1)%ranks), Phase: "other rank"}.In(bench.Shapes()[(s+1)%8]))
			})
			return nil
		},
		Judge: judge.All(judge.Served(4*sessions, "bound"), judge.AsPinned(3*sessions, "bound"), judge.Refused("other rank"),
			judge.Only(history.Prefill, judge.SticksToRank(sessions, "bound")), judge.Only(history.Decode, judge.SticksToRank(sessions, "bound"))),
	}
}

// PIN009Split: the pin that leads out, in each phase.
func (Cases) PIN009Split() bench.Case {
	const sessions = 18
	return bench.Case{
		ID:          "PIN-009/split",
		Stimulus:    "sessions bound by their pins to a prefill and to a decode worker; the prefill worker leaves; turns pinned for prefill to a living one, two unpinned; then the same for decode",
		Requirement: "all are served, the later ones where the last pin of each phase bound them",
		Claims:      []string{"scaling.live", "pds.split", "pins.prefill"},
		Fleet:       split, Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			prefill, decode := r.WorkersOf(bench.Prefill), r.WorkersOf(bench.Decode)
			round := func(phase string, pinned func(s int) bench.Req, free int) {
				for s := range sessions {
					q := pinned(s).In(bench.Shapes()[s%8])
					q.Session, q.Phase, q.Tokens = r.SessionID(s), phase, 1
					r.Do(ctx, q)
					for t := range free {
						r.Do(ctx, bench.Req{Session: q.Session, Turn: 1 + t, Phase: phase, Tokens: 1}.In(bench.Shapes()[(s+3*t+1)%8]))
					}
				}
			}
			round("before", func(int) bench.Req { return bench.Req{Pin: at(decode[0]), PrefillPin: at(prefill[0])} }, 1)
			r.Leave(ctx, prefill[0])
			round("prefill", func(s int) bench.Req { return bench.Req{PrefillPin: at(prefill[1+s%2])} }, 2)
			r.Leave(ctx, decode[0])
			round("decode", func(s int) bench.Req { return bench.Req{Pin: at(decode[1+s/2%2])} }, 2)
			return nil
		},
		Judge: judge.All(judge.Served(8*sessions), judge.AsPinned(3*sessions),
			judge.Only(history.Prefill, judge.Sticks(sessions, "before")), judge.Only(history.Prefill, judge.Sticks(sessions, "prefill", "decode")),
			judge.Only(history.Decode, judge.Sticks(sessions, "before", "prefill")), judge.Only(history.Decode, judge.Sticks(sessions, "decode"))),
	}
}

// PDS003Role: pins that name a worker of the other phase.
func (Cases) PDS003Role() bench.Case {
	return bench.Case{
		ID:          "PDS-003/other-role",
		Stimulus:    "pins for decode to prefill workers and for prefill to decode workers, keyless and in new sessions, in every shape",
		Requirement: "none is served by a worker that its pin does not name",
		Claims:      []string{"pins.prefill"},
		Fleet:       split,
		Drive: func(ctx context.Context, r *bench.Run) error {
			prefill, decode := r.WorkersOf(bench.Prefill), r.WorkersOf(bench.Decode)
			for i, shape := range bench.Shapes() {
				for j, id := range []string{"", r.SessionID(i)} {
					r.Do(ctx, bench.Req{Session: id, Pin: at(prefill[(i+j)%3]), Phase: "decode"}.In(shape))
				}
				for j, id := range []string{"", r.SessionID(8 + i)} {
					r.Do(ctx, bench.Req{Session: id, PrefillPin: at(decode[(i+j)%3]), Phase: "prefill"}.In(shape))
				}
				r.Do(ctx, bench.Req{Phase: "free", Tokens: 1}.In(shape))
			}
			return nil
		},
		Judge: judge.All(judge.Served(8, "free"), judge.NamedOrRefused("decode", "prefill")),
	}
}

// PIN010Model: pins to workers of another model.
func (Cases) PIN010Model() bench.Case {
	return bench.Case{
		ID:          "PIN-010/other-model",
		Stimulus:    "two models, each served by two workers of its own; requests for each, pinned to the workers of the other and of its own, keyless and in new sessions, in every shape",
		Requirement: "those to the other's are answered 4xx and reach no worker, those to its own are served there",
		Claims:      []string{"routing.byModel"},
		Workers:     4, Fleet: bench.Fleet{Models: 2},
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, shape := range bench.Shapes() {
				for j, w := range r.Workers() {
					for k, model := range r.ModelsServed() {
						q := bench.Req{Model: model, Pin: at(w), Phase: "own", Tokens: 1}.In(shape)
						if r.ModelOf(w) != model {
							q.Phase = "other's"
						}
						if (i+j/2+k)%2 == 1 {
							q.Session = r.SessionID(8*(4*i+j) + k)
						}
						r.Do(ctx, q)
					}
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(32, "own"), judge.AsPinned(32, "own"), judge.OfModel(16, "own"), judge.Refused("other's")),
	}
}
