package mutants

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// sessionOf is the session that a request to a worker carries.
func sessionOf(r *http.Request) string {
	if r == nil {
		return ""
	}
	return r.Header.Get("X-Session-ID")
}

// unbinding makes a router whose sessions can be made to forget their worker, each by
// its id.
func unbinding(p *router.Parts) (unbind func(session string)) {
	var mu sync.Mutex
	lives := map[string]int{}
	p.Affinity = renames{p.Affinity, func(k affinity.Key) affinity.Key {
		mu.Lock()
		defer mu.Unlock()
		k.Tenant += strings.Repeat("#", lives[k.Session])
		return k
	}}
	return func(session string) {
		mu.Lock()
		defer mu.Unlock()
		lives[session]++
	}
}

// AFFUnbindsFirst takes a first answer that does not end well for none.
func (Catalogue) AFFUnbindsFirst() Mutant {
	return Mutant{ID: "aff/unbinds-first-answer", Fault: "a session whose first answer is left or breaks off after its headers is not bound",
		KilledBy: []string{"AFF-010/first-turn-left", "AFF-010/first-turn-broken"},
		New: with(func(_ *router.Config, p *router.Parts) {
			unbind, inner := unbinding(p), p.Relay
			var seen sync.Map
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				id := sessionOf(resp.Request)
				_, later := seen.LoadOrStore(id, true)
				err := inner.Relay(w, resp)
				if err != nil && id != "" && !later {
					unbind(id)
				}
				return err
			})
		})}
}

// listens is a body that somebody listens to.
type listens struct {
	io.ReadCloser
	hears func([]byte)
}

func (l listens) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.hears(p[:n])
	return n, err
}

// AFFUnbindsErrorEvents reads what it relays.
func (Catalogue) AFFUnbindsErrorEvents() Mutant {
	return Mutant{ID: "aff/unbinds-error-events", Fault: "an error event in a stream ends its session's binding",
		KilledBy: []string{"AFF-010/error-event", "AFF-010/first-turn-broken", "AFF-010/decode"},
		New: with(func(_ *router.Config, p *router.Parts) {
			unbind, inner := unbinding(p), p.Relay
			p.Relay = relays(func(w http.ResponseWriter, resp *http.Response) error {
				if id := sessionOf(resp.Request); id != "" && resp.StatusCode == http.StatusOK {
					resp.Body = listens{resp.Body, func(b []byte) {
						if bytes.Contains(b, []byte(`data: {"error"`)) {
							unbind(id)
						}
					}}
				}
				return inner.Relay(w, resp)
			})
		})}
}

// misspelt is a connection on which a header counts in one spelling alone.
type misspelt struct {
	net.Conn
	header *regexp.Regexp
	known  string
}

func (c misspelt) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	for _, at := range c.header.FindAllIndex(b[:n], -1) {
		if name := b[at[0]+2 : at[1]-1]; string(name) != c.known {
			name[0] = 'q' // a header of another name
		}
	}
	return n, err
}

// spelling is a listener of such connections.
type spelling struct {
	net.Listener
	header *regexp.Regexp
	known  string
}

func (l spelling) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return misspelt{c, l.header, l.known}, nil
}

// spells is a router behind such a listener.
type spells struct {
	target.Local
	known string
}

func (s spells) Serve(l net.Listener) error {
	return s.Local.Serve(spelling{l, regexp.MustCompile(`(?i)\r\n` + regexp.QuoteMeta(s.known) + `:`), s.known})
}

// AFFOneSpelling compares a name to the letter.
func (Catalogue) AFFOneSpelling() Mutant {
	return Mutant{ID: "aff/one-spelling", Fault: "the header thread-id is known as Thread-Id alone", KilledBy: []string{"AFF-017/each-header"},
		New: func(c target.LocalConfig) (target.Local, error) {
			l, err := target.ReferenceFactory(c)
			return spells{l, "Thread-Id"}, err
		}}
}

// AFFFirstUsable looks through a header's values.
func (Catalogue) AFFFirstUsable() Mutant {
	return finding("aff/first-value-that-is-not-blank", "of a repeated header the first value that is not blank counts",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				twisted := r.Clone(r.Context())
				for _, values := range twisted.Header {
					for _, v := range values {
						if strings.Trim(v, " \t") != "" {
							values[0] = v
							break
						}
					}
				}
				return former.Session(twisted)
			})
		}, "AFF-017/precedence")
}

// AFFPassesOverLong looks for an id that is short enough.
func (Catalogue) AFFPassesOverLong() Mutant {
	return finding("aff/passes-over-long", "an id that is too long counts as absent where another header has one",
		func(former router.Sessions) router.Sessions {
			return sessions(func(r *http.Request) string {
				short := r.Clone(r.Context())
				for name, values := range short.Header {
					if len(values[0]) > affinity.MaxSessionBytes {
						delete(short.Header, name)
					}
				}
				if id := former.Session(short); id != "" {
					return id
				}
				return former.Session(r)
			})
		}, "AFF-017/too-long")
}
