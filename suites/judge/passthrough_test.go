package judge_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// header is what the client sent and the worker received.
func header(name string, sent, got []string) opt {
	return func(q *told) {
		q.SentHeader = map[string][]string{name: sent}
		q.last().Header = map[string][]string{name: got, "X-Forwarded-For": {"127.0.0.1"}}
	}
}

// bodies are what the client sent and the worker received.
func bodies(sent, got string) opt {
	return func(q *told) {
		q.SentBody, q.SentBodyBytes = []byte(sent), int64(len(sent))
		q.last().Body, q.last().BodyBytes = []byte(got), int64(len(got))
	}
}

func TestRequestKeptComparesPathHeadersAndBody(t *testing.T) {
	one := func(opts ...opt) func(*story) { return func(h *story) { h.ask("w0", opts...) } }
	try(t, judge.RequestKept(1),
		trial{"unchanged", one(), ""},
		trial{"a header more is allowed", one(header("X-A", []string{"1"}, []string{"1"})), ""},
		trial{"a list on one line", one(header("X-A", []string{"1", "2"}, []string{"1, 2"})), ""},
		trial{"a header's case does not matter", one(header("X-A", []string{"1"}, nil), func(q *told) { q.last().Header = map[string][]string{"x-a": {"1"}} }), ""},
		trial{"a proxy's own header", one(header("Connection", []string{"keep-alive"}, nil)), ""},
		trial{"the body written anew", one(bodies(`{"a":1,"b":[1.0,"é"]}`, `{ "b": [1, "\u00e9"], "a": 1e0 }`)), ""},
		trial{"another path", one(func(q *told) { q.last().Target = "/v1/chat" }), violated + "POST /v1/chat"},
		trial{"the query lost", one(func(q *told) { q.Path += "?a=b" }), violated + "?a=b"},
		trial{"another method", one(func(q *told) { q.last().Method = "PUT" }), violated + "PUT"},
		trial{"a header lost", one(header("X-A", []string{"1"}, nil)), violated + "header X-A"},
		trial{"a value lost", one(header("X-A", []string{"1", "2"}, []string{"1"})), violated + "header X-A: 1, 2"},
		trial{"values in another order", one(header("X-A", []string{"1", "2"}, []string{"2", "1"})), violated + `observed "2, 1"`},
		trial{"a secret is not shown", one(header("Authorization", []string{"sk-1"}, []string{"sk-2"})), violated + "[4 bytes, not shown]"},
		trial{"a retried attempt counts too", func(h *story) {
			h.ask("w0 w1", func(q *told) { q.tries[0].Target = "/other" })
		}, violated + "/other"},
		trial{"no body at all", one(bodies(`{"a":1}`, "")), violated + "no JSON"},
		trial{"nobody reached a worker", func(h *story) { h.ask("", answered(502)) }, doubt + "0 of 1"},
		trial{"nothing was sent", nil, doubt + "0 of 1"},
	)
}

func TestRequestKeptSeesEveryDifferenceOfValue(t *testing.T) {
	for _, c := range []struct{ name, sent, got, want string }{
		{"a field lost", `{"a":{"b":1}}`, `{"a":{}}`, "a.b is missing"},
		{"a field added", `{}`, `{"a":1}`, "a was added"},
		{"digits that a float cannot hold", `{"a":9007199254740993}`, `{"a":9007199254740992}`, "9007199254740992 instead of"},
		{"digits behind the point", `{"a":3.14159265358979323846}`, `{"a":3.141592653589793}`, "instead of"},
		{"a number as a string", `{"a":1}`, `{"a":"1"}`, "instead of"},
		{"null as absent", `{"a":null}`, `{}`, "a is missing"},
		{"null as false", `{"a":null}`, `{"a":false}`, "instead of null"},
		{"a shorter list", `{"a":[1,2]}`, `{"a":[1]}`, "instead of"},
		{"a list in another order", `{"a":[1,2]}`, `{"a":[2,1]}`, "a[0]"},
		{"an object as a list", `{"a":{}}`, `{"a":[]}`, "instead of"},
		{"other text", `{"a":"x"}`, `{"a":"X"}`, `"X" instead of "x"`},
		{"a second value behind the first", `{"a":1}`, `{"a":1} {"b":2}`, "more follows"},
		{"no JSON", `{"a":1}`, `a=1`, "no JSON"},
		{"a number too large to compare", `{"a":1}`, `{"a":1e9999999}`, "instead of"},
	} {
		try(t, judge.RequestKept(1), trial{c.name, func(h *story) { h.ask("w0", bodies(c.sent, c.got)) }, violated + c.want})
	}
}

