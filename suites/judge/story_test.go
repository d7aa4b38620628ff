package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

const ms = time.Millisecond

// story is a hand-written history. It is told in order: every request begins
// 10 ms after the one before, and all goes well unless an option says otherwise.
type story struct {
	history.History
	now time.Duration
}

// of begins the story of a fleet.
func of(workers ...string) *story {
	return &story{History: history.History{
		Workers: workers, Session: history.Session{Kind: "table", IdleTTL: time.Second}, Convergence: time.Second,
	}}
}

// told is one request with its attempts, before it is written down.
type told struct {
	*history.Request
	tries []ledger.Attempt
}

// last is the attempt whose answer the client got; nil without any.
func (q *told) last() *ledger.Attempt {
	if len(q.tries) == 0 {
		return nil
	}
	return &q.tries[len(q.tries)-1]
}

// opt changes a request that went well into one that is told otherwise.
type opt func(*told)

// ask tells of a keyless request; workers names those that it was tried at,
// apart by blanks, the last of which answered.
func (h *story) ask(workers string, opts ...opt) { h.turn("", workers, opts...) }

// turn tells of a request in a session.
func (h *story) turn(session, workers string, opts ...opt) {
	key := fmt.Sprintf("k-%d", len(h.Requests)+1)
	r := history.Request{
		Key: key, Session: session, Endpoint: history.Chat, Model: "mock", Path: "/v1/chat/completions",
		SentHeader: map[string][]string{"X-Request-Id": {key}}, SentBody: []byte(`{"model":"mock"}`), SentBodyBytes: 16,
		Sent: h.now, HeadersAt: h.now + 4*ms, Ended: h.now + 6*ms,
		Status: 200, Header: map[string][]string{"X-Mock-Worker": {"w"}}, Body: []byte(`{"text":"` + key + ` amber"}`), BodyBytes: 24, BodySHA256: key,
		End: history.Complete,
	}
	q := &told{Request: &r}
	for _, w := range strings.Fields(workers) {
		q.tries = append(q.tries, ledger.Attempt{
			Key: key, Worker: w, Incarnation: 1, Method: "POST", Target: r.Path, Endpoint: r.Endpoint, Header: r.SentHeader,
			Body: r.SentBody, BodyBytes: r.SentBodyBytes, Model: "mock", Arrived: h.now + ms, HeadersAt: ledger.Unset,
			AbortSeen: ledger.Unset, Ended: h.now + 2*ms, End: ledger.Reset,
		})
	}
	if a := q.last(); a != nil {
		a.Status, a.HeadersAt, a.Ended, a.End, a.SentSHA256, a.BytesSent = 200, h.now+3*ms, h.now+5*ms, ledger.Complete, key, 24
	}
	for _, o := range opts {
		o(q)
	}
	h.Requests = append(h.Requests, r)
	for _, a := range q.tries {
		a.Seq = len(h.Attempts)
		h.Attempts = append(h.Attempts, a)
	}
	h.now += 10 * ms
}

func (h *story) mark(what, worker, text string) {
	h.Marks = append(h.Marks, history.Mark{At: h.now, What: what, Worker: worker, Text: text})
}

func (h *story) pause(d time.Duration) { h.now += d }

// in puts the request into a phase.
func in(phase string) opt { return func(q *told) { q.Phase = phase } }

func completions(q *told) { q.Endpoint = history.Completions }

// status is what the worker answered, and so its client.
func status(code int) opt {
	return func(q *told) {
		q.Status = code
		if a := q.last(); a != nil {
			a.Status = code
		}
	}
}

// answered is what the client alone was told.
func answered(code int) opt { return func(q *told) { q.Status = code } }

// ended is how the client's request ended. Where no answer came, none is told of.
func ended(e history.End) opt {
	return func(q *told) {
		q.End = e
		if e == history.Failed || e == history.Timeout {
			q.Status, q.HeadersAt, q.Events, q.Body, q.BodyBytes = 0, history.Unset, nil, nil, 0
		}
	}
}

// broke is how the last attempt ended.
func broke(e ledger.End) opt { return func(q *told) { q.last().End = e } }

// took is how long the client waited.
func took(d time.Duration) opt { return func(q *told) { q.Ended = q.Sent + d } }

// streamed makes it a stream of n events, 50 ms apart, each at the client 1 ms
// after the worker sent it, up to [DONE].
func streamed(n int) opt {
	return func(q *told) {
		q.Stream, q.Done = true, true
		for i := range n {
			at, data := q.Sent+3*ms+time.Duration(i)*50*ms, fmt.Sprintf(`{"text":"%d"}`, i)
			if i == n-1 {
				data = "[DONE]"
			}
			if a := q.last(); a != nil {
				a.Events = append(a.Events, at)
				a.Ended = at + ms
			}
			q.Events = append(q.Events, history.Event{At: at + ms, Data: data})
			q.Ended = at + 2*ms
		}
	}
}

// late delays the events from number i on.
func late(i int, by time.Duration) opt {
	return func(q *told) {
		for ; i < len(q.Events); i++ {
			q.Events[i].At += by
		}
		q.Ended += by
	}
}

// cutAfter lets the client see n events and no [DONE].
func cutAfter(n int) opt {
	return func(q *told) { q.Events, q.Done = q.Events[:n], false }
}

// trial is a story and what a judge must make of it: want is empty for a pass,
// else the kind of finding and words of it.
type trial struct {
	name string
	tell func(h *story)
	want string
}

const (
	violated = "violation: "
	doubt    = "inconclusive: "
)

// try puts a judge to its trials. Every judge must also leave the history as it
// was and find the same a second time.
func try(t *testing.T, j judge.Judge, trials ...trial) {
	t.Helper()
	for _, c := range trials {
		t.Run(c.name, func(t *testing.T) {
			h := of("w0", "w1", "w2", "w3")
			if c.tell != nil {
				c.tell(h)
			}
			before := dump(t, h.History)
			f := j(&h.History)
			if again := j(&h.History); dump(t, f) != dump(t, again) {
				t.Errorf("the judge found %s and then %s", dump(t, f), dump(t, again))
			}
			if dump(t, h.History) != before {
				t.Error("the judge changed the history")
			}
			got := ""
			switch {
			case len(f.Violations) > 0:
				got = violated
				for _, v := range f.Violations {
					got += v.String() + "; "
				}
			case f.Inconclusive != "":
				got = doubt + f.Inconclusive
			}
			kind, words, _ := strings.Cut(c.want, ": ")
			if c.want == "" && got != "" || !strings.HasPrefix(got, kind) || !strings.Contains(got, words) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func dump(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
