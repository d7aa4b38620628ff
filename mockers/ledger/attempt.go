// Package ledger is the append-only record of what the mock workers saw: one
// Attempt per request that reached a worker. Verdicts read it; nothing a router
// says about itself can change it. The package knows no HTTP and no network.
package ledger

import "time"

// End says how an attempt ended, as the worker saw it.
type End string

const (
	Running  End = "running"  // not over yet
	Complete End = "complete" // the whole answer was handed to the connection
	Aborted  End = "aborted"  // the peer left first; AbortSeen tells when
	Reset    End = "reset"    // a fault reset the connection
	Closed   End = "closed"   // a fault closed the connection in the ordinary way before the answer's end
	Hung     End = "hung"     // a fault kept it unanswered until the worker let go
	Crashed  End = "crashed"  // the worker died under it
)

// Unset marks a time that has not come.
const Unset time.Duration = -1

// Keys are the three places a request's join key travels in, as received. A
// place that was absent is empty.
type Keys struct {
	Header string `json:"header,omitempty"` // x-request-id
	User   string `json:"user,omitempty"`   // the body's "user"
	Marker string `json:"marker,omitempty"` // [[rp:KEY]] in the prompt or the last message
}

// Attempt is one request as one worker incarnation saw it. All times are
// durations since the ledger's origin, Unset until they come.
type Attempt struct {
	Seq         int                 `json:"seq"` // order of arrival in this ledger, from 0
	Key         string              `json:"key"` // the join key: marker, else user, else header
	Keys        Keys                `json:"keys"`
	Worker      string              `json:"worker"`
	Incarnation int                 `json:"incarnation"` // 1 for the first life
	Role        string              `json:"role"`        // of the worker: aggregated, prefill, decode
	Ranks       int                 `json:"ranks"`       // data-parallel ranks of the worker; 0 if it knows none
	Remote      string              `json:"remote"`      // source address of the connection
	Proto       string              `json:"proto"`       // HTTP/1.1 or HTTP/1.0
	Method      string              `json:"method"`
	Target      string              `json:"target"`   // path and query as received
	Endpoint    string              `json:"endpoint"` // chat, completions, other
	Header      map[string][]string `json:"header"`
	Body        []byte              `json:"body,omitempty"` // kept only up to KeepBody bytes
	BodySHA256  string              `json:"bodySHA256"`
	BodyBytes   int64               `json:"bodyBytes"`
	ValueSHA256 string              `json:"valueSHA256,omitempty"` // of the body's JSON value, for bodies that are not kept
	Model       string              `json:"model"`
	Stream      bool                `json:"stream"`              // as asked for; answers that name a hand-off are never streamed
	MaxTokens   int                 `json:"maxTokens,omitempty"` // the request's own limit on the answer; 0 for none
	HasRank     bool                `json:"hasRank"`             // there was a header X-data-parallel-rank
	RankAsked   string              `json:"rankAsked,omitempty"` // its first value, as received
	Rank        int                 `json:"rank"`                // rank that the request was given to, from 0; NoRank for none
	RankChoice  RankChoice          `json:"rankChoice,omitempty"`
	Handoff     *Handoff            `json:"handoff,omitempty"`
	Fault       string              `json:"fault,omitempty"` // the fault in force when it arrived
	Status      int                 `json:"status"`          // 0 while no headers were sent
	Arrived     time.Duration       `json:"arrived"`
	HeadersAt   time.Duration       `json:"headersAt"`
	SentHeader  map[string][]string `json:"sentHeader,omitempty"` // of the response
	Events      []time.Duration     `json:"events,omitempty"`     // when each SSE event was written, [DONE] included
	BytesSent   int64               `json:"bytesSent"`            // of the response body
	SentSHA256  string              `json:"sentSHA256,omitempty"` // of the response body sent, set at the end
	AbortSeen   time.Duration       `json:"abortSeen"`
	Ended       time.Duration       `json:"ended"`
	End         End                 `json:"end"`
}

// KeepBody is the largest request body, in bytes, that an Attempt keeps whole.
const KeepBody = 8 << 10
