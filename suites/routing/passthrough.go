package routing

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// odd are body fields that a router which parses and writes JSON tends to lose.
func odd() map[string]any {
	return map[string]any{
		"seed":          json.RawMessage(`9007199254740993`), // 2^53+1: no float64 holds it
		"temperature":   json.RawMessage(`0.1`),
		"top_p":         json.RawMessage(`1e-7`),
		"logit_bias":    json.RawMessage(`{"50256": -100}`),
		"stop":          []string{"</s>", "\u2028", "é<&>"},
		"x_unknown":     json.RawMessage(`{"deep": [1, null, true, {"k": []}], "empty": {}, "none": null}`),
		"x_id":          json.RawMessage(`18446744073709551615`),
		"x_long_number": json.RawMessage(`3.14159265358979323846264338327950288`),
	}
}

// full is a request that carries what routers tend to lose.
func full(r *bench.Run, i int) bench.Req {
	q := bench.Req{
		Chunked: i%3 == 2, Query: "api-version=2024-06&tag=a%2Fb&tag=c&empty=",
		Prompt: "tabs\tand\nlines, \"quotes\", \\ and 漢字 and 😀",
		Extra:  odd(),
		Header: http.Header{
			"Authorization": {"Bearer sk-test-0123456789"}, "Baggage": {"userId=alice,serverNode=DF%2028"},
			"Accept": {"application/json, text/event-stream;q=0.9"}, "X-Custom": {"one", "two, three"}, "X-Tenant-Id": {"Team A"},
			"Openai-Organization": {"org-1"}, "User-Agent": {"routeproof-client/1"},
		},
	}
	if i%2 == 1 {
		q.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	if r.CookieFree() {
		q.Header.Set("Cookie", "theme=dark; consent=1")
	}
	return q
}

// agent adds the headers by which agents name their sessions (clause AFF-017): to the
// worker they are headers like any other, also where the router reads one of them.
func agent(r *bench.Run, h http.Header, id string) {
	for _, name := range []string{"X-Dynamo-Session-Id", "X-Claude-Code-Session-Id", "X-Claude-Code-Agent-Id", "Thread-Id", "Session-Id"} {
		if !r.Carries(name) {
			h.Set(name, id)
		}
	}
}

// RTE003Request: what a client sends arrives.
func (Cases) RTE003Request() bench.Case {
	const turns = 2 // a bound session's turns too
	return bench.Case{
		ID:          "RTE-003/request",
		Stimulus:    "requests with a query, unusual headers and body fields, half of them with the session headers of agents, with and without a Content-Length, keyless, in new and in bound sessions, in every shape",
		Requirement: "the worker's ledger shows the same path, headers and JSON value",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for turn := range turns {
				for i, s := range bench.Shapes() {
					for _, session := range []string{"", r.SessionID(i)} {
						q := full(r, i+turn).In(s)
						q.Session, q.Turn = session, turn
						if (i+turn)%2 == 0 {
							agent(r, q.Header, r.SessionID(100+i))
						}
						r.Do(ctx, q)
					}
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*turns*len(bench.Shapes())), judge.RequestKept(2*turns*len(bench.Shapes()))),
	}
}

// RTE003Retried: what a client sends arrives also at the second try.
func (Cases) RTE003Retried() bench.Case {
	return bench.Case{
		ID:          "RTE-003/retried",
		Stimulus:    "one worker of four refuses connections; such requests, keyless and in new sessions, in every shape",
		Requirement: "the worker that answers has received the same path, headers and JSON value",
		Alone:       true, Cost: 1500 * time.Millisecond, Claims: []string{"resilience.retry"},
		Drive: func(ctx context.Context, r *bench.Run) error {
			r.Fault(r.Workers()[1], bench.Fault{Kind: worker.Refuse})
			for i := range 48 {
				q := full(r, i).In(bench.Shapes()[i%8])
				if i/8%2 == 1 {
					q.Session = r.SessionID(i)
				}
				if i%12 == 0 { // by then a router that put the worker aside asks it again
					r.Pause(ctx, 400*time.Millisecond)
				}
				r.Do(ctx, q)
			}
			return nil
		},
		Judge: judge.RequestKept(48),
	}
}

// echo is a header value that the mock worker sends back.
const echo = "kept as sent; v=1"

// repeated are headers that workers send on two lines each. A cookie must not be folded
// into one with another, for its date has a comma.
func repeated() http.Header {
	return http.Header{
		"Set-Cookie":  {"mock-a=1; Path=/; Expires=Wed, 09 Jun 2100 10:18:14 GMT", "mock-b=2; HttpOnly"},
		"Vary":        {"Accept", "X-Mock-Echo"},
		"X-Mock-List": {"one", "two, three"},
	}
}

// RTE004Response: what a worker answers arrives, also when it is an error.
func (Cases) RTE004Response() bench.Case {
	statuses := []int{0, 400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 504}
	least := (2*len(statuses) + 1) * len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-004/response",
		Stimulus:    "successes, long answers and error answers (eleven of 400 to 504, with Retry-After) of workers, with cookies and other headers on several lines, keyless and in bound sessions, in every shape",
		Requirement: "the client has the worker's status, headers with all their values, and body bytes",
		Alone:       true, // error answers may count against workers
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				r.Do(ctx, bench.Req{Session: r.SessionID(i), Tokens: 1, Phase: "binds"}.In(s))
				for _, status := range statuses {
					for _, session := range []string{"", r.SessionID(i)} {
						q := bench.Req{Key: r.Key(), Session: session, Tokens: 12, Header: http.Header{"X-Mock-Echo": {echo}}}.In(s)
						p := bench.Plan{Header: repeated()}
						if status != 0 {
							p.Fault = &bench.Fault{Kind: worker.Status, Status: status, RetryAfter: 7}
						}
						r.Plan(q.Key, p)
						r.Do(ctx, q)
						r.Do(ctx, bench.Req{Tokens: 1, Phase: "between"}.In(s)) // successes between errors keep circuits closed
					}
				}
				// More than buffers commonly hold.
				long := bench.Req{Key: r.Key(), Tokens: 3000, Header: http.Header{"X-Mock-Echo": {echo}}}.In(s)
				r.Plan(long.Key, bench.Plan{Header: repeated()})
				r.Do(ctx, long)
			}
			return nil
		},
		Judge: judge.ResponseKept(least, "", "binds", "between"),
	}
}
