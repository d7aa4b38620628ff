package mutants_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// told is the reference, which is told in its header what another finds in requests.
type told struct {
	target.Local
	server *http.Server
}

func (l told) Serve(n net.Listener) error { return l.server.Serve(n) }

func (l told) Shutdown(ctx context.Context) error {
	_ = l.server.Close() // nothing is under way when a case has ended
	return l.Local.Shutdown(ctx)
}

func telling(find func(r *http.Request, body []byte) string) target.LocalFactory {
	return func(c target.LocalConfig) (target.Local, error) {
		c.Session.Carrier = target.Carrier{Header: "X-Session-ID"}
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
		return told{target.LocalRouter(r), &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				panic(http.ErrAbortHandler) // the client has left
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
			if id := find(req, body); id != "" {
				req.Header.Set("X-Session-ID", id)
			}
			r.ServeHTTP(w, req)
		})}}, nil
	}
}

// matched finds what the first group matches.
func matched(pattern string) func(string) string {
	re := regexp.MustCompile(pattern)
	return func(s string) string {
		if m := re.FindStringSubmatch(s); m != nil {
			return m[1]
		}
		return ""
	}
}

// Routers that look for the session where the manifest says, and find it or not.
func TestASessionIsFoundAmongOthersOfItsKind(t *testing.T) {
	cookie := func(find func(string) string) func(*http.Request, []byte) string {
		return func(r *http.Request, _ []byte) string { return find(r.Header.Get("Cookie")) }
	}
	body := func(find func(string) string) func(*http.Request, []byte) string {
		return func(_ *http.Request, b []byte) string { return find(string(b)) }
	}
	const sessions, turns = 16, 8
	c := bench.Case{
		ID: "AFF-001/carriers",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for t := range turns {
				for _, i := range r.Rand().Perm(sessions) { // lest a strict rotation fall into step
					r.Do(ctx, bench.Req{Session: r.SessionID(i), Turn: t, Tokens: 1}.In(bench.Shapes()[(i+t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(sessions*turns), judge.Sticks(sessions), judge.Placed(sessions-1)),
	}.Normal()
	inCookie, inBody := target.Carrier{Cookie: "sid"}, target.Carrier{Body: "session_id"}
	for _, x := range []struct {
		name    string
		carrier target.Carrier
		find    func(*http.Request, []byte) string
		want    report.Verdict
	}{
		{"a cookie", inCookie, func(r *http.Request, _ []byte) string {
			c, err := r.Cookie("sid")
			if err != nil {
				return ""
			}
			return c.Value
		}, report.Pass},
		{"the first cookie", inCookie, cookie(matched(`^sid=([^;]*)`)), report.Fail},
		{"the last cookie", inCookie, cookie(matched(`sid=([^;]*)$`)), report.Fail},
		{"the rest of the cookies", inCookie, cookie(matched(`sid=(.*)`)), report.Fail},
		{"a field", inBody, func(_ *http.Request, b []byte) string {
			var x struct {
				ID string `json:"session_id"`
			}
			_ = json.Unmarshal(b, &x) // what is no object has none
			return x.ID
		}, report.Pass},
		{"text like a field", inBody, body(matched(`"session_id":"([^"]*)"`)), report.Fail},
		{"text in a string", inBody, func(_ *http.Request, b []byte) string {
			return matched(`"session_id":"([^"]*)"`)(strings.ReplaceAll(string(b), `\`, ""))
		}, report.Fail},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := target.Reference([]string{bench.ComponentClaim})
			m.Session.Carrier = x.carrier
			pool := bench.NewPool(bench.Env{Manifest: m, Local: telling(x.find)})
			out := pool.Exec(t.Context(), c, 1, func(*history.History) error { return nil })
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
			if out.Verdict != x.want {
				t.Errorf("%s, not %s: %s %+v", out.Verdict, x.want, out.Detail, out.Finding)
			}
		})
	}
}
