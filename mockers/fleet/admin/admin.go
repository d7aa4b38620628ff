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

// Handler serves, with errors as {"error": "..."}:
//
//	GET    /mock/v1/workers               all workers
//	POST   /mock/v1/workers               add one
//	PUT    /mock/v1/workers/{id}/fault    set a fault, see worker.Fault
//	DELETE /mock/v1/workers/{id}/fault    clear it
//	POST   /mock/v1/workers/{id}/crash    crash it
//	POST   /mock/v1/workers/{id}/restart  restart it as the next incarnation
//	GET    /mock/v1/ledger?since=N        attempts from sequence number N on
//
// An attempt may still change after it has been listed; one whose end is not
// "running" never does.
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

func (a api) add(rw http.ResponseWriter, _ *http.Request) {
	w, err := a.fleet.Add()
	if err != nil {
		fail(rw, http.StatusInternalServerError, err)
		return
	}
	reply(rw, http.StatusCreated, describe(w))
}

func (a api) ledger(rw http.ResponseWriter, r *http.Request) {
	for name := range r.URL.Query() {
		if name != "since" {
			fail(rw, http.StatusBadRequest, fmt.Errorf("unknown parameter %q; the only one is since", name))
			return
		}
	}
	since := 0
	if s := r.URL.Query().Get("since"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			fail(rw, http.StatusBadRequest, fmt.Errorf("since is %q; give a sequence number from 0 on", s))
			return
		}
		since = n
	}
	l := Ledger{Attempts: a.fleet.Ledger().Snapshot(since)}
	l.Next = since + len(l.Attempts)
	reply(rw, http.StatusOK, l)
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

// readFault is strict: a misspelt key would otherwise be a fault that does not
// do what was asked for.
func readFault(body io.Reader) (worker.Fault, error) {
	var f worker.Fault
	dec := json.NewDecoder(io.LimitReader(body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, fmt.Errorf("the body is not a fault like {\"kind\":\"status\",\"status\":503,\"count\":1}: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return f, errors.New("the body holds more than one JSON value; send exactly one fault")
	}
	return f, nil
}

func describe(w *worker.Worker) Worker {
	return Worker{
		ID: w.ID(), Host: w.Host(), Port: w.Port(), URL: w.URL(), Models: w.Models(),
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
