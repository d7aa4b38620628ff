package affinity

import (
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// AFF004Others: errors of the client that are less common.
func (Cases) AFF004Others() bench.Case {
	return failed("other-client-errors", "is answered 408, 409 or 413", rare(408), rare(409), rare(413))
}

// AFF004Redirect: answers that are no errors, and no success either.
func (Cases) AFF004Redirect() bench.Case {
	return failed("redirect", "is answered 302, 304 or 307", rare(302), rare(304), rare(307))
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
