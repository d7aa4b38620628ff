package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/judge"
)

func TestHeadersKeptForgivesAnotherBody(t *testing.T) {
	other := func(q *told) { q.last().Body, q.last().BodySHA256 = []byte(`{"model":"mock","more":1}`), "other" }
	try(t, judge.HeadersKept(1),
		trial{"the same", func(h *story) { h.ask("w0") }, ""},
		trial{"another body", func(h *story) { h.ask("w0", other) }, ""},
		trial{"another path", func(h *story) { h.ask("w0", attempt(0, func(a *ledger.Attempt) { a.Target = "/v1/else" })) }, violated + "POST /v1/else"},
		trial{"a header lost", func(h *story) {
			h.ask("w0", func(q *told) { q.SentHeader = map[string][]string{"X-Custom": {"one"}} }, attempt(0, func(a *ledger.Attempt) { a.Header = nil }))
		}, violated + `""`},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
}

func TestPathKeptLooksAtPathQueryAndTheNamedHeaders(t *testing.T) {
	sent := func(q *told) {
		q.SentHeader = map[string][]string{"authorization": {"Bearer k"}, "X-Custom": {"one"}}
	}
	got := func(target string, h map[string][]string) opt {
		return attempt(0, func(a *ledger.Attempt) { a.Target, a.Header = target, h })
	}
	const path = "/v1/chat/completions"
	try(t, judge.PathKept(1, []string{"Authorization"}),
		trial{"the named one", func(h *story) { h.ask("w0", sent, got(path, map[string][]string{"Authorization": {"Bearer k"}})) }, ""},
		trial{"which is lost", func(h *story) { h.ask("w0", sent, got(path, map[string][]string{"X-Custom": {"one"}})) }, violated + `""`},
		trial{"another one", func(h *story) { h.ask("w0", sent, got(path, map[string][]string{"Authorization": {"Bearer l"}})) }, violated + "8 bytes"},
		trial{"a query lost", func(h *story) {
			h.ask("w0", func(q *told) { q.Path += "?a=b" }, got(path, nil))
		}, violated + "POST " + path},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
}

func TestBodyLongForgivesAnotherValue(t *testing.T) {
	bytes := func(n int64) opt {
		return attempt(0, func(a *ledger.Attempt) { a.BodyBytes, a.BodySHA256, a.ValueSHA256 = n, "other", "other" })
	}
	try(t, judge.BodyLong(100),
		trial{"as long", func(h *story) { h.ask("w0", bytes(100)) }, ""},
		trial{"cut", func(h *story) { h.ask("w0", bytes(99)) }, violated + "99 bytes"},
		trial{"nothing sent", nil, doubt + "no request"},
	)
}
