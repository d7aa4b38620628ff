package mutants

import (
	"net/http"
	"strings"

	"github.com/routeproof/routeproof/impl/router"
)

// relaying is a mutant that changes the headers of answers on their way to clients.
func relaying(id, fault string, f func(resp *http.Response), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy,
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				f(resp)
				return inner.Relay(w, resp)
			})
		})}
}

// firstOnly keeps one value per header.
func firstOnly(h http.Header) {
	for name, values := range h {
		h[name] = values[:min(1, len(values))]
	}
}

// RTEFirstAnswerValue keeps one value per header of an answer.
func (Catalogue) RTEFirstAnswerValue() Mutant {
	return relaying("rte/first-answer-header-value", "of a repeated response header only the first value reaches the client",
		func(resp *http.Response) { firstOnly(resp.Header) },
		"RTE-004/response", "RTE-004/decode", "RTE-004/prefill", "RTE-004/long", "RTE-004/long-decode")
}

// RTEFirstErrorValue does so in errors, which routers commonly write elsewhere.
func (Catalogue) RTEFirstErrorValue() Mutant {
	return relaying("rte/first-error-header-value", "of a repeated response header of an error answer only the first value reaches the client",
		func(resp *http.Response) {
			if resp.StatusCode >= 400 {
				firstOnly(resp.Header)
			}
		}, "RTE-004/response", "RTE-004/decode", "RTE-004/prefill")
}

// RTEFirstStreamValue does so in streams.
func (Catalogue) RTEFirstStreamValue() Mutant {
	return relaying("rte/first-stream-header-value", "of a repeated response header of a stream only the first value reaches the client",
		func(resp *http.Response) {
			if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
				firstOnly(resp.Header)
			}
		}, "RTE-004/response", "RTE-004/decode", "RTE-004/long", "RTE-004/long-decode")
}

// RTEJoinsCookies folds every header into one line.
func (Catalogue) RTEJoinsCookies() Mutant {
	return relaying("rte/joins-cookies", "the values of a repeated response header are joined by commas, cookies too",
		func(resp *http.Response) {
			for name, values := range resp.Header {
				resp.Header[name] = []string{strings.Join(values, ", ")}
			}
		}, "RTE-004/response", "RTE-004/decode")
}
