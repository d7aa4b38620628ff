package mutants

import (
	"net/http"

	"github.com/routeproof/routeproof/impl/router"
)

// PDSPrefillBare prefills at the path alone.
func (Catalogue) PDSPrefillBare() Mutant {
	return sending("pds/prefill-no-query", "the prefill worker is not sent the query",
		func(_ *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			if prefill {
				u := *r.URL
				u.RawQuery, r.URL = "", &u
			}
			return send.RoundTrip(r)
		}, "RTE-003/decode")
}

// PDSPrefillNameless prefills for nobody in particular.
func (Catalogue) PDSPrefillNameless() Mutant {
	return sending("pds/prefill-no-auth", "the prefill worker is not sent the header Authorization",
		func(_ *router.Parts, send http.RoundTripper, r *http.Request, prefill bool) (*http.Response, error) {
			if prefill {
				r.Header.Del("Authorization")
			}
			return send.RoundTrip(r)
		}, "RTE-003/decode")
}
