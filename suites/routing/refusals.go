package routing

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/script"
)

// Codes of clause RTE-006.
const (
	invalidArgument   = "invalid_argument"
	modelNotFound     = "model_not_found"
	connectionFailed  = "connection_failed"
	resourceExhausted = "resource_exhausted"
	unavailable       = "unavailable"
	headerTimeout     = "header_timeout"
)

// RTE006Model: a model that there is not.
func (Cases) RTE006Model() bench.Case {
	return bench.Case{
		ID:          "RTE-006/unknown-model",
		Stimulus:    "requests for a model that no worker serves, in every shape",
		Requirement: "each is answered 404 with an error object whose code is model_not_found, and reaches no worker",
		Claims:      []string{"routing.models"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			for _, s := range bench.Shapes() {
				r.Do(ctx, bench.Req{Phase: "refused", Model: "no-such-model"}.In(s))
			}
			return nil
		},
		Judge: judge.All(judge.RouterError(len(bench.Shapes()), 404, modelNotFound, "refused"), judge.Refused("refused")),
	}
}

// RTE006ID: a session id that is too long.
func (Cases) RTE006ID() bench.Case {
	return bench.Case{
		ID:          "RTE-006/session-id",
		Stimulus:    "requests with a session id of 257 bytes, in every shape",
		Requirement: "each is answered 400 with an error object whose code is invalid_argument, and reaches no worker",
		Claims:      []string{"affinity.key", "affinity.idLimit"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			id := r.SessionID(0)
			for _, s := range bench.Shapes() {
				r.Do(ctx, bench.Req{Phase: "refused", Session: id + strings.Repeat("z", 257-len(id))}.In(s))
			}
			return nil
		},
		Judge: judge.All(judge.RouterError(len(bench.Shapes()), 400, invalidArgument, "refused"), judge.Refused("refused")),
	}
}

// RTE006Pins: pins that cannot be followed.
func (Cases) RTE006Pins() bench.Case {
	const ranks = 2
	return bench.Case{
		ID:          "RTE-006/pins",
		Stimulus:    "workers of two ranks; pins to a worker and to ranks that there are not, a rank alone, and in bound sessions a pin to another worker, in every shape",
		Requirement: "each is answered 400 with an error object whose code is invalid_argument, and reaches no worker",
		Claims:      []string{"affinity.key", "pins.worker", "pins.rank"},
		Fleet:       bench.Fleet{Ranks: ranks},
		Drive: func(ctx context.Context, r *bench.Run) error {
			workers := r.Workers()
			unknown, bound, other := script.At("no-such-worker"), script.At(workers[0]), script.At(workers[1])
			beyond, zero := script.On(workers[0], ranks), 0
			for i, s := range bench.Shapes() {
				id := r.SessionID(i)
				r.Do(ctx, bench.Req{Phase: "bound", Session: id, Pin: &bound}.In(s))
				for _, session := range []string{"", id} {
					for _, pin := range []*script.Where{&unknown, &beyond, {Rank: &zero}} {
						r.Do(ctx, bench.Req{Phase: "refused", Session: session, Pin: pin}.In(s))
					}
					r.Do(ctx, bench.Req{Phase: "refused", Session: session, Pin: &bound, Header: http.Header{r.Pins().Rank: {"one"}}}.In(s))
				}
				r.Do(ctx, bench.Req{Phase: "refused", Session: id, Pin: &other}.In(s))
			}
			return nil
		},
		Judge: judge.All(judge.Served(8, "bound"), judge.RouterError(9*len(bench.Shapes()), 400, invalidArgument, "refused"), judge.Refused("refused")),
	}
}

// RTE006Full: no room.
func (Cases) RTE006Full() bench.Case {
	const more = 8
	return bench.Case{
		ID:          "RTE-006/full-table",
		Stimulus:    "as many bound sessions as the declared capacity and eight more, in every shape",
		Requirement: "where the manifest declares that they are refused, the eight are answered 503 with Retry-After and an error object whose code is resource_exhausted",
		Claims:      []string{"affinity.key", "affinity.capacity"},
		Variant:     "smallCapacity", Alone: true,
		Drive: func(ctx context.Context, r *bench.Run) error {
			n := r.Capacity()
			r.Parallel(n, 8, func(s int) {
				r.Do(ctx, bench.Req{Session: r.SessionID(s), Phase: "within", Tokens: 1}.In(bench.Shapes()[s%8]))
			})
			for s := range more {
				r.Do(ctx, bench.Req{Session: r.SessionID(n + s), Phase: "beyond", Tokens: 1}.In(bench.Shapes()[s%8]))
			}
			return nil
		},
		Judge: func(h *history.History) judge.Finding {
			within := judge.Served(h.Session.Capacity, "within")
			if h.Session.AtCapacity != "refuse" {
				return judge.All(within, judge.Served(more, "beyond"))(h)
			}
			return judge.All(within, judge.RouterError(more, 503, resourceExhausted, "beyond"))(h)
		},
	}
}

// RTE006Slow: workers that keep their headers.
func (Cases) RTE006Slow() bench.Case {
	n := 2 * len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-006/header-timeout",
		Stimulus:    "requests that no worker answers, keyless and in new sessions, in every shape",
		Requirement: "each is answered 504 with an error object whose code is header_timeout, or for want of a worker where all are put aside",
		Claims:      []string{"resilience.headerTimeout"},
		Variant:     "shortHeaderTimeout", Alone: true, Cost: 2500 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Parallel(n, n, func(i int) {
				// At most five workers are tried (RES-001), each for two seconds.
				q := bench.Req{Key: r.Key(), Phase: "slow", Deadline: 12 * time.Second}.In(bench.Shapes()[i%8])
				if i >= 8 {
					q.Session = r.SessionID(i)
				}
				r.Plan(q.Key, bench.Plan{HoldHeaders: true})
				r.Do(ctx, q)
			})
			return nil
		},
		Judge: upstream(n, 504, headerTimeout, "slow"),
	}
}
