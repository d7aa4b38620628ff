package streaming

import "github.com/routeproof/routeproof/suites/bench"

// Routers often serve in two phases by other code than in one, so what is asked of a
// stream is asked of the decode phase again.

// STR001Decode: events that come from a decode worker.
func (c Cases) STR001Decode() bench.Case { return c.STR001Stepped().In(bench.Decode, "decode") }

// STR003Decode: a decode worker that breaks off.
func (c Cases) STR003Decode() bench.Case { return c.STR003Reset().In(bench.Decode, "decode") }
