package router

// Failure says how an attempt failed before the worker's response headers.
type Failure uint8

// Failures.
const (
	None      Failure = iota // headers came
	Broken                   // refused, reset, or closed before headers
	TimedOut                 // no headers within HeaderTimeout
	Cancelled                // the client left
)

func (f Failure) String() string {
	return [...]string{"none", "connection failure", "header timeout", "client gone"}[f]
}

// Outcome is what one attempt at one worker came to.
type Outcome struct {
	Failure     Failure
	Status      int  // of the worker's response; 0 with a failure
	Attempt     int  // number of this attempt in its phase, from 1
	MaxAttempts int  // as configured
	Elsewhere   int  // how often the request went elsewhere before, over both phases
	TimedOut    int  // attempts of this request that timed out, this one included
	Prefill     bool // the attempt was the prefill phase of a request
	Session     bool
	Bound       bool // the session was bound to this worker before the attempt
	WasBound    bool // the session was bound, in either phase, when the request was first dispatched
	Pinned      bool // the client has asked for this worker by name
}

// Action is what becomes of the request.
type Action uint8

// Actions.
const (
	PassOn         Action = iota + 1 // the worker's response goes to the client
	RetryElsewhere                   // another worker gets the request, if there is one; a pin no longer counts
	Fail                             // the client gets an error
)

// Binding is what becomes of the session's binding.
type Binding uint8

// Effects on the binding.
const (
	Keep       Binding = iota + 1 // a new session stays unbound, a bound one stays where it is
	Commit                        // a new session is bound to this worker
	Invalidate                    // the binding ends
)

// Decision is what follows from an outcome.
type Decision struct {
	Action  Action
	Binding Binding
}

// maxTimeouts bounds how many workers may let one request time out: each costs
// a whole HeaderTimeout, while a refused connection costs nothing.
const maxTimeouts = 2

// maxMoves is how often a request goes elsewhere whose session was bound: the first
// failure says that the binding is of no use any more, a second one that something
// larger is wrong.
const maxMoves = 1

// DefaultFailover is the reference's table:
//
//	2xx                       passed on   new session bound
//	429, 503 (overload)       passed on   binding kept
//	other 5xx                 passed on   binding ended
//	everything else           passed on   binding kept
//	connection failure        elsewhere   binding ended    up to MaxAttempts workers; once if the session was bound
//	header timeout            elsewhere   binding ended    once
//	client gone               nothing     binding kept
//
// It is the same for requests without a session, and for either phase of those that
// run in two; in a prefill phase a 2xx goes on to decode instead of to the client. A request whose session
// was bound in either phase goes elsewhere once over both. Nothing is sent elsewhere
// once a worker has answered, or that was asked for by name: what would go elsewhere
// then fails.
func DefaultFailover(o Outcome) Decision {
	switch o.Failure {
	case Cancelled:
		return Decision{Fail, Keep}
	case TimedOut, Broken:
		if o.Pinned || o.TimedOut >= maxTimeouts || o.Attempt >= o.MaxAttempts || o.WasBound && o.Elsewhere >= maxMoves {
			return Decision{Fail, Invalidate}
		}
		return Decision{RetryElsewhere, Invalidate}
	}
	switch {
	case o.Status >= 200 && o.Status < 300:
		return Decision{PassOn, Commit}
	case o.Status == 503 || o.Status < 500:
		return Decision{PassOn, Keep}
	}
	return Decision{PassOn, Invalidate}
}
