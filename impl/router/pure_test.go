package router

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
)

func TestTheFailoverTable(t *testing.T) {
	for _, c := range []struct {
		name string
		out  Outcome
		want Decision
	}{
		{"a success binds", Outcome{Status: 200}, Decision{PassOn, Commit}},
		{"any 2xx binds", Outcome{Status: 206}, Decision{PassOn, Commit}},
		{"a redirect does not bind", Outcome{Status: 302}, Decision{PassOn, Keep}},
		{"a client error keeps", Outcome{Status: 400}, Decision{PassOn, Keep}},
		{"overload 429 keeps", Outcome{Status: 429}, Decision{PassOn, Keep}},
		{"overload 503 keeps", Outcome{Status: 503}, Decision{PassOn, Keep}},
		{"500 ends the binding", Outcome{Status: 500}, Decision{PassOn, Invalidate}},
		{"502 ends the binding", Outcome{Status: 502}, Decision{PassOn, Invalidate}},
		{"504 ends the binding", Outcome{Status: 504}, Decision{PassOn, Invalidate}},
		{"a broken connection goes elsewhere", Outcome{Failure: Broken, Attempt: 1}, Decision{RetryElsewhere, Invalidate}},
		{"a second one too", Outcome{Failure: Broken, Attempt: 2}, Decision{RetryElsewhere, Invalidate}},
		{"attempts are bounded", Outcome{Failure: Broken, Attempt: 3}, Decision{Fail, Invalidate}},
		{"a timeout goes elsewhere", Outcome{Failure: TimedOut, Attempt: 1, TimedOut: 1}, Decision{RetryElsewhere, Invalidate}},
		{"but once only", Outcome{Failure: TimedOut, Attempt: 2, TimedOut: 2}, Decision{Fail, Invalidate}},
		{"a timeout counts as an attempt", Outcome{Failure: TimedOut, Attempt: 3, TimedOut: 1}, Decision{Fail, Invalidate}},
		{"a pinned one goes nowhere else", Outcome{Failure: Broken, Attempt: 1, Pinned: true}, Decision{Fail, Invalidate}},
		{"nor after a timeout", Outcome{Failure: TimedOut, Attempt: 1, TimedOut: 1, Pinned: true}, Decision{Fail, Invalidate}},
		{"prefill is no exception", Outcome{Failure: Broken, Attempt: 1, Prefill: true}, Decision{RetryElsewhere, Invalidate}},
		{"a bound one goes elsewhere", Outcome{Failure: Broken, Attempt: 1, WasBound: true}, Decision{RetryElsewhere, Invalidate}},
		{"and after a timeout", Outcome{Failure: TimedOut, Attempt: 1, TimedOut: 1, WasBound: true}, Decision{RetryElsewhere, Invalidate}},
		{"but once only", Outcome{Failure: Broken, Attempt: 2, Elsewhere: 1, WasBound: true}, Decision{Fail, Invalidate}},
		{"whatever the second failure is", Outcome{Failure: TimedOut, Attempt: 2, TimedOut: 1, Elsewhere: 1, WasBound: true}, Decision{Fail, Invalidate}},
		{"and over both phases", Outcome{Failure: Broken, Attempt: 1, Elsewhere: 1, WasBound: true}, Decision{Fail, Invalidate}},
		{"another one's phases are counted apart", Outcome{Failure: Broken, Attempt: 1, Elsewhere: 2}, Decision{RetryElsewhere, Invalidate}},
		{"a client that leaves unbinds nothing", Outcome{Failure: Cancelled, Attempt: 1}, Decision{Fail, Keep}},
	} {
		for _, bound := range []bool{false, true} {
			c.out.MaxAttempts, c.out.Session, c.out.Bound = 3, bound, bound
			if got := DefaultFailover(c.out); got != c.want {
				t.Errorf("%s (bound %v): %+v, want %+v", c.name, bound, got, c.want)
			}
		}
	}
}

