package router

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/discovery"
)

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
	return r.parts.Fleet.Set(r.set.Snapshot())
}

// InFlight returns the requests in flight by worker id, InFlightByRank the same
// for each data-parallel rank.
func (r *Router) InFlight() map[string]int { return r.parts.Fleet.Load() }

// InFlightByRank returns the requests in flight by worker id and rank.
func (r *Router) InFlightByRank() map[string][]int { return r.parts.Fleet.LoadByRank() }

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
		answer(w, req, map[string]any{"status": "ok", "workers": r.parts.Fleet.Size()})
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

type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int    `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (r *Router) listModels(w http.ResponseWriter, req *http.Request) {
	entries := []modelEntry{}
	for _, m := range r.parts.Fleet.Models() {
		names := []string{m}
		for alias, model := range r.cfg.Aliases {
			if model == m {
				names = append(names, alias)
			}
		}
		slices.Sort(names[1:])
		for _, name := range names {
			entries = append(entries, modelEntry{ID: name, Object: "model", OwnedBy: "routeproof"})
		}
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
