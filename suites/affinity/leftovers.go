package affinity

import (
	"context"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/judge/stats"
	"github.com/routeproof/routeproof/suites/script"
)

// AFF015NoTenant: one id, of a tenant and of nobody.
func (Cases) AFF015NoTenant() bench.Case {
	pairs := stats.Must(stats.AllSame(1e-6, bench.DefaultWorkers))
	return bench.Case{
		ID:          "AFF-015/no-tenant",
		Stimulus:    "ids that are used with a tenant and without one, three turns of each in every shape, in a seeded order",
		Requirement: "the turns with the tenant are at one worker, those without at one, and some pair lies on two",
		Claims:      []string{"affinity.tenant"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			owners(ctx, r, pairs, func(owner int, id string) bench.Req {
				if owner == 0 {
					return bench.Req{Session: id}
				}
				return tenantsTurn(owner, id)
			})
			return nil
		},
		Judge: judge.All(judge.Served(6*pairs), judge.Sticks(2*pairs), judge.Apart(pairs, "first")),
	}
}

// AFF004Others: errors of the client that are less common.
func (Cases) AFF004Others() bench.Case {
	return failed("other-client-errors", "is answered 408, 409 or 413", rare(408), rare(409), rare(413))
}

// AFF016Wait: longest waits that cannot be.
func (Cases) AFF016Wait() bench.Case {
	s := talk()
	for _, bad := range []script.Config{
		{IdleTTL: ttl, InitWait: -time.Millisecond}, {IdleTTL: ttl, InitWait: -time.Hour},
		{IdleTTL: time.Second - time.Millisecond, InitWait: time.Second}, // a good one mends nothing
	} {
		s.Create(bad).Is(script.Fails(script.InvalidArgument))
	}
	s.Create(script.Config{IdleTTL: ttl, AtCapacity: "refuse", InitWait: time.Second, Capacity: 1}).Is(script.Done)
	return bench.Scripted("AFF-016/waits", "longest waits below zero beside a good idle time, and a good one beside a bad idle time",
		"each is refused as invalid", s)
}
