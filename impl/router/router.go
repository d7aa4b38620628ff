package router

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// bodyStall is the longest that a client may send nothing in the middle of its
// request body.
const bodyStall = 30 * time.Second

// Router is the reference router. It is an http.Handler; Serve and Shutdown run
// it on a listener of its own.
type Router struct {
	cfg   Config
	parts Parts
	set   *discovery.Static
	setMu sync.Mutex
	extra map[string]http.Handler
	serving
}

// New assembles a router without workers. The error names a bad setting or an
// absent part.
func New(cfg Config, parts Parts) (*Router, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if name := parts.missing(); name != "" {
		return nil, fmt.Errorf("router part %s is nil: start from DefaultParts and replace what you need", name)
	}
	set, err := discovery.NewStatic()
	if err != nil {
		return nil, err
	}
	r := &Router{cfg: cfg.withDefaults(), parts: parts, set: set, extra: make(map[string]http.Handler)}
	r.serving.init(r, parts.Log)
	return r, nil
}

// SetWorkers replaces the worker set. When it returns, workers that left get no
// new request; what runs on them goes on. An invalid set is refused as a whole.
func (r *Router) SetWorkers(workers []discovery.Worker) error {
	r.setMu.Lock()
	defer r.setMu.Unlock()
	if err := r.set.Set(workers); err != nil {
		return err
	}
	return r.parts.Fleet.set(r.set.Snapshot())
}

// InFlight returns the requests in flight by worker id.
func (r *Router) InFlight() map[string]int { return r.parts.Fleet.load() }

// Handle serves one more path besides the router's own. It is to be called
// before the router serves.
func (r *Router) Handle(path string, h http.Handler) { r.extra[path] = h }

// ServeHTTP implements http.Handler.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := req.URL.Path
	switch h := r.extra[path]; {
	case h != nil:
		h.ServeHTTP(w, req)
	case path == "/health":
		answer(w, req, map[string]any{"status": "ok", "workers": len(r.parts.Fleet.current.Load().members)})
	case path == "/v1/models":
		r.listModels(w, req)
	case !strings.HasPrefix(path, "/v1/"):
		errorf(NotFound, "there is nothing at %s: inference is under /v1/", path).write(w)
	case req.Method == http.MethodGet || req.Method == http.MethodHead:
		w.Header().Set("Allow", http.MethodPost)
		errorf(MethodNotAllowed, "%s %s is not served: send a POST with a JSON body", req.Method, path).write(w)
	default:
		r.forward(w, req)
	}
}

func (r *Router) forward(w http.ResponseWriter, req *http.Request) {
	x, err := r.admit(w, req)
	if err == nil {
		err = x.run()
	}
	if err == nil {
		return
	}
	if req.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has left: no answer, and no clean end either
	}
	var e *Error
	if !errors.As(err, &e) {
		e = errorf(Internal, "%v", err)
	}
	r.parts.Log.Warn("request refused", "path", req.URL.Path, "code", e.Kind, "reason", e.Message)
	e.write(w)
}

// admit reads what routing needs to know of a request.
func (r *Router) admit(w http.ResponseWriter, req *http.Request) (*exchange, error) {
	body, err := readBody(w, req, r.cfg.MaxBody)
	if err != nil {
		return nil, err
	}
	known := r.parts.Fleet.current.Load().models
	model, err := r.parts.Models.Model(body, known)
	if err != nil {
		var e *Error
		if len(known) == 0 && errors.As(err, &e) && e.Kind == ModelNotFound {
			return nil, errNoWorker
		}
		return nil, err
	}
	x := &exchange{r: r, w: w, req: req, body: body, model: model}
	if r.parts.Affinity != nil {
		x.session = r.parts.Sessions.Session(req)
	}
	return x, nil
}

// readBody reads the whole body, so that it can be sent again, and so that the
// server sees at once when the client leaves.
func readBody(w http.ResponseWriter, req *http.Request, limit int64) ([]byte, error) {
	tooLarge := errorf(BodyTooLarge, "the request body is larger than %d bytes", limit)
	if req.ContentLength > limit {
		return nil, tooLarge
	}
	rc := http.NewResponseController(w)
	in := http.MaxBytesReader(w, req.Body, limit)
	// A client's word on the length is believed only as far as it costs little.
	body := make([]byte, 0, min(max(req.ContentLength, 511), 1<<20)+1)
	for {
		_ = rc.SetReadDeadline(time.Now().Add(bodyStall)) // not every connection has deadlines
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == nil {
			if len(body) == cap(body) {
				body = append(body, 0)[:len(body)]
			}
			continue
		}
		_ = rc.SetReadDeadline(time.Time{})
		var timeout interface{ Timeout() bool }
		switch {
		case err == io.EOF:
			return body, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, tooLarge
		case errors.As(err, &timeout) && timeout.Timeout():
			return nil, errorf(BodyTimeout, "the request body stalled for %v", bodyStall)
		}
		return nil, errorf(InvalidArgument, "the request body could not be read: %v", err)
	}
}

type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int    `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (r *Router) listModels(w http.ResponseWriter, req *http.Request) {
	entries := []modelEntry{}
	for _, m := range r.parts.Fleet.current.Load().models {
		entries = append(entries, modelEntry{ID: m, Object: "model", OwnedBy: "routeproof"})
	}
	answer(w, req, map[string]any{"object": "list", "data": entries})
}

// answer replies with JSON to a GET.
func answer(w http.ResponseWriter, req *http.Request, v any) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", http.MethodGet)
		errorf(MethodNotAllowed, "%s %s is not served: send a GET", req.Method, req.URL.Path).write(w)
		return
	}
	body, err := json.Marshal(v)
	if err != nil {
		errorf(Internal, "%v", err).write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that has left needs no answer
}
