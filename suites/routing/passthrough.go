package routing

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/routeproof/routeproof/mockers/worker"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
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

// RTE003Request: what a client sends arrives.
func (Cases) RTE003Request() bench.Case {
	return bench.Case{
		ID:          "RTE-003/request",
		Stimulus:    "requests with a query, unusual headers and body fields, with and without a Content-Length, keyless and in a session, in every shape",
		Requirement: "the worker's ledger shows the same path, headers and JSON value",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				for _, session := range []string{"", r.SessionID(i)} {
					r.Do(ctx, bench.Req{
						Session: session, Chunked: i%3 == 2, Query: "api-version=2024-06&tag=a%2Fb&tag=c&empty=",
						Prompt: "tabs\tand\nlines, \"quotes\", \\ and 漢字 and 😀",
						Extra:  odd(),
						Header: http.Header{
							"Authorization": {"Bearer sk-test-0123456789"}, "Baggage": {"userId=alice,serverNode=DF%2028"},
							"Accept": {"application/json, text/event-stream;q=0.9"}, "X-Custom": {"one", "two, three"}, "X-Tenant-Id": {"Team A"},
							"Openai-Organization": {"org-1"}, "User-Agent": {"routeproof-client/1"},
						},
					}.In(s))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(2*len(bench.Shapes())), judge.RequestKept(2*len(bench.Shapes()))),
	}
}

// echo is a header value that the mock worker sends back.
const echo = "kept as sent; v=1"

// RTE004Response: what a worker answers arrives, also when it is an error.
func (Cases) RTE004Response() bench.Case {
	statuses := []int{0, 400, 404, 422, 429, 500, 503}
	return bench.Case{
		ID:          "RTE-004/response",
		Stimulus:    "successes, long streams and error answers (400, 404, 422, 429, 500, 503 with Retry-After) of workers, in every shape",
		Requirement: "the client has the worker's status, headers and body bytes",
		Alone:       true, // error answers may count against workers
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				for _, status := range statuses {
					for j := range 2 {
						q := bench.Req{Key: r.Key(), Tokens: 12, Header: http.Header{"X-Mock-Echo": {echo}}}.In(s)
						if j == 1 {
							q.Session = r.SessionID(i*100 + status)
						}
						if status != 0 {
							r.Plan(q.Key, bench.Plan{Fault: &bench.Fault{Kind: worker.Status, Status: status, RetryAfter: 7}})
						}
						r.Do(ctx, q)
						r.Do(ctx, bench.Req{Tokens: 1}.In(s)) // successes between errors keep circuits closed
					}
				}
				if s.Stream { // more than buffers commonly hold
					r.Do(ctx, bench.Req{Tokens: 1500, Header: http.Header{"X-Mock-Echo": {echo}}}.In(s))
				}
			}
			return nil
		},
		Judge: judge.ResponseKept(4*len(statuses)*len(bench.Shapes()), workerHeaders),
	}
}

// workerHeaders are what the mock worker sends with a status.
func workerHeaders(r *history.Request, status int) map[string]string {
	h := map[string]string{"Content-Type": "application/json", "X-Mock-Worker": "w"}
	if len(r.SentHeader["X-Mock-Echo"]) > 0 {
		h["X-Mock-Echo"] = echo
	}
	if r.Stream && status == 200 {
		h["Content-Type"] = "text/event-stream"
	}
	if status == 429 || status == 503 {
		h["Retry-After"] = "7"
	}
	return h
}
