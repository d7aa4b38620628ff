package mutants

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/routeproof/routeproof/impl/router"
)

// takes is a mutant that takes a model's name that it does not know for another.
func takes(id, fault string, f func(name string) string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: []string{"RTE-002/unknown-model"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Models
			p.Models = models(func(body []byte, known []string) (string, error) {
				model, err := inner.Model(body, known)
				if err == nil {
					return model, nil
				}
				var asked struct{ Model string }
				if json.Unmarshal(body, &asked) == nil {
					if like := f(asked.Model); slices.Contains(known, like) {
						return like, nil
					}
				}
				return "", err
			})
		})}
}

// RTETrimsModel is tidy.
func (Catalogue) RTETrimsModel() Mutant {
	return takes("rte/trims-model", "blanks around a model's name do not count", strings.TrimSpace)
}

// RTECutsTag knows of tags.
func (Catalogue) RTECutsTag() Mutant {
	return takes("rte/cuts-tag", "what follows a colon in a model's name does not count",
		func(name string) string { own, _, _ := strings.Cut(name, ":"); return own })
}

// RTEStripsAgents keeps to itself what it has read.
func (Catalogue) RTEStripsAgents() Mutant {
	return Mutant{ID: "rte/strips-agents", Fault: "the session headers of agents do not reach the worker", KilledBy: []string{"RTE-003/request"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				for _, name := range router.DefaultSessionHeaders() {
					if !strings.EqualFold(name, "X-Session-ID") {
						r.Header.Del(name)
					}
				}
				return inner.RoundTrip(r)
			})
		})}
}

// RTECompresses saves bytes.
func (Catalogue) RTECompresses() Mutant {
	return Mutant{ID: "rte/compresses", Fault: "an answer of known length is compressed for a client that accepts gzip", KilledBy: []string{"RTE-004/encodings"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				resp, err := inner.RoundTrip(r)
				if err != nil || resp.ContentLength <= 0 || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || resp.Header.Get("Content-Encoding") != "" {
					return resp, err
				}
				defer resp.Body.Close()
				var out bytes.Buffer
				z := gzip.NewWriter(&out)
				if _, err := io.Copy(z, resp.Body); err != nil {
					return nil, err
				}
				if err := z.Close(); err != nil {
					return nil, err
				}
				resp.Body, resp.ContentLength = io.NopCloser(&out), int64(out.Len())
				resp.Header.Set("Content-Encoding", "gzip")
				resp.Header.Set("Content-Length", strconv.Itoa(out.Len()))
				return resp, nil
			})
		})}
}
