package mutants

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/pins"
	"github.com/routeproof/routeproof/impl/router"
)

// kept is an answer that is looked at before anybody gets it.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

func (k *kept) Write(b []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(b)
}

// answering is a mutant that answers questions in its own way; served hears who
// served a request, and edit changes the answer to a question.
func answering(id, fault string, make func() (served func(session, worker string), edit func(session string, k *kept)), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy, New: front(func(r *router.Router, p router.Parts) http.Handler {
		served, edit := make()
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			session := p.Sessions.Session(req)
			if req.Header.Get(router.QueryHeader) == "" {
				r.ServeHTTP(w, req)
				served(session, w.Header().Get("X-Mock-Worker"))
				return
			}
			k := &kept{header: w.Header()}
			r.ServeHTTP(k, req)
			edit(session, k)
			k.header.Set("Content-Length", strconv.Itoa(k.body.Len()))
			w.WriteHeader(k.status)
			_, _ = w.Write(k.body.Bytes()) // a client that has left needs no answer
		})
	})}
}

func nobody(_, _ string) {}

// AFFNotes answers from a note that hears of no departure.
func (Catalogue) AFFNotes() Mutant {
	return answering("aff/answers-from-notes", "a question about a session whose worker has left is answered with that worker",
		func() (func(string, string), func(string, *kept)) {
			var notes sync.Map
			return func(session, worker string) {
					if worker != "" {
						notes.Store(session, worker)
					}
				}, func(session string, k *kept) {
					if worker, ok := notes.Load(session); ok && k.status == http.StatusOK {
						k.body.Reset()
						fmt.Fprintf(&k.body, `{"worker":%q,"bound":true}`, worker)
					}
				}
		}, "AFF-014/http-dead")
}

// AFFOmitsZero leaves out what is zero.
func (Catalogue) AFFOmitsZero() Mutant {
	return answering("aff/omits-rank-zero", "the answer to a question leaves rank 0 out",
		func() (func(string, string), func(string, *kept)) {
			return nobody, func(_ string, k *kept) {
				text := bytes.Replace(k.body.Bytes(), []byte(`"rank":0,`), nil, 1)
				k.body.Reset()
				k.body.Write(text)
			}
		}, "AFF-014/ranks")
}

// AFFAnswersAll never refuses a question.
func (Catalogue) AFFAnswersAll() Mutant {
	return answering("aff/answers-all", "a question that would be refused as a turn is answered: not bound",
		func() (func(string, string), func(string, *kept)) {
			return nobody, func(_ string, k *kept) {
				if k.status/100 == 4 {
					k.status = http.StatusOK
					k.body.Reset()
					k.body.WriteString(`{"worker":"","bound":false}`)
				}
			}
		}, "AFF-014/pins-refused", "AFF-014/refused")
}

// AFFQuestionsUnpinned reads no pins in questions.
func (Catalogue) AFFQuestionsUnpinned() Mutant {
	return pinning("aff/questions-unpinned", "a question's pin is ignored",
		func(former router.Pins, h http.Header) (pins.Pins, error) {
			if h.Get(router.QueryHeader) != "" {
				return pins.Pins{}, nil
			}
			return former.Pins(h)
		}, "AFF-014/pinned", "AFF-014/pins-refused")
}

// AFFQuestionsBind takes a pinned question for a wish.
func (Catalogue) AFFQuestionsBind() Mutant {
	return Mutant{ID: "aff/pinned-questions-bind", Fault: "a question with a pin binds its session there", KilledBy: []string{"AFF-014/pinned"},
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Affinity
			p.Affinity = queries{inner, func(a affinity.Ask) (affinity.Target, bool, error) {
				at, bound, err := inner.Query(a)
				if err == nil && !bound && a.Pin.Worker != "" {
					if l, err := inner.Acquire(context.Background(), a); err == nil {
						_ = l.Commit(a.Pin)
						l.Release()
					}
				}
				return at, bound, err
			}}
		})}
}
