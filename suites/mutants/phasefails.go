package mutants

import (
	"errors"
	"net/http"
	"sync/atomic"
	"syscall"

	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// PDSEndsNewer lets a late failure end what is bound by then, in prefill.
func (Catalogue) PDSEndsNewer() Mutant {
	return prefilling("pds/ends-newer", "a failure in prefill ends whatever its session is bound to there by then", leasing(endsNewer), "AFF-013/prefill")
}

// resets is a mutant that takes a connection which a worker of one phase resets for its answer.
func resets(id, fault string, prefills bool, killedBy ...string) Mutant {
	return sending(id, fault, func(p *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
		resp, err := send.RoundTrip(r)
		if errors.Is(err, syscall.ECONNRESET) && prefill == prefills && p.Fleet.Split("mock") {
			return &http.Response{StatusCode: http.StatusBadGateway, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
				Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		}
		return resp, err
	}, killedBy...)
}

// PDSResetFails fails where prefill is reset.
func (Catalogue) PDSResetFails() Mutant {
	return resets("pds/prefill-reset-fails", "a request whose prefill worker resets its connection is tried at no other", true, "AFF-005/prefill-resets")
}

// PDSResetFailsDecode fails where decode is.
func (Catalogue) PDSResetFailsDecode() Mutant {
	return resets("pds/decode-reset-fails", "in two phases a request whose decode worker resets its connection is tried at no other", false, "AFF-005/decode-resets")
}

// silence is a rule that stays with a worker that says nothing.
func silence(o router.Outcome, d router.Decision) router.Decision {
	if o.Bound && o.Failure == router.TimedOut {
		return router.Decision{Action: router.Fail, Binding: router.Keep}
	}
	return d
}

// PDSSilenceKeeps stays with a silent prefill worker.
func (Catalogue) PDSSilenceKeeps() Mutant {
	return outcomes("pds/silence-keeps-prefill", "a session stays bound to a prefill worker that sends no headers in time", inPrefill, silence, "AFF-005/prefill-silent")
}

// PDSSilenceKeepsDecode stays with a silent decode worker.
func (Catalogue) PDSSilenceKeepsDecode() Mutant {
	return outcomes("pds/silence-keeps-decode", "in two phases a session stays bound to a decode worker that sends no headers in time", inDecode, silence, "AFF-005/decode-silent")
}

// PDSEmptyHangs waits for workers to come back.
func (Catalogue) PDSEmptyHangs() Mutant {
	var lacks atomic.Bool
	return Mutant{ID: "pds/empty-phase-hangs", Fault: "while one of two phases has no worker left, requests hang", KilledBy: []string{"RES-007/one-phase"},
		New: withWorkers(func(_ *router.Config, p *router.Parts) {
			find := p.Sessions
			p.Sessions = sessions(func(r *http.Request) string {
				if lacks.Load() {
					<-r.Context().Done()
				}
				return find.Session(r)
			})
		}, func(ws []target.Worker) []target.Worker {
			has := map[string]bool{}
			for _, w := range ws {
				has[w.Role] = true
			}
			lacks.Store(has["prefill"] != has["decode"])
			return ws
		})}
}
