package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// fronted is a router with something before it.
type fronted struct {
	target.Local
	server *http.Server
}

func (f fronted) Serve(l net.Listener) error { return f.server.Serve(l) }

func (f fronted) Shutdown(ctx context.Context) error {
	err := f.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, f.server.Close())
	}
	return errors.Join(err, f.Local.Shutdown(ctx))
}

// front makes a router with something before it; around gets the reference.
func front(around func(r *router.Router, p router.Parts) http.Handler) target.LocalFactory {
	return func(c target.LocalConfig) (target.Local, error) {
		cfg, err := target.ReferenceConfig(c)
		if err != nil {
			return nil, err
		}
		parts, err := router.DefaultParts(cfg)
		if err != nil {
			return nil, err
		}
		r, err := router.New(cfg, parts)
		if err != nil {
			return nil, err
		}
		return fronted{target.LocalRouter(r), &http.Server{Handler: around(r, parts), ReadHeaderTimeout: 10 * time.Second}}, nil
	}
}

// refusal is an error answer that the router itself gives.
type refusal struct {
	status int
	header http.Header
	body   []byte
}

// refusing writes such answers as edit leaves them, and all others as they are.
type refusing struct {
	http.ResponseWriter
	edit func(*refusal)
	own  *refusal // under way
}

func (w *refusing) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *refusing) WriteHeader(status int) {
	if status >= 400 && w.Header().Get("X-Mock-Worker") == "" {
		w.own = &refusal{status: status, header: w.Header()}
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *refusing) Write(b []byte) (int, error) {
	if w.own != nil {
		w.own.body = append(w.own.body, b...)
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// finish writes what was kept.
func (w *refusing) finish() {
	if w.own == nil {
		return
	}
	w.edit(w.own)
	w.Header().Set("Content-Length", strconv.Itoa(len(w.own.body)))
	w.ResponseWriter.WriteHeader(w.own.status)
	_, _ = w.ResponseWriter.Write(w.own.body) // a client that has left needs no answer
}

// refuses is a mutant whose own errors are wrong.
func refuses(id, fault string, edit func(*refusal), killedBy ...string) Mutant {
	return refusesTo(id, fault, func(router.Parts, *http.Request) func(*refusal) { return edit }, killedBy...)
}

// refusesTo is a mutant whose own errors are wrong in answer to some requests; edit sees
// each request before it is served, and may give nothing.
func refusesTo(id, fault string, edit func(router.Parts, *http.Request) func(*refusal), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy, New: front(func(r *router.Router, p router.Parts) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			wrong := edit(p, req)
			if wrong == nil {
				r.ServeHTTP(w, req)
				return
			}
			own := &refusing{ResponseWriter: w, edit: wrong}
			r.ServeHTTP(own, req)
			own.finish()
		})
	})}
}

// code says which kind of error it is.
func (f *refusal) code() string {
	var whole struct{ Error struct{ Code string } }
	if json.Unmarshal(f.body, &whole) != nil {
		return ""
	}
	return whole.Error.Code
}

// RTEPlainErrors answers as net/http does.
func (Catalogue) RTEPlainErrors() Mutant {
	return refuses("rte/plain-errors", "what the router refuses is answered in plain text",
		func(f *refusal) {
			f.header.Set("Content-Type", "text/plain; charset=utf-8")
			f.body = []byte(http.StatusText(f.status))
		}, "RTE-006/unknown-model", "RTE-006/session-id", "RTE-006/pins", "RTE-006/full-table", "RTE-006/connection-failed", "RTE-006/header-timeout", "RTE-006/no-worker")
}

// RTENumericCodes says the status twice.
func (Catalogue) RTENumericCodes() Mutant {
	return refuses("rte/numeric-codes", "the code of an error object is its status, as a number",
		func(f *refusal) {
			f.body = bytes.Replace(f.body, []byte(`"code":"`+f.code()+`"`), []byte(`"code":`+strconv.Itoa(f.status)), 1)
		}, "RTE-006/unknown-model", "RTE-006/connection-failed")
}

