package mutants

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/routeproof/routeproof/impl/router"
)

// fallsBackTo is a mutant that takes something else for the id of a request that has none.
func fallsBackTo(id, what string, to func(*http.Request) string, killedBy string) Mutant {
	return finding(id, "a request without a session id counts for the session that its "+what+" names", func(former router.Sessions) router.Sessions {
		return sessions(func(r *http.Request) string {
			if id := former.Session(r); id != "" {
				return id
			}
			return to(r)
		})
	}, killedBy)
}

func header(name string) func(*http.Request) string {
	return func(r *http.Request) string { return r.Header.Get(name) }
}

// RTEFallsBackAuth takes a customer for a session.
func (Catalogue) RTEFallsBackAuth() Mutant {
	return fallsBackTo("rte/falls-back-authorization", "Authorization", header("Authorization"), "RTE-001/one-at-a-time")
}

// RTEFallsBackCookie takes a browser for a session.
func (Catalogue) RTEFallsBackCookie() Mutant {
	return fallsBackTo("rte/falls-back-cookie", "Cookie", header("Cookie"), "RTE-001/bursts")
}

// RTEFallsBackForwarded takes a client's address for a session.
func (Catalogue) RTEFallsBackForwarded() Mutant {
	return fallsBackTo("rte/falls-back-x-forwarded-for", "X-Forwarded-For", header("X-Forwarded-For"), "RTE-001/blank-id")
}

// RTEFallsBackUser takes a user for a session.
func (Catalogue) RTEFallsBackUser() Mutant {
	m := fallsBackTo("rte/falls-back-user", "field user", nil, "RTE-001/blank-id")
	m.New = front(func(r *router.Router, p router.Parts) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if p.Sessions.Session(req) == "" && req.Method == http.MethodPost {
				raw, err := io.ReadAll(req.Body)
				if err != nil {
					panic(http.ErrAbortHandler) // the client has left
				}
				var body struct{ User string }
				_ = json.Unmarshal(raw, &body) // what is no JSON has no user
				req.Body = io.NopCloser(bytes.NewReader(raw))
				req.Header.Set("X-Session-ID", body.User)
			}
			r.ServeHTTP(w, req)
		})
	})
	return m
}
