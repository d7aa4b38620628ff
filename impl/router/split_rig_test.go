package router

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// floor is a fleet of prefill and decode workers that pass hand-offs, each of
// which can be used once.
type floor struct {
	*rig
	t       *testing.T
	workers map[string]*upstreamWorker
	set     []discovery.Worker

	mu       sync.Mutex
	handOffs map[string]string // -> where it was made; "" once used
	wrong    []string          // what workers saw that they must not see
	bodies   map[string]string // of the latest request, by worker id
	headers  map[string]http.Header
}

// newFloor makes workers p0, p1..., d0, d1..., a0, a1... with the given number of
// ranks each, in this order of roles, and a router with affinity.
func newFloor(t *testing.T, cfg Config, prefill, decode, aggregated []int) *floor {
	t.Helper()
	f := &floor{t: t, workers: map[string]*upstreamWorker{}, handOffs: map[string]string{}, bodies: map[string]string{}, headers: map[string]http.Header{}}
	for _, group := range []struct {
		name  string
		role  discovery.Role
		ranks []int
	}{{"p", discovery.Prefill, prefill}, {"d", discovery.Decode, decode}, {"a", discovery.Aggregated, aggregated}} {
		for i, n := range group.ranks {
			id := fmt.Sprint(group.name, i)
			w := newWorker(t, id, f.good(id))
			e := w.entry()
			e.Role, e.Ranks = group.role, n
			f.workers[id], f.set = w, append(f.set, e)
		}
	}
	if cfg.IdleTTL == 0 {
		cfg.IdleTTL = time.Minute
	}
	f.rig = newRig(t, cfg, nil, f.set...)
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, w := range f.wrong {
			t.Error(w)
		}
	})
	return f
}

// without is the fleet without some workers.
func (f *floor) without(ids ...string) {
	f.t.Helper()
	var set []discovery.Worker
	for _, w := range f.set {
		if !strings.Contains(" "+strings.Join(ids, " ")+" ", " "+w.ID+" ") {
			set = append(set, w)
		}
	}
	if err := f.SetWorkers(set); err != nil {
		f.t.Error(err) // a worker's handler may be the caller
	}
}

// good does what a worker of the id should do.
func (f *floor) good(id string) http.HandlerFunc {
	if id[0] == 'p' {
		return f.prefills(id)
	}
	return f.serves(id)
}

func (f *floor) read(id string, r *http.Request) (raw []byte, body map[string]json.RawMessage, params map[string]any) {
	raw, err := io.ReadAll(r.Body)
	if err != nil { // the client left before it had come whole
		panic(http.ErrAbortHandler)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies[id], f.headers[id] = string(raw), r.Header
	if json.Unmarshal(raw, &body) != nil {
		f.wrong = append(f.wrong, id+" got "+string(raw))
	}
	if p, ok := body["kv_transfer_params"]; ok && json.Unmarshal(p, &params) != nil {
		f.wrong = append(f.wrong, id+" got "+string(raw))
	}
	return raw, body, params
}

func (f *floor) prefills(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, body, params := f.read(id, r)
		if string(body["max_tokens"]) != "1" || string(body["stream"]) != "false" || params["do_remote_decode"] != true {
			f.note("%s was asked to do more than prefill: %s", id, raw)
		}
		f.mu.Lock()
		name := fmt.Sprintf("h%d", len(f.handOffs))
		f.handOffs[name] = id + "/" + said(r)
		f.mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"id":"x","kv_transfer_params":{"do_remote_prefill":true,"remote_engine_id":%q,"remote_block_ids":[[1,2]],"big":12345678901234567890}}`, name)
	}
}

// serves answers with the worker's own place, and with where the hand-off was
// made, if there is one.
func (f *floor) serves(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _, params := f.read(id, r)
		text := id + "/" + said(r)
		if name, ok := params["remote_engine_id"].(string); ok {
			text += " after " + f.take(id, name)
		}
		_, _ = io.WriteString(w, text)
	}
}

// take uses a hand-off up.
func (f *floor) take(id, name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := f.handOffs[name]
	if from == "" {
		f.wrong = append(f.wrong, fmt.Sprintf("%s was handed %s, which is used up or was never made", id, name))
	}
	f.handOffs[name] = ""
	return from
}

func (f *floor) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// hits counts the requests at the workers whose ids begin so.
func (f *floor) hits(prefix string) (n int64) {
	for id, w := range f.workers {
		if strings.HasPrefix(id, prefix) {
			n += w.hits.Load()
		}
	}
	return n
}

// seen returns the latest body and headers that a worker got.
func (f *floor) seen(id string) (string, http.Header) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies[id], f.headers[id]
}

// want sends a turn and compares what answered it.
func (f *floor) want(session, want string, headers ...string) {
	f.t.Helper()
	if p := f.with(session, headers...); p.body != want {
		f.t.Errorf("session %q: got %d %s, want %s", session, p.status, p.body, want)
	}
}

// refused sends a turn that must be refused.
func (f *floor) refused(session string, status int, code string, headers ...string) {
	f.t.Helper()
	if p := f.with(session, headers...); p.status != status || p.code() != code {
		f.t.Errorf("session %q, headers %q: got %d %s, want %d %s", session, headers, p.status, p.body, status, code)
	}
}
