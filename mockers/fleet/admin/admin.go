// Package admin serves the control of a mock fleet over HTTP, for drivers that
// are not Go. It belongs on a port of its own: faults on the workers' ports
// cannot then block it.
package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/routeproof/routeproof/mockers/fleet"
	"github.com/routeproof/routeproof/mockers/handoff"
	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/worker"
)

const maxBody = 64 << 10

// Worker is the JSON form of a worker.
type Worker struct {
	ID          string        `json:"id"`
	Host        string        `json:"host"`
	Port        int           `json:"port"`
	URL         string        `json:"url"`
	Models      []string      `json:"models"`
	Role        worker.Role   `json:"role"`
	Ranks       int           `json:"ranks"` // 0: the engine knows no ranks
	Incarnation int           `json:"incarnation"`
	Alive       bool          `json:"alive"`
	Probes      int           `json:"probes"`
	Fault       *worker.Fault `json:"fault"` // null for none
}

// Ledger is the JSON form of a part of the ledger. All times are nanoseconds
// since the ledger's origin, -1 while they have not come.
type Ledger struct {
	Attempts []ledger.Attempt `json:"attempts"`
	Next     int              `json:"next"` // the "since" that gives what comes after
}

// Handoffs is the JSON form of a part of the record of hand-offs.
type Handoffs struct {
	Handoffs  []handoff.Record `json:"handoffs"`
	Forgotten int              `json:"forgotten"` // asked for, but too old to be remembered
	Next      int              `json:"next"`      // the "since" that gives what comes after
}

// Handler serves, with errors as {"error": "..."}:
//
//	GET    /mock/v1/workers               all workers
//	POST   /mock/v1/workers               add one, of a shape like {"role":"prefill","ranks":4}; without a body an aggregated one
//	PUT    /mock/v1/workers/{id}/fault    set a fault, see worker.Fault
//	DELETE /mock/v1/workers/{id}/fault    clear it
//	POST   /mock/v1/workers/{id}/crash    crash it
//	POST   /mock/v1/workers/{id}/restart  restart it as the next incarnation
//	GET    /mock/v1/ledger?since=N        attempts from sequence number N on
//	GET    /mock/v1/handoffs?since=N      hand-offs from number N on
//
// An attempt may still change after it has been listed; one whose end is not
// "running" never does. A hand-off may change until it is consumed.
func Handler(f *fleet.Fleet) http.Handler {
	a := api{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /mock/v1/workers", a.list)
	mux.HandleFunc("POST /mock/v1/workers", a.add)
	mux.HandleFunc("PUT /mock/v1/workers/{id}/fault", a.on(setFault))
	mux.HandleFunc("DELETE /mock/v1/workers/{id}/fault", a.on(func(w *worker.Worker, _ *http.Request) (int, error) {
		return http.StatusInternalServerError, w.ClearFault()
	}))
	mux.HandleFunc("POST /mock/v1/workers/{id}/crash", a.on(func(w *worker.Worker, _ *http.Request) (int, error) {
		w.Crash()
		return 0, nil
	}))
	mux.HandleFunc("POST /mock/v1/workers/{id}/restart", a.on(func(w *worker.Worker, _ *http.Request) (int, error) {
		return http.StatusConflict, w.Restart()
	}))
	mux.HandleFunc("GET /mock/v1/ledger", a.ledger)
	mux.HandleFunc("GET /mock/v1/handoffs", a.handoffs)
	return mux
}

type api struct{ fleet *fleet.Fleet }

func (a api) list(rw http.ResponseWriter, _ *http.Request) {
	workers := []Worker{}
	for _, w := range a.fleet.Workers() {
		workers = append(workers, describe(w))
	}
	reply(rw, http.StatusOK, map[string]any{"workers": workers})
}

func (a api) add(rw http.ResponseWriter, r *http.Request) {
	var s worker.Shape
	err := readStrictly(r.Body, &s, `a shape like {"role":"prefill","ranks":4}`)
	if errors.Is(err, io.EOF) { // no body
		err = nil
	}
	if err = errors.Join(err, s.Validate()); err != nil {
		fail(rw, http.StatusBadRequest, err)
		return
	}
	w, err := a.fleet.Add(s)
	if err != nil {
		fail(rw, http.StatusInternalServerError, err)
		return
	}
	reply(rw, http.StatusCreated, describe(w))
}

func (a api) ledger(rw http.ResponseWriter, r *http.Request) {
	since, err := since(r)
	if err != nil {
		fail(rw, http.StatusBadRequest, err)
		return
	}
	l := Ledger{Attempts: a.fleet.Ledger().Snapshot(since)}
	l.Next = since + len(l.Attempts)
	reply(rw, http.StatusOK, l)
}

func (a api) handoffs(rw http.ResponseWriter, r *http.Request) {
	since, err := since(r)
	if err != nil {
		fail(rw, http.StatusBadRequest, err)
		return
	}
	var h Handoffs
	h.Handoffs, h.Forgotten = a.fleet.Handoffs().Snapshot(since)
	h.Next = since + h.Forgotten + len(h.Handoffs)
	reply(rw, http.StatusOK, h)
}

// since reads the one parameter there is.
func since(r *http.Request) (int, error) {
	for name := range r.URL.Query() {
		if name != "since" {
			return 0, fmt.Errorf("unknown parameter %q; the only one is since", name)
		}
	}
	s := r.URL.Query().Get("since")
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("since is %q; give a sequence number from 0 on", s)
	}
	return n, nil
}

// on makes a handler of an action on one worker. The action's status is the
// answer's where its error is not nil.
func (a api) on(action func(*worker.Worker, *http.Request) (int, error)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		w := a.fleet.Worker(r.PathValue("id"))
		if w == nil {
			fail(rw, http.StatusNotFound, fmt.Errorf("no worker %q; GET /mock/v1/workers lists them", r.PathValue("id")))
			return
		}
		if status, err := action(w, r); err != nil {
			fail(rw, status, err)
			return
		}
		reply(rw, http.StatusOK, describe(w))
	}
}

func setFault(w *worker.Worker, r *http.Request) (int, error) {
	f, err := readFault(r.Body)
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		return http.StatusBadRequest, err
	}
	return http.StatusConflict, w.SetFault(f)
}

func readFault(body io.Reader) (f worker.Fault, err error) {
	err = readStrictly(body, &f, `a fault like {"kind":"status","status":503,"count":1}`)
	return f, err
}

// readStrictly reads exactly one value of the kind described. A misspelt key is
// an error, for what it was to set would not be set. The error of an empty body
// wraps io.EOF.
func readStrictly(body io.Reader, into any, what string) error {
	dec := json.NewDecoder(io.LimitReader(body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the body is not %s: %w", what, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the body holds more than one JSON value; send exactly %s", what)
	}
	return nil
}

func describe(w *worker.Worker) Worker {
	return Worker{
		ID: w.ID(), Host: w.Host(), Port: w.Port(), URL: w.URL(), Models: w.Models(), Role: w.Shape().Role, Ranks: w.Shape().Ranks,
		Incarnation: w.Incarnation(), Alive: w.Alive(), Probes: w.Probes(), Fault: w.Fault(),
	}
}

func fail(rw http.ResponseWriter, status int, err error) {
	reply(rw, status, map[string]string{"error": err.Error()})
}

func reply(rw http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"cannot encode the answer"}`)
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	rw.Write(append(b, '\n')) // a caller that left needs no answer
}
