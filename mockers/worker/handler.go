package worker

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/netfault"
	"github.com/routeproof/routeproof/mockers/openai"
)

const other = "other" // the ledger's endpoint for everything but inference

// serve handles every request. A request that must not be answered ends with
// http.ErrAbortHandler, which makes the server drop the connection.
func (w *Worker) serve(rw http.ResponseWriter, r *http.Request) {
	l := lifeOf(r)
	if l == nil || !l.enter() {
		netfault.ConnOf(r.Context()).Reset()
		panic(http.ErrAbortHandler)
	}
	defer l.leave()
	h := rw.Header()
	h.Set("x-mock-worker", w.id)
	h.Set("x-mock-incarnation", strconv.Itoa(l.incarnation))
	for _, name := range []string{"x-request-id", "x-mock-echo"} {
		if v := r.Header.Get(name); v != "" {
			h.Set(name, v)
		}
	}
	if w.probe(rw, r, l) {
		return
	}
	x := w.record(rw, r, l)
	if x.rank >= 0 {
		h.Set("x-mock-rank", strconv.Itoa(x.rank))
	}
	l.occupy(x.rank)
	defer l.vacate(x.rank)
	if !x.run() {
		panic(http.ErrAbortHandler)
	}
}

// probe answers what health checkers and model listers ask, which is counted
// and not recorded.
func (w *Worker) probe(rw http.ResponseWriter, r *http.Request, l *life) bool {
	if r.Method != http.MethodGet {
		return false
	}
	switch r.URL.Path {
	case "/health":
	case "/v1/models":
		rw.Header().Set("Content-Type", "application/json")
		rw.Write(openai.Models(w.Models())) // a prober that left needs no answer
	case "/metrics":
		rw.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.metrics(rw, l)
	default:
		return false
	}
	w.probes.Add(1)
	return true
}

// metrics writes what routers read of a worker's load. An engine with ranks has
// a line for each, told apart by the label engine.
func (w *Worker) metrics(out io.Writer, l *life) {
	model := w.Models()[0]
	fmt.Fprintln(out, "# TYPE vllm:num_requests_running gauge")
	for rank, n := range l.loads() {
		fmt.Fprintf(out, "vllm:num_requests_running{model_name=%q,engine=\"%d\"} %d\n", model, rank, n)
	}
	if w.shape.Ranks == 0 {
		// The probe itself is inside too and is not a request to the engine.
		fmt.Fprintf(out, "vllm:num_requests_running{model_name=%q} %d\n", model, l.load()-1)
	}
	fmt.Fprintln(out, "# TYPE vllm:num_requests_waiting gauge")
	for rank := range w.shape.Ranks {
		fmt.Fprintf(out, "vllm:num_requests_waiting{model_name=%q,engine=\"%d\"} 0\n", model, rank)
	}
	if w.shape.Ranks == 0 {
		fmt.Fprintf(out, "vllm:num_requests_waiting{model_name=%q} 0\n", model)
	}
}

func endpointOf(path string) string {
	switch path {
	case "/v1/chat/completions":
		return string(openai.Chat)
	case "/v1/completions":
		return string(openai.Completions)
	}
	return other
}

// record reads the request, puts it in the ledger and returns the exchange that
// is to be run.
func (w *Worker) record(rw http.ResponseWriter, r *http.Request, l *life) *exchange {
	a := ledger.Attempt{
		Arrived:     w.ledger.Now(),
		Keys:        ledger.Keys{Header: r.Header.Get("x-request-id")},
		Worker:      w.id,
		Incarnation: l.incarnation,
		Role:        string(w.shape.Role),
		Ranks:       w.shape.Ranks,
		Remote:      r.RemoteAddr,
		Proto:       r.Proto,
		Method:      r.Method,
		Target:      r.RequestURI,
		Endpoint:    endpointOf(r.URL.Path),
		Header:      r.Header.Clone(),
	}
	// net/http moves Host out of the header; a router may well change it.
	a.Header["Host"] = []string{r.Host}
	hearRank(a.Header, &a)
	x := &exchange{
		w: w, life: l, rw: rw, r: r, rc: http.NewResponseController(rw),
		conn: netfault.ConnOf(r.Context()), sum: sha256.New(), timing: w.Timing(), rank: ledger.NoRank,
	}
	body, err := readBody(r)
	a.BodyBytes = int64(len(body))
	digest := sha256.Sum256(body)
	a.BodySHA256 = hex.EncodeToString(digest[:])
	if len(body) <= ledger.KeepBody {
		a.Body = body
	} else {
		a.ValueSHA256 = ledger.ValueSHA256(body)
	}
	switch {
	case err != nil:
		x.broken = true
	case len(body) > openai.MaxBody:
		x.refusal = &openai.Error{Status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("the body is larger than %d bytes; send a shorter prompt", openai.MaxBody)}
	case a.Endpoint == other:
		x.refusal = &openai.Error{Status: http.StatusNotFound,
			Message: fmt.Sprintf("no such path %q; a mock worker serves /v1/chat/completions, /v1/completions, /v1/models, /health and /metrics", r.URL.Path)}
	case r.Method != http.MethodPost:
		x.refusal = &openai.Error{Status: http.StatusMethodNotAllowed,
			Message: fmt.Sprintf("method %s is not allowed on %s; use POST", r.Method, r.URL.Path)}
	default:
		x.parse(body, &a)
	}
	a.Key = firstOf(a.Keys.Marker, a.Keys.User, a.Keys.Header)
	if x.request != nil {
		x.request.Key = a.Key
		x.plan = w.planOf(a.Key)
		x.strike()
	}
	a.Fault = string(x.fault.Kind)
	if f := w.Fault(); a.Fault == "" && f != nil && f.network() {
		a.Fault = string(f.Kind) // it was let in before, and is not touched
	}
	x.entry = w.ledger.Begin(a)
	return x
}

// parse reads an inference request into the exchange and the attempt.
func (x *exchange) parse(body []byte, a *ledger.Attempt) {
	x.request, x.refusal = openai.Parse(openai.Endpoint(a.Endpoint), body, *x.w.models.Load(), x.timing.tokens())
	a.Keys.User, a.Keys.Marker = x.request.User, x.request.Marker
	a.Model, a.Stream, a.MaxTokens = x.request.Model, x.request.Stream, x.request.Limit
	a.Handoff = x.hearHandoff()
	if x.refusal == nil {
		x.takeRank(a)
	}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// readBody reads at most one byte more than a worker accepts. On an error it
// returns what had come by then.
func readBody(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	if n := r.ContentLength; n > 0 {
		b.Grow(int(min(n, 1<<20)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(r.Body, openai.MaxBody+1))
	return b.Bytes(), err
}

// strike decides which fault hits this request: the plan's before the worker's.
func (x *exchange) strike() {
	if x.plan != nil {
		if f, hit := x.plan.strike(); hit {
			x.fault, x.planned = f, true
			return
		}
		if x.plan.plan.Fault != nil {
			return // a plan with a fault that is used up shields the request
		}
	}
	x.fault, x.letGo, _ = x.w.strike()
}
