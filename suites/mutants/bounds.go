package mutants

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"

	"github.com/routeproof/routeproof/impl/router"
)

// BNDAnyID serves ids of any length.
func (Catalogue) BNDAnyID() Mutant {
	return rekey("bnd/any-id", "session ids of any length are served", []string{"BND-001/session-id"}, func(id string) string {
		if len(id) <= 256 {
			return id
		}
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])
	})
}

// BNDSmallBodies has a web server's body limit.
func (Catalogue) BNDSmallBodies() Mutant {
	return Mutant{
		ID: "bnd/small-bodies", Fault: "bodies over 256 KiB are refused",
		KilledBy: []string{"BND-002/large-prompt"},
		New:      with(func(cfg *router.Config, _ *router.Parts) { cfg.MaxBody = 256 << 10 }),
	}
}

// BNDSmallChunks trusts a length that it is told, and has a small buffer otherwise.
func (Catalogue) BNDSmallChunks() Mutant {
	const unknown = "X-Mutant-Length-Unknown"
	return Mutant{
		ID: "bnd/small-chunked", Fault: "bodies over 256 KiB are refused if they come without a Content-Length",
		KilledBy: []string{"BND-002/large-prompt"},
		New: with(func(_ *router.Config, p *router.Parts) {
			find, send := p.Sessions, p.Transport
			p.Sessions = sessions(func(r *http.Request) string {
				if r.ContentLength < 0 {
					r.Header.Set(unknown, "yes")
				}
				return find.Session(r)
			})
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				if r.Header.Get(unknown) == "" {
					return send.RoundTrip(r)
				}
				r.Header.Del(unknown)
				if r.ContentLength <= 256<<10 {
					return send.RoundTrip(r)
				}
				return &http.Response{StatusCode: http.StatusRequestEntityTooLarge, ProtoMajor: 1, ProtoMinor: 1, Request: r,
					Header: http.Header{"Content-Length": {"0"}}, Body: http.NoBody}, nil
			})
		}),
	}
}

// BNDSixteen has room for sixteen answers.
func (Catalogue) BNDSixteen() Mutant {
	return few("bnd/sixteen-at-a-time", "at most sixteen answers are under way at once; the others wait", 16, func(*http.Request) string { return "" })
}

// BNDFiftyEach has a pool of connections for each worker.
func (Catalogue) BNDFiftyEach() Mutant {
	return few("bnd/fifty-per-worker", "at most fifty answers of a worker are under way at once; the others wait", 50, func(r *http.Request) string { return r.URL.Host })
}

// few is a mutant that has room for so many answers of those that share a name.
func few(id, fault string, most int, name func(*http.Request) string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: []string{"BND-003/many-streams"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			var mu sync.Mutex
			rooms := map[string]chan struct{}{}
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				mu.Lock()
				room := rooms[name(r)]
				if room == nil {
					room = make(chan struct{}, most)
					rooms[name(r)] = room
				}
				mu.Unlock()
				select {
				case room <- struct{}{}:
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				resp, err := inner.RoundTrip(r)
				if err != nil {
					<-room
					return nil, err
				}
				resp.Body = &closer{body: resp.Body, done: func() { <-room }}
				return resp, nil
			})
		})}
}