func TestABodyTooLargeToKeepIsComparedByItsDigest(t *testing.T) {
	large := func(sent, got string) func(*story) {
		return func(h *story) {
			h.ask("w0", func(q *told) {
				q.SentBody, q.SentBodyBytes, q.SentBodySHA256 = nil, ledger.KeepBody+1, sent
				q.last().Body, q.last().BodyBytes, q.last().BodySHA256 = nil, ledger.KeepBody+1, got
			})
		}
	}
	try(t, judge.RequestKept(1),
		trial{"the same bytes", large("d1", "d1"), ""},
		trial{"other bytes may have the same value", large("d1", "d2"), doubt + "0 of 1"},
	)
}

func TestResponseKeptComparesStatusHeadersAndBytes(t *testing.T) {
	sent := func(name, value string) opt {
		return func(q *told) { q.last().SentHeader = map[string][]string{name: {value}} }
	}
	got := func(name string, values ...string) opt {
		return func(q *told) { q.Header = map[string][]string{name: values} }
	}
	try(t, judge.ResponseKept(2),
		trial{"kept", func(h *story) {
			h.ask("w0")
			h.ask("w0", status(503), sent("Retry-After", "7"), got("retry-after", "7"))
		}, ""},
		trial{"the last of several attempts is what counts", func(h *story) { h.ask("w1 w0"); h.ask("w0") }, ""},
		trial{"another status", func(h *story) { h.ask("w0"); h.ask("w0", answered(502)) }, violated + "status 200 at the client"},
		trial{"a success made of an error", func(h *story) { h.ask("w0"); h.ask("w0", status(503), answered(200)) }, violated + "status 503"},
		trial{"cut off", func(h *story) { h.ask("w0"); h.ask("w0", ended(history.Truncated)) }, violated + "truncated"},
		trial{"other bytes", func(h *story) { h.ask("w0"); h.ask("w0", func(q *told) { q.BodySHA256 = "page" }) }, violated + "24 bytes that differ"},
		trial{"a header lost", func(h *story) { h.ask("w0"); h.ask("w0", status(503), sent("Retry-After", "7")) }, violated + `Retry-After: "7"`},
		trial{"a header changed", func(h *story) { h.ask("w0"); h.ask("w0", sent("X-A", "worker"), got("X-A", "router")) }, violated + `"router"`},
		trial{"a header with something appended", func(h *story) { h.ask("w0"); h.ask("w0", sent("X-A", "1"), got("X-A", "1", "2")) }, violated + `"1, 2"`},
		trial{"a header that a proxy owns", func(h *story) { h.ask("w0"); h.ask("w0", sent("Connection", "close")) }, ""},
		trial{"a header added", func(h *story) { h.ask("w0"); h.ask("w0", got("Via", "router")) }, ""},
		trial{"no worker answered, so nothing can be kept", func(h *story) { h.ask("w0"); h.ask("", answered(503)) }, doubt + "1 of 2"},
		trial{"the worker broke off before it answered", func(h *story) {
			h.ask("w0")
			h.ask("w0", answered(502), func(q *told) { q.last().Status, q.last().End = 0, ledger.Reset })
		}, doubt + "1 of 2"},
		trial{"the worker did not note what it sent", func(h *story) {
			h.ask("w0")
			h.ask("w0", func(q *told) { q.last().SentSHA256, q.last().End = "", ledger.Running })
		}, doubt + "1 of 2"},
		trial{"nothing was sent", nil, doubt + "0 of 2"},
	)
}

func TestResponseKeptWantsEveryValueOfARepeatedHeader(t *testing.T) {
	const cookie, other = "a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT", "b=2"
	said := func(name string, sent, got []string) func(*story) {
		return func(h *story) {
			h.ask("w0", status(503), func(q *told) {
				q.last().SentHeader = map[string][]string{name: sent}
				q.Header = map[string][]string{name: got}
			})
		}
	}
	two := []string{"1", "2, 3"}
	try(t, judge.ResponseKept(1),
		trial{"each on its line", said("X-A", two, two), ""},
		trial{"a list on one line", said("X-A", two, []string{"1, 2, 3"}), ""},
		trial{"a list on one line without blanks", said("X-A", two, []string{"1,2, 3"}), ""},
		trial{"the first alone", said("X-A", two, two[:1]), violated + `"1, 2, 3" on 2 lines`},
		trial{"the last alone", said("X-A", two, two[1:]), violated + `observed "2, 3"`},
		trial{"another order", said("X-A", two, []string{"2, 3", "1"}), violated + "X-A"},
		trial{"one more", said("X-A", two, []string{"1", "2, 3", "4"}), violated + "on 3 lines"},
		trial{"a lone value is compared as it is written", said("X-A", []string{"1,2"}, []string{"1, 2"}), violated + "X-A"},
		trial{"cookies, each on its line", said("Set-Cookie", []string{cookie, other}, []string{cookie, other}), ""},
		trial{"a proxy's own cookie", said("Set-Cookie", []string{cookie, other}, []string{cookie, "proxy=3", other}), ""},
		trial{"the first cookie alone", said("Set-Cookie", []string{cookie, other}, []string{cookie}), violated + "not shown]"},
		trial{"cookies joined", said("Set-Cookie", []string{cookie, other}, []string{cookie + ", " + other}), violated + "on 2 lines"},
		trial{"cookies in another order", said("Set-Cookie", []string{cookie, other}, []string{other, cookie}), violated + "Set-Cookie"},
		trial{"a cookie changed", said("Set-Cookie", []string{cookie}, []string{"a=1"}), violated + "Set-Cookie"},
		trial{"Vary with one more", said("Vary", []string{"Accept", "Origin"}, []string{"Accept,Origin", "Accept-Encoding"}), ""},
		trial{"the first of Vary alone", said("Vary", []string{"Accept", "Origin"}, []string{"Accept"}), violated + "Vary"},
	)
}