// becomes is a mutant that answers errors of a code with another status.
func becomes(id, fault, code string, status int, killedBy ...string) Mutant {
	return refuses(id, fault, func(f *refusal) {
		if f.code() == code {
			f.status = status
		}
	}, killedBy...)
}

// RTEUnknown400 blames the whole request.
func (Catalogue) RTEUnknown400() Mutant {
	return becomes("rte/unknown-model-400", "an unknown model is answered 400", "model_not_found", 400, "RTE-006/unknown-model")
}

// RTEInvalid422 knows a status of its own.
func (Catalogue) RTEInvalid422() Mutant {
	return becomes("rte/invalid-422", "what is invalid in a request is answered 422", "invalid_argument", 422, "RTE-006/session-id", "RTE-006/pins")
}

// RTETimeout502 does not tell silence from a broken connection.
func (Catalogue) RTETimeout502() Mutant {
	return becomes("rte/timeout-502", "response headers that do not come in time are answered 502", "header_timeout", 502, "RTE-006/header-timeout")
}

// RTEBroken500 blames itself.
func (Catalogue) RTEBroken500() Mutant {
	return becomes("rte/connection-failed-500", "connections that broke at every worker are answered 500", "connection_failed", 500, "RTE-006/connection-failed")
}

// RTEFull429 takes a full table for a client that is too fast.
func (Catalogue) RTEFull429() Mutant {
	return becomes("rte/full-table-429", "a new session for which there is no room is answered 429", "resource_exhausted", 429, "RTE-006/full-table", "AFF-009/full")
}

// RTENoRetryAfter does not say when.
func (Catalogue) RTENoRetryAfter() Mutant {
	return refuses("rte/no-retry-after", "a 503 does not say when to come back",
		func(f *refusal) { f.header.Del("Retry-After") }, "RTE-006/no-worker", "RTE-006/full-table", "AFF-009/full")
}

// RESEmptyWaits keeps requests until somebody comes.
func (Catalogue) RESEmptyWaits() Mutant {
	return Mutant{ID: "res/empty-waits", Fault: "a request for which there is no worker waits until there is one", KilledBy: []string{"RES-007/no-worker"},
		New: front(func(r *router.Router, p router.Parts) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				for p.Fleet.Size() == 0 && req.Context().Err() == nil && req.Method == http.MethodPost {
					select {
					case <-time.After(5 * time.Millisecond):
					case <-req.Context().Done():
					}
				}
				r.ServeHTTP(w, req)
			})
		})}
}

// RESEmptyInitializes forgets to give a session back.
func (Catalogue) RESEmptyInitializes() Mutant {
	return Mutant{ID: "res/empty-keeps-initializing", Fault: "a new session that finds no worker goes on initializing for ever", KilledBy: []string{"RES-007/no-worker"},
		New: with(func(_ *router.Config, p *router.Parts) {
			fleet, find := p.Fleet, p.Models
			p.Models = models(func(body []byte, known []string) (string, error) {
				if len(known) == 0 { // so that it comes to choose a worker
					var asked struct{ Model string }
					err := json.Unmarshal(body, &asked)
					return asked.Model, err
				}
				return find.Model(body, known)
			})
			acquire(p, func(former acquiring, ctx context.Context, a affinity.Ask) (affinity.Lease, error) {
				l, err := former(ctx, a)
				if err != nil {
					return l, err
				}
				return around(l, func(h *held) {
					h.release = func() {
						if _, bound := l.Bound(); bound || fleet.Size() > 0 {
							l.Release()
						}
					}
				}), nil
			})
		})}
}

// RESLastStays does not believe that everybody has left.
func (Catalogue) RESLastStays() Mutant {
	return change("res/last-stays", "a fleet without workers is taken for a mistake, and the former one kept", []string{"RES-007/no-worker", "RTE-006/no-worker"},
		func(was, is []target.Worker) []target.Worker {
			if len(is) == 0 {
				return was
			}
			return is
		})
}
