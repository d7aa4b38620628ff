// Package history is the evidence of one case: what clients sent and saw, what
// the workers' ledger holds, and what the harness did in between, all on the
// ledger's clock. It is plain data with a JSON form, so that old evidence can
// be judged again.
package history

import (
	"time"

	"github.com/routeproof/routeproof/mockers/handoff"
	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/linear"
	"github.com/routeproof/routeproof/suites/script"
)

// Unset marks a time that has not come.
const Unset = ledger.Unset

// End says how a request ended, as the client saw it.
type End string

const (
	Complete  End = "complete"  // a well-formed HTTP answer, to its last byte
	Truncated End = "truncated" // headers came, then the connection broke before the body's end
	Failed    End = "failed"    // the connection broke before headers, or could not be made
	Malformed End = "malformed" // the answer was not HTTP
	Oversize  End = "oversize"  // the answer passed the client's limit and was cut off by us
	Timeout   End = "timeout"   // no end within the request's deadline
	Cancelled End = "cancelled" // the client left on purpose
	Cut       End = "cut"       // the case's own limit came first: it says nothing of the target
)

// Endpoints a client calls.
const (
	Chat        = "chat"        // POST /v1/chat/completions
	Completions = "completions" // POST /v1/completions
)

// Roles of workers, as attempts and Worker name them.
const (
	Prefill = "prefill"
	Decode  = "decode"
)

// Event is one server-sent event as it reached the client.
type Event struct {
	At   time.Duration `json:"at"`
	Data string        `json:"data"` // the data field, cut after 256 bytes
}

// Request is one client request and its answer.
type Request struct {
	Key        string        `json:"key"`               // join key, unique in the run
	Session    string        `json:"session,omitempty"` // session id sent; empty = keyless
	Turn       int           `json:"turn"`              // turn within the session, from 0
	Phase      string        `json:"phase"`             // the case's own name for the moment it was sent in
	Endpoint   string        `json:"endpoint"`
	Pin        *script.Where `json:"pin,omitempty"`        // where it asked to be served
	PrefillPin *script.Where `json:"prefillPin,omitempty"` // where it asked to be prefilled
	Asks       bool          `json:"asks,omitempty"`       // it only asked where its session is bound
	Stream     bool          `json:"stream"`
	Chunked    bool          `json:"chunked"` // the body was sent without a Content-Length
	Kept       bool          `json:"kept"`    // sent over a kept-alive connection instead of a fresh one
	Model      string        `json:"model"`
	Path       string        `json:"path"` // path and query sent

	SentHeader     map[string][]string `json:"sentHeader"`
	SentBody       []byte              `json:"sentBody,omitempty"` // kept up to ledger.KeepBody
	SentBodySHA256 string              `json:"sentBodySHA256"`
	SentBodyBytes  int64               `json:"sentBodyBytes"`
	SentValue      string              `json:"sentValue,omitempty"` // digest of the body's JSON value, for bodies that are not kept
	Resent         bool                `json:"resent,omitempty"`    // the kept-alive connection had been closed; sent again over a fresh one

	Sent      time.Duration `json:"sent"`
	HeadersAt time.Duration `json:"headersAt"`
	Ended     time.Duration `json:"ended"`

	Status     int                 `json:"status"` // 0 without headers
	Header     map[string][]string `json:"header,omitempty"`
	Body       []byte              `json:"body,omitempty"` // kept up to ledger.KeepBody
	BodySHA256 string              `json:"bodySHA256,omitempty"`
	BodyBytes  int64               `json:"bodyBytes"`
	Events     []Event             `json:"events,omitempty"`
	Done       bool                `json:"done"` // a stream's [DONE] was seen
	End        End                 `json:"end"`
	Err        string              `json:"err,omitempty"` // the client's error, for people
}

// OK says whether the client got a whole 2xx answer: for a stream, up to [DONE].
func (r *Request) OK() bool {
	return r.End == Complete && r.Status >= 200 && r.Status < 300 && (!r.Stream || r.Done)
}

// Mark is something the harness did: a fault set, a worker killed, workers applied.
type Mark struct {
	At     time.Duration `json:"at"`
	What   string        `json:"what"` // fault, crash, restart, apply, phase, note
	Worker string        `json:"worker,omitempty"`
	Text   string        `json:"text,omitempty"`
}

// Session is what the manifest declares about sessions; judges that differ by
// declaration read it here, never from a global.
type Session struct {
	Kind       string        `json:"kind"` // table, hash, none
	IdleTTL    time.Duration `json:"idleTTL"`
	Capacity   int           `json:"capacity"`
	AtCapacity string        `json:"atCapacity"` // refuse, unpinned, evict
	Final      string        `json:"final"`      // ignore, release
}

// Worker is what a worker of the fleet is.
type Worker struct {
	ID    string `json:"id"`
	Role  string `json:"role"`  // aggregated, prefill, decode
	Ranks int    `json:"ranks"` // data-parallel ranks; 0 if it knows none
	Model string `json:"model"` // the one that the target is told it serves
}

// History is the whole evidence of one case.
type History struct {
	Case        string            `json:"case"`
	Seed        uint64            `json:"seed"`
	Workers     []string          `json:"workers"`           // fleet ids wired at the start
	Fleet       []Worker          `json:"fleet"`             // what these are, in the same order; who joined later is described by his attempts
	Aliases     map[string]string `json:"aliases,omitempty"` // other names of models, as the manifest declares them
	Session     Session           `json:"session"`
	Convergence time.Duration     `json:"convergence"`    // longest time the target may take to follow a change
	Store       Store             `json:"store,omitzero"` // where the target looked for its workers
	Requests    []Request         `json:"requests"`       // in the order they were sent
	Attempts    []ledger.Attempt  `json:"attempts"`       // in the order of arrival
	Marks       []Mark            `json:"marks"`
	Stalls      []Stall           `json:"stalls,omitempty"`    // times in which the harness itself got no processor
	Dropped     uint64            `json:"dropped,omitempty"`   // packets that the machine's kernel dropped for want of room
	Foreign     int               `json:"foreign"`             // attempts without this case's key, left out above
	Handoffs    []handoff.Record  `json:"handoffs,omitempty"`  // all that were issued during the case, in order
	Forgotten   int               `json:"forgotten,omitempty"` // hand-offs that were issued too but are left out: the fleet remembers so many
	Talk        *script.Talk      `json:"talk,omitempty"`      // with a component, in place of requests
	Held        []script.Held     `json:"held,omitempty"`      // conversations with a component that were made up as they went
	Lineages    []lineage.Held    `json:"lineages,omitempty"`  // conversations with a session index
	Ops         []linear.Op       `json:"ops,omitempty"`       // of concurrent callers of a component
}

// Stall is a time in which the harness's own process, with its workers and clients,
// stood still: it began after At and lasted For.
type Stall struct {
	At  time.Duration `json:"at"`
	For time.Duration `json:"for"`
}

// Replay is the smallest conversation that went wrong, in lines for an adapter; nil if
// none did.
func (h *History) Replay() []string {
	if n := len(h.Held); n > 0 {
		return h.Held[n-1].Replay
	}
	if n := len(h.Lineages); n > 0 {
		return h.Lineages[n-1].Replay
	}
	return nil
}

// Store is a discovery store, of kind "" where there was none.
type Store struct {
	Kind string        `json:"kind"` // etcd, file
	TTL  time.Duration `json:"ttl"`  // how long records outlive their owners
	// Left is what was in it when a case looked: each record behind its key.
	Left []string `json:"left,omitempty"`
}
