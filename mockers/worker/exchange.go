package worker

import (
	"cmp"
	"hash"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/netfault"
	"github.com/routeproof/routeproof/mockers/openai"
)

// exchange is one recorded request and its answer. Its methods return false
// once the attempt is over and the connection must not be used any more.
type exchange struct {
	w      *Worker
	life   *life
	rw     http.ResponseWriter
	rc     *http.ResponseController
	r      *http.Request
	conn   *netfault.Conn
	entry  *ledger.Entry
	sum    hash.Hash // over the response body sent
	timing Timing

	broken  bool            // the request never came whole
	request *openai.Request // nil unless an inference request was read
	refusal *openai.Error   // why it cannot be served
	rank    int             // data-parallel rank that serves it, ledger.NoRank for none
	plan    *Handle         // nil for none
	fault   Fault           // Kind is empty for none
	planned bool            // the fault is the plan's
	letGo   <-chan struct{} // closes when the worker's fault ends

	headers bool
	clock   *time.Timer
}

func (x *exchange) run() bool {
	if x.broken {
		return x.gone()
	}
	x.applyPlan()
	switch x.fault.Kind {
	case HangRequests:
		return x.hang()
	case ResetBeforeHeaders:
		return x.mayAnswer() && x.reset()
	case Status:
		if x.fault.RetryAfter > 0 {
			x.rw.Header().Set("Retry-After", strconv.Itoa(x.fault.RetryAfter))
		}
		if x.fault.Status < 400 && x.fault.Status != http.StatusNotModified {
			x.rw.Header().Set("Location", cmp.Or(x.fault.Location, nowhere))
		}
		return x.refuse(&openai.Error{Status: x.fault.Status, Message: "mock worker: status " + strconv.Itoa(x.fault.Status) + " as ordered"})
	}
	if x.refusal != nil {
		return x.refuse(x.refusal)
	}
	x.use()
	if x.request.Stream && !x.does(ledger.AskedIssue) {
		return x.stream()
	}
	return x.whole()
}

// nowhere is where redirects lead that are not told: no worker has it, so that who follows one finds an
// end there, and the ledger tells.
const nowhere = "/mock/redirected"

func (x *exchange) applyPlan() {
	if x.plan == nil {
		return
	}
	if n := x.plan.plan.Events; n > 0 {
		x.request.SetTokens(n)
	}
	if d := x.plan.plan.TTFT; d > 0 {
		x.timing.TTFT = d
	}
	if d := x.plan.plan.Interval; d > 0 {
		x.timing.Interval = d
	}
	for name, values := range x.plan.plan.Header {
		x.rw.Header()[name] = slices.Clone(values)
	}
}

func (x *exchange) refuse(e *openai.Error) bool {
	if !x.mayAnswer() {
		return false
	}
	if e.Status == http.StatusRequestEntityTooLarge {
		x.rw.Header().Set("Connection", "close") // the rest of the body is unread
	}
	return x.answer(e.Status, e.Body(), -1)
}

func (x *exchange) whole() bool {
	if !x.until(x.w.ledger.Now()+x.timing.whole(x.request.Tokens)) || !x.mayAnswer() {
		return false
	}
	body, cut := x.request.Body(x.issue()), -1
	if x.fault.Kind == ResetAfterEvents {
		cut = len(body) / 2
	}
	return x.answer(x.good(), body, cut)
}

// good is the status of an answer that is none of a fault.
func (x *exchange) good() int {
	if x.plan == nil {
		return http.StatusOK
	}
	return cmp.Or(x.plan.plan.Status, http.StatusOK)
}

// piece is the most of a body that is written and counted at once.
const piece = 64 << 10

// answer sends an answer of known length, the whole of it or, if cut is not
// negative, its first cut bytes and then a reset.
func (x *exchange) answer(status int, body []byte, cut int) bool {
	if status == http.StatusNotModified {
		body = nil
	} else {
		h := x.rw.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	at := x.w.ledger.Now()
	x.rw.WriteHeader(status)
	if cut >= 0 {
		body = body[:cut]
	}
	if x.r.Method == http.MethodHead {
		body = nil
	}
	var rest []byte // what a plan holds back
	if x.plan != nil && x.plan.plan.HoldFinish && cut < 0 {
		body, rest = body[:len(body)/2], body[len(body)/2:]
	}
	for first := true; first || len(body) > 0; first = false {
		n := min(len(body), piece)
		if !x.write(body[:n]) {
			return false
		}
		x.sentHeaders(status, at)
		x.entry.Sent(n)
		body = body[n:]
	}
	if rest != nil {
		if !x.mayFinish() {
			return false
		}
		if x.plan.isCut() {
			return x.reset()
		}
		if !x.write(rest) {
			return false
		}
		x.entry.Sent(len(rest))
	}
	if cut >= 0 {
		return x.reset()
	}
	return x.finish(ledger.Complete)
}

// write hands bytes to the connection, in one piece and at once.
func (x *exchange) write(b []byte) bool {
	if len(b) > 0 {
		if _, err := x.rw.Write(b); err != nil {
			return x.gone()
		}
	}
	if err := x.rc.Flush(); err != nil {
		return x.gone()
	}
	x.sum.Write(b)
	return true
}

func (x *exchange) sentHeaders(status int, at time.Duration) {
	if !x.headers {
		x.headers = true
		x.entry.SentHeader(x.rw.Header().Clone())
		x.entry.HeadersAt(status, at)
	}
}

func (x *exchange) stream() bool {
	if !x.mayAnswer() {
		return false
	}
	x.rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	at := x.w.ledger.Now()
	x.rw.WriteHeader(x.good())
	if !x.write(nil) {
		return false
	}
	x.sentHeaders(x.good(), at)
	due := at
	s := x.request.NewStream()
	for n := 0; ; n++ {
		if x.fault.Kind == ResetAfterEvents && n == x.fault.Events {
			return x.reset()
		}
		if x.fault.Kind == ErrorEvent && n == x.fault.Events {
			return x.failInStream()
		}
		event, pace, more := s.Next()
		if !more {
			return x.finish(ledger.Complete)
		}
		switch pace {
		case openai.FirstToken:
			due += x.timing.TTFT
		case openai.NextToken:
			due += x.timing.Interval
		}
		if !x.mayWrite(n, due) {
			return false
		}
		at := x.w.ledger.Now()
		if !x.write(event) {
			return false
		}
		x.entry.EventAt(at, len(event))
	}
}

// failInStream ends a stream with an error object and [DONE], each an event.
func (x *exchange) failInStream() bool {
	e := &openai.Error{Status: http.StatusInternalServerError, Message: "mock worker: an error in the stream as ordered"}
	for _, data := range [][]byte{e.Body(), []byte("[DONE]")} {
		at := x.w.ledger.Now()
		event := append(append([]byte("data: "), data...), "\n\n"...)
		if !x.write(event) {
			return false
		}
		x.entry.EventAt(at, len(event))
	}
	return x.finish(ledger.Complete)
}
