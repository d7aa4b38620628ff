package worker

import (
	"fmt"
	"net/http"
	"slices"
)

// Kind names a fault.
type Kind string

// The faults of a worker. The first two act on connections, and so on probes
// too; the others act on inference requests (POST to a completions endpoint)
// and leave probes alone. Requests whose headers had been read when a fault was
// set go on as if it had not been.
const (
	// Refuse refuses new connections and closes idle ones; running requests finish.
	Refuse Kind = "refuse"
	// Hang accepts connections and never answers on them. What hangs is never
	// read, so it is not in the ledger; it is reset when the fault ends.
	Hang Kind = "hang"
	// HangRequests reads and records requests and never answers them. They are
	// reset, and end Hung, when the fault is replaced or cleared.
	HangRequests Kind = "hang-requests"
	// ResetBeforeHeaders reads and records a request, then resets its connection.
	ResetBeforeHeaders Kind = "reset-before-headers"
	// ResetAfterEvents resets a stream after Events events, and an answer
	// without stream in the middle of its body. A stream with fewer events than
	// that ends normally.
	ResetAfterEvents Kind = "reset-after-events"
	// Status answers with an OpenAI error object, a redirect (300 to 399) with a Location
	// besides, and 304 with no body at all, as HTTP wants it.
	Status Kind = "status"
	// ErrorEvent ends a stream after Events events with an error object as one more
	// event, and [DONE], as engines do whose generation fails. A stream with fewer
	// events than that, and an answer without stream, ends normally.
	ErrorEvent Kind = "error-event"
)

var kinds = []Kind{Refuse, Hang, HangRequests, ResetBeforeHeaders, ResetAfterEvents, Status, ErrorEvent}

// Fault is one way to misbehave.
type Fault struct {
	Kind Kind `json:"kind"`
	// Status is the answer of kind status: 300 to 599.
	Status int `json:"status,omitempty"`
	// RetryAfter is the Retry-After header of kind status, in seconds; 0 sends none.
	RetryAfter int `json:"retryAfter,omitempty"`
	// Location is where a redirect of kind status leads; "" is a path that no worker has.
	Location string `json:"location,omitempty"`
	// Events is how many events the kinds reset-after-events and error-event let out;
	// 0 strikes right after the headers.
	Events int `json:"events,omitempty"`
	// Close makes the two reset kinds end the connection in the ordinary way (FIN)
	// instead of resetting it. The answer is as incomplete as after a reset.
	Close bool `json:"close,omitempty"`
	// Count is how many inference requests the fault strikes before it is over;
	// 0 means until it is cleared. In a Plan it counts the attempts of the
	// planned request. refuse and hang have no count: what they strike is never
	// seen, so it cannot be counted.
	Count int `json:"count,omitempty"`
}

// Validate says what is wrong with the fault, if anything. A field that the
// kind does not use is an error, so that no setting is silently ignored.
func (f Fault) Validate() error {
	if !slices.Contains(kinds, f.Kind) {
		return fmt.Errorf("fault: no kind %q; use one of %v", f.Kind, kinds)
	}
	if f.Kind == Status && (f.Status < 300 || f.Status > 599) {
		return fmt.Errorf("fault status: status is %d; use one from 300 to 599", f.Status)
	}
	if f.Count < 0 || f.Events < 0 || f.RetryAfter < 0 {
		return fmt.Errorf("fault %s: count %d, events %d and retryAfter %d must not be negative", f.Kind, f.Count, f.Events, f.RetryAfter)
	}
	if f.Count > 0 && f.network() {
		return fmt.Errorf("fault %s: count is %d, but what it strikes cannot be counted; leave count out and clear the fault instead", f.Kind, f.Count)
	}
	if f.Kind != Status && (f.Status != 0 || f.RetryAfter != 0) {
		return fmt.Errorf("fault %s: status %d and retryAfter %d belong to kind status only; leave them out", f.Kind, f.Status, f.RetryAfter)
	}
	if f.Location != "" && (f.Kind != Status || f.Status >= 400 || f.Status == http.StatusNotModified) {
		return fmt.Errorf("fault %s: location %q belongs to kind status with a redirect only (300 to 399 without 304); leave it out", f.Kind, f.Location)
	}
	if f.Kind != ResetAfterEvents && f.Kind != ResetBeforeHeaders && f.Close {
		return fmt.Errorf("fault %s: close belongs to kinds reset-before-headers and reset-after-events only; leave it out", f.Kind)
	}
	if f.Kind != ResetAfterEvents && f.Kind != ErrorEvent && f.Events != 0 {
		return fmt.Errorf("fault %s: events %d belongs to kinds reset-after-events and error-event only; leave it out", f.Kind, f.Events)
	}
	return nil
}

// network says that the fault acts on connections instead of requests.
func (f Fault) network() bool { return f.Kind == Refuse || f.Kind == Hang }
