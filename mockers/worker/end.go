package worker

import (
	"encoding/hex"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
)

// drainTime is how long a reset waits for the bytes before it to arrive. A peer
// that does not read loses what its kernel had no room for.
const drainTime = time.Second

// hang keeps the request until its fault lets go.
func (x *exchange) hang() bool {
	if x.planned {
		if !x.ask(x.plan.mayLetGo) {
			return false
		}
	} else if !x.wait(x.letGo) {
		return false
	}
	x.end(ledger.Hung)
	x.conn.Reset()
	return false
}

// reset breaks the connection off after what was written has arrived.
func (x *exchange) reset() bool {
	x.conn.Drain(drainTime)
	// The ledger first: whoever sees the reset finds the attempt over.
	if x.fault.Close { // by the server, unfinished as it is
		x.end(ledger.Closed)
		return false
	}
	x.end(ledger.Reset)
	x.conn.Reset()
	return false
}

// gone ends an attempt that cannot go on, and finds out why: the worker died, a
// fault cut the connection, or else the client left.
func (x *exchange) gone() bool {
	switch {
	case x.life.ctx.Err() != nil:
		x.end(ledger.Crashed)
		x.conn.Reset() // the server would close it in the ordinary way
	case x.conn.Cut():
		x.end(ledger.Reset)
	default:
		x.entry.Abort()
		x.end(ledger.Aborted)
	}
	return false
}

func (x *exchange) finish(e ledger.End) bool {
	x.end(e)
	return true
}

func (x *exchange) end(e ledger.End) {
	if x.clock != nil {
		x.clock.Stop()
	}
	digest := ""
	if x.headers {
		digest = hex.EncodeToString(x.sum.Sum(nil))
	}
	x.entry.Finish(e, digest)
}