func TestSessionHeadersAndTheirPrecedence(t *testing.T) {
	const dynamo, agent, claude = "X-Dynamo-Session-ID", "x-claude-code-agent-id", "x-claude-code-session-id"
	for _, c := range []struct {
		name   string
		header []string // name, value, name, value...
		want   string
	}{
		{"no header", nil, ""},
		{"another header", []string{"x-request-id", "r"}, ""},
		{"every one of them", []string{"x-session-id", "o", "session-id", "c", "thread-id", "t", claude, "s", agent, "a", dynamo, "d"}, "d"},
		{"Claude's agent before its session", []string{"x-session-id", "o", claude, "s", agent, "a"}, "a"},
		{"Claude's session alone", []string{claude, "s", "thread-id", "t"}, "s"},
		{"Claude's agent without its session", []string{agent, "a", "x-session-id", "o"}, "o"},
		{"Claude's agent with a blank session", []string{agent, "a", claude, " "}, ""},
		{"Claude's blank agent", []string{agent, "", claude, "s"}, "s"},
		{"thread before session", []string{"session-id", "c", "thread-id", "t"}, "t"},
		{"session before x-session", []string{"x-session-id", "o", "session-id", "c"}, "c"},
		{"names in any case", []string{"X-SESSION-id", "o"}, "o"},
		{"values in their case", []string{"x-session-id", "AbC"}, "AbC"},
		{"outer blanks", []string{"x-session-id", " \t a b \t"}, "a b"},
		{"a blank one falls through", []string{dynamo, " \t", "x-session-id", "o"}, "o"},
		{"non-ASCII falls through", []string{dynamo, "sé", "x-session-id", "o"}, "o"},
		{"a control byte falls through", []string{dynamo, "a\x01b", "x-session-id", "o"}, "o"},
		{"DEL falls through", []string{dynamo, "a\x7f", "x-session-id", "o"}, "o"},
		{"the first of a repeated header", []string{"x-session-id", "1", "x-session-id", "2"}, "1"},
		{"a repeated header whose first is blank", []string{"x-session-id", "", "x-session-id", "2"}, ""},
		{"a list is one value", []string{"x-session-id", "1, 2"}, "1, 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &http.Request{Header: http.Header{}}
			for i := 0; i < len(c.header); i += 2 {
				r.Header.Add(c.header[i], c.header[i+1])
			}
			if got := HeaderSessions(DefaultSessionHeaders()).Session(r); got != c.want {
				t.Errorf("session %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheModelOfABody(t *testing.T) {
	known := []string{"m", "n"}
	for _, c := range []struct {
		name, body, want string
		kind             Kind
	}{
		{"plain", `{"model":"m"}`, "m", ""},
		{"behind nested values", ` { "a" : {"model":"x","b":[{"model":"y"}]} , "s":"\"model\":\"z\"\\" , "model" : "n" , "t":1 } `, "n", ""},
		{"the last of two", `{"model":"m","model":"n"}`, "n", ""},
		{"an escaped name", `{"\u006dodel":"m"}`, "m", ""},
		{"an escaped value", `{"model":"\u006d"}`, "m", ""},
		{"no body", ``, "", InvalidArgument},
		{"blanks", "  \n", "", InvalidArgument},
		{"cut off", `{"model":"m"`, "", InvalidArgument},
		{"two documents", `{"model":"m"}{}`, "", InvalidArgument},
		{"an array", `[{"model":"m"}]`, "", InvalidArgument},
		{"a string", `"model"`, "", InvalidArgument},
		{"an empty object", `{}`, "", InvalidArgument},
		{"no model", `{"messages":[]}`, "", InvalidArgument},
		{"another case", `{"Model":"m"}`, "", InvalidArgument},
		{"a number", `{"model":1}`, "", InvalidArgument},
		{"null", `{"model":null}`, "", InvalidArgument},
		{"an unknown model", `{"model":"x"}`, "", ModelNotFound},
		{"the empty model", `{"model":""}`, "", ModelNotFound},
		{"a longer name", `{"model":"m "}`, "", ModelNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := BodyModels{}.Model([]byte(c.body), known)
			var e *Error
			errors.As(err, &e)
			if got != c.want || (e == nil) != (c.kind == "") || e != nil && e.Kind != c.kind {
				t.Errorf("model %q, error %v; want %q, %q", got, err, c.want, c.kind)
			}
		})
	}
}

func TestConnectionHeadersAreNotPassedOn(t *testing.T) {
	src := http.Header{
		"Connection": {"close, X-Hop", "x-other"}, "X-Hop": {"1"}, "X-Other": {"2"}, "Keep-Alive": {"timeout=5"},
		"Te": {"trailers"}, "Transfer-Encoding": {"chunked"}, "Upgrade": {"h2c"}, "Trailer": {"X"},
		"Proxy-Authorization": {"secret"}, "Proxy-Authenticate": {"x"}, "Proxy-Connection": {"x"},
		"Authorization": {"Bearer t"}, "X-Many": {"a", "b"},
	}
	dst := http.Header{}
	copyHeader(dst, src)
	if len(dst) != 2 || dst.Get("Authorization") != "Bearer t" || strings.Join(dst["X-Many"], "|") != "a|b" {
		t.Errorf("passed on %v", dst)
	}
}

func TestBadSettingsAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Policy: "fastest"}, `policy: selection policy "fastest" is unknown`},
		{Config{IdleTTL: time.Millisecond}, "idleTTL 1ms"},
		{Config{IdleTTL: affinity.MaxIdleTTL + 1}, "idleTTL"},
		{Config{AtCapacity: "explode"}, `atCapacity "explode"`},
		{Config{Capacity: -1}, "capacity -1"},
		{Config{InitWait: -1}, "initWait -1ns"},
		{Config{HeaderTimeout: -1}, "headerTimeout -1ns"},
		{Config{MaxAttempts: -1}, "maxAttempts -1"},
		{Config{MaxBody: -1}, "maxBody -1"},
		{Config{SessionHeaders: []string{"ok", "not ok"}}, `sessionHeaders[1] "not ok"`},
		{Config{SessionHeaders: []string{"x-a", "X-A"}}, `sessionHeaders[1] "X-A" is listed twice`},
		{Config{TenantHeader: "not ok"}, `tenantHeader "not ok"`},
	} {
		if _, err := New(c.cfg, Parts{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("New(%+v) = %v, want an error that begins with %q", c.cfg, err, c.want)
		}
	}
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("the zero config is refused: %v", err)
	}
}

func TestAnAbsentPartIsRefusedByName(t *testing.T) {
	for name, remove := range map[string]func(*Parts){
		"Sessions": func(p *Parts) { p.Sessions = nil }, "Models": func(p *Parts) { p.Models = nil },
		"Pins": func(p *Parts) { p.Pins = nil }, "Prefill.Policy": func(p *Parts) { p.Prefill.Policy = nil }, "Prefill.Handoff": func(p *Parts) { p.Prefill.Handoff = nil },
		"Fleet": func(p *Parts) { p.Fleet = nil }, "Policy": func(p *Parts) { p.Policy = nil }, "Transport": func(p *Parts) { p.Transport = nil },
		"Relay": func(p *Parts) { p.Relay = nil }, "Failover": func(p *Parts) { p.Failover = nil },
		"Context": func(p *Parts) { p.Context = nil }, "Log": func(p *Parts) { p.Log = nil },
	} {
		parts, err := DefaultParts(Config{})
		if err != nil {
			t.Fatal(err)
		}
		remove(&parts)
		if _, err := New(Config{}, parts); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
