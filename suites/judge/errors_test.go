package judge_test

import (
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// refusing is what a router itself answers.
func refusing(code int, body string, headers ...string) opt {
	return func(q *told) {
		q.Phase, q.Status, q.Body = "refused", code, []byte(body)
		q.Header = map[string][]string{"Content-Type": {"application/json"}}
		for i := 0; i < len(headers); i += 2 {
			q.Header[headers[i]] = []string{headers[i+1]}
		}
	}
}

func TestRouterErrorWantsAnErrorObject(t *testing.T) {
	answer := func(code int, body string, headers ...string) func(*story) {
		return func(h *story) { h.ask("", refusing(code, body, headers...)) }
	}
	const good = `{"error":{"message":"no such model","type":"invalid_request_error","param":null,"code":"model_not_found"}}`
	try(t, judge.RouterError(1, 404, "model_not_found", "refused"),
		trial{"as it should be", answer(404, good), ""},
		trial{"with a charset", answer(404, good, "Content-Type", "Application/JSON; charset=utf-8"), ""},
		trial{"with more members", answer(404, `{"object":"error",`+good[1:]), ""},
		trial{"after a dispatch", func(h *story) { h.ask("w0", refusing(404, good)) }, ""},
		trial{"another status", answer(400, good), violated + "status 404"},
		trial{"served", answer(200, good), violated + "status 200"},
		trial{"a connection that broke", func(h *story) { h.ask("", refusing(404, good), ended(history.Failed)) }, violated + "failed"},
		trial{"cut off", func(h *story) { h.ask("", refusing(404, good), ended(history.Truncated)) }, violated + "truncated"},
		trial{"no content type", answer(404, good, "Content-Type", ""), violated + "application/json"},
		trial{"as text", answer(404, good, "Content-Type", "text/plain"), violated + "text/plain"},
		trial{"as a stream", answer(404, good, "Content-Type", "text/event-stream"), violated + "event-stream"},
		trial{"plain text", answer(404, "not found"), violated + "not found"},
		trial{"nothing", answer(404, ""), violated + "error object"},
		trial{"a list", answer(404, `[`+good+`]`), violated + "error object"},
		trial{"an error that is text", answer(404, `{"error":"not found"}`), violated + "error object"},
		trial{"an error that is null", answer(404, `{"error":null}`), violated + "error object"},
		trial{"no error", answer(404, `{"message":"x","type":"y","code":"model_not_found"}`), violated + "error object"},
		trial{"members in another case", answer(404, `{"Error":{"message":"x","type":"y","code":"model_not_found"}}`), violated + "error object"},
		trial{"no message", answer(404, `{"error":{"type":"y","code":"model_not_found"}}`), violated + "message absent"},
		trial{"an empty message", answer(404, `{"error":{"message":"","type":"y","code":"model_not_found"}}`), violated + `message ""`},
		trial{"no type", answer(404, `{"error":{"message":"x","type":null,"code":"model_not_found"}}`), violated + "type null"},
		trial{"another code", answer(404, `{"error":{"message":"x","type":"y","code":"not_found"}}`), violated + `code "not_found"`},
		trial{"a code that is a number", answer(404, `{"error":{"message":"x","type":"y","code":404}}`), violated + "code 404"},
		trial{"no code", answer(404, `{"error":{"message":"x","type":"y"}}`), violated + "code absent"},
		trial{"one of two", func(h *story) { answer(404, good)(h); answer(404, "no")(h) }, violated + "no"},
		trial{"nothing sent", nil, doubt + "0 of at least 1"},
	)
	const full = `{"error":{"message":"full","type":"server_error","code":"resource_exhausted"}}`
	try(t, judge.RouterError(1, 503, "resource_exhausted", "refused"),
		trial{"a 503 that says when", answer(503, full, "Retry-After", "1"), ""},
		trial{"one that does not", answer(503, full), violated + "without"},
		trial{"one that says nothing", answer(503, full, "Retry-After", ""), violated + "without"},
	)
	const broke = `{"error":{"message":"broke","type":"server_error","code":"connection_failed"}}`
	try(t, judge.RouterErrors(1, map[int]string{502: "connection_failed", 503: "resource_exhausted"}, "refused"),
		trial{"the one", answer(502, broke), ""},
		trial{"the other", answer(503, full, "Retry-After", "1"), ""},
		trial{"the other that does not say when", answer(503, full), violated + "without"},
		trial{"the code of the other", answer(502, full), violated + `code "resource_exhausted"`},
		trial{"neither", answer(500, broke), violated + "status 500"},
		trial{"nothing sent", nil, doubt + "0 of at least 1"},
	)
}

func TestWhoReachedTellsRequestsApart(t *testing.T) {
	both := func(h *story) { h.ask("w0 w1", in("x"), answered(502)); h.ask("", in("x"), answered(503)) }
	try(t, judge.WhoReached(true, judge.Dispatches(2, 2, "x")),
		trial{"one of each", both, ""},
		trial{"one that a single worker had", func(h *story) { both(h); h.ask("w0", in("x")) }, violated + "observed 1"},
		trial{"none that reached any", func(h *story) { h.ask("", in("x")) }, doubt + "no request"})
	try(t, judge.WhoReached(false, judge.Unavailable(1, time.Second, "x")),
		trial{"one of each", both, ""},
		trial{"one without a 5xx", func(h *story) { both(h); h.ask("", in("x"), answered(404)) }, violated + "status 404"},
		trial{"none that reached nobody", func(h *story) { h.ask("w0", in("x")) }, doubt + "0 of at least 1"})
}

func TestUnavailableWantsA5xxSoonAndNoDispatch(t *testing.T) {
	try(t, judge.Unavailable(1, 2*time.Second, "empty"),
		trial{"a 503", func(h *story) { h.ask("", in("empty"), answered(503)) }, ""},
		trial{"a 502", func(h *story) { h.turn("s", "", in("empty"), answered(502), took(2*time.Second)) }, ""},
		trial{"late", func(h *story) { h.ask("", in("empty"), answered(503), took(2*time.Second+ms)) }, violated + "took longer"},
		trial{"a 404", func(h *story) { h.ask("", in("empty"), answered(404)) }, violated + "status 404"},
		trial{"served by somebody", func(h *story) { h.ask("w0", in("empty")) }, violated + "no dispatch"},
		trial{"refused by a worker", func(h *story) { h.ask("w0", in("empty"), status(503)) }, violated + "1 dispatches to w0"},
		trial{"a broken connection", func(h *story) { h.ask("", in("empty"), ended(history.Failed)) }, violated + "failed"},
		trial{"no answer", func(h *story) { h.ask("", in("empty"), ended(history.Timeout)) }, violated + "timeout"},
		trial{"nothing sent", nil, doubt + "0 of at least 1"},
	)
}
