package mutants

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/impl/router"
)

// watched is a body whose reads put off its end.
type watched struct {
	io.ReadCloser
	end   *time.Timer
	after time.Duration
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.end.Reset(w.after)
	return n, err
}

// RTECutsSilence takes a worker that says nothing for one that is lost.
func (Catalogue) RTECutsSilence() Mutant {
	return Mutant{ID: "rte/cuts-silence", Fault: "an answer that says nothing for five seconds is cut off", KilledBy: []string{"RTE-004/long"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Transport
			p.Transport = sends(func(r *http.Request) (*http.Response, error) {
				const most = 5 * time.Second
				ctx, cancel := context.WithCancel(r.Context())
				resp, err := inner.RoundTrip(r.WithContext(ctx))
				if err != nil {
					cancel()
					return nil, err
				}
				end := time.AfterFunc(most, cancel)
				resp.Body = &closer{body: watched{resp.Body, end, most}, done: func() { end.Stop(); cancel() }}
				return resp, nil
			})
		})}
}