func TestOwnAnswerWantsTheRequestsKeyAndNoOther(t *testing.T) {
	says := func(text string) opt { return func(q *told) { q.Body = []byte(text) } }
	try(t, judge.OwnAnswer("work"),
		trial{"its own", func(h *story) { h.ask("w0", in("work")); h.ask("w0", in("work")) }, ""},
		trial{"a failed request has no answer to be wrong", func(h *story) {
			h.ask("w0", in("work"))
			h.ask("w0", in("work"), status(500), says("oops"))
		}, ""},
		trial{"somebody else's", func(h *story) {
			h.ask("w0", in("work"))
			h.ask("w0", in("work"), says(`{"text":"k-1 amber"}`))
		}, violated + "another request's key"},
		trial{"two answers in one", func(h *story) {
			h.ask("w0", in("work"))
			h.ask("w0", in("work"), says(`{"text":"k-2 amber"} {"text":"k-1 amber"}`))
		}, violated + "another request's key"},
		trial{"one whose key only begins like its own", func(h *story) {
			h.ask("w0", in("work"), says(`{"text":"k-12 amber"}`))
		}, violated + "without its key"},
		trial{"a cached text", func(h *story) { h.ask("w0", in("work"), says("{}")) }, violated + "without its key"},
		trial{"nobody was answered", func(h *story) { h.ask("w0", in("work"), status(500)) }, doubt + "answered"},
		trial{"nothing was sent", nil, doubt + "answered"},
	)
}

func TestBodyWholeWantsThePromptsBytesAtTheWorker(t *testing.T) {
	got := func(n int64) opt { return func(q *told) { q.last().BodyBytes = n } }
	try(t, judge.BodyWhole(1000, "large"),
		trial{"whole", func(h *story) { h.ask("w0", in("large"), got(1000)) }, ""},
		trial{"cut", func(h *story) { h.ask("w0", in("large"), got(1000)); h.ask("w0", in("large"), got(999)) }, violated + "999 bytes"},
		trial{"another value of the same length", func(h *story) {
			h.ask("w0", in("large"), got(1000), func(q *told) {
				q.last().BodySHA256, q.SentValue, q.last().ValueSHA256 = "other", "v1", "v2"
			})
		}, violated + "another value"},
		trial{"the same value in other bytes", func(h *story) {
			h.ask("w0", in("large"), got(1000), func(q *told) {
				q.last().BodySHA256, q.SentValue, q.last().ValueSHA256 = "other", "v1", "v1"
			})
		}, ""},
		trial{"never there", func(h *story) { h.ask("", in("large"), answered(413)) }, doubt + "no request of [large] reached"},
		trial{"nothing was sent", nil, doubt + "no request"},
	)
}

func TestRedactHidesSecretsOnly(t *testing.T) {
	for _, name := range []string{"Authorization", "cookie", "Set-Cookie", "Proxy-Authorization", "X-API-Key"} {
		if got := judge.Redact(name, "hunter2"); strings.Contains(got, "hunter2") || got != "[7 bytes, not shown]" {
			t.Errorf("Redact(%q) is %q", name, got)
		}
	}
	if got := judge.Redact("X-Session-Id", "s1"); got != "s1" {
		t.Errorf("an ordinary header became %q", got)
	}
	if got := judge.Redact("Authorization", ""); got != "" {
		t.Errorf("an absent secret became %q", got)
	}
}

// Bodies come from the target, so that no body may make the judge fail.
func FuzzRequestKeptSurvivesAnyBody(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`))
	f.Add([]byte(`{"a":1e999999999}`))
	f.Add([]byte("{\"a\":\"\xff\""))
	f.Fuzz(func(t *testing.T, got []byte) {
		h := of("w0")
		h.ask("w0", func(q *told) { q.last().Body, q.last().BodyBytes = bytes.Clone(got), int64(len(got)) })
		judge.RequestKept(1)(&h.History)
	})
}
