package worker

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
)

func (b *bed) wantReset(what string, err error) {
	b.Helper()
	if !errors.Is(err, syscall.ECONNRESET) {
		b.Errorf("%s: %v; want a connection reset", what, err)
	}
}

func (b *bed) healthy() {
	b.Helper()
	if r := b.do("GET", "/health", ""); r.status != 200 {
		b.Errorf("health: %+v; want 200", r)
	}
}

func TestRefuseLetsRunningRequestsFinishAndTurnsTheRestAway(t *testing.T) {
	b := start(t, Timing{})
	h := b.plan("held", Plan{Step: true})
	idle, running := b.dial(), b.dial()
	idle.send("GET", "/health", "")
	idle.recv()
	running.send("POST", "/v1/chat/completions", chat("held", true, 3))
	b.attempt(0, "headers", func(a *ledger.Attempt) bool { return a.Status == 200 })
	b.fault(Fault{Kind: Refuse})
	if _, err := net.Dial("tcp", b.w.net.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v; want refused", err)
	}
	if _, err := idle.br.ReadByte(); err != io.EOF {
		t.Errorf("idle connection: %v; want EOF", err)
	}
	h.Finish()
	r := running.recv()
	if r.err != nil || !strings.HasSuffix(r.body, "[DONE]\n\n") {
		t.Errorf("running request: %+v", r)
	}
	b.accounts(b.ended(0, ledger.Complete), r)
	if _, err := running.br.ReadByte(); err != io.EOF {
		t.Errorf("its connection afterwards: %v; want EOF", err)
	}
	b.must(b.w.ClearFault())
	b.healthy()
	if r := b.chat("k", false, 2); r.status != 200 || r.header.Get("Connection") == "close" {
		t.Errorf("after the fault: %+v", r)
	}
}

func TestHangAnswersNothingNotEvenHealthAndRecordsNothing(t *testing.T) {
	b := start(t, Timing{})
	kept := b.dial()
	kept.send("GET", "/health", "")
	kept.recv()
	b.fault(Fault{Kind: Hang})
	health, request := b.dial(), b.dial()
	health.send("GET", "/health", "")
	request.send("POST", "/v1/chat/completions", chat("k", false, 2))
	kept.send("POST", "/v1/chat/completions", chat("k", false, 2))
	for _, c := range []*wire{health, request, kept} {
		c.silent()
	}
	if b.l.Len() != 0 || b.w.Probes() != 1 {
		t.Errorf("%d attempts, %d probes while hung", b.l.Len(), b.w.Probes())
	}
	b.must(b.w.ClearFault())
	for _, c := range []*wire{health, request, kept} {
		b.wantReset("hung connection at the end", c.recv().err)
	}
	b.healthy()
}

func TestHangRequestsRecordsAndNeverAnswersWhileHealthDoes(t *testing.T) {
	b := start(t, Timing{})
	b.fault(Fault{Kind: HangRequests})
	stays, leaves := b.dial(), b.dial()
	stays.send("POST", "/v1/chat/completions", chat("stays", false, 2))
	b.arrived(0)
	leaves.send("POST", "/v1/chat/completions", chat("leaves", true, 2))
	if a := b.arrived(1); a.Fault != "hang-requests" || a.End != ledger.Running {
		t.Errorf("hung attempt %+v", a)
	}
	stays.silent()
	b.healthy()
	leaves.Close()
	if a := b.ended(1, ledger.Aborted); a.AbortSeen == ledger.Unset || a.Status != 0 || a.SentSHA256 != "" {
		t.Errorf("attempt whose client left: %+v", a)
	}
	b.must(b.w.ClearFault())
	b.wantReset("hung request at the end", stays.recv().err)
	b.ended(0, ledger.Hung)
	if r := b.chat("k", false, 2); r.status != 200 {
		t.Errorf("after the fault: %+v", r)
	}
}

func TestResetBeforeHeadersRecordsAndResets(t *testing.T) {
	b := start(t, Timing{})
	b.fault(Fault{Kind: ResetBeforeHeaders})
	for i, stream := range []bool{false, true} {
		b.wantReset("request", b.chat("k", stream, 2).err)
		if a := b.ended(i, ledger.Reset); a.Fault != "reset-before-headers" || a.Status != 0 || a.HeadersAt != ledger.Unset || a.BytesSent != 0 {
			t.Errorf("attempt %+v", a)
		}
	}
	b.healthy()
}

func TestResetAfterEventsCutsAStreamBehindExactlyThatEvent(t *testing.T) {
	b := start(t, Timing{})
	for i, events := range []int{0, 1, 3, 6} { // the whole stream has 6
		b.fault(Fault{Kind: ResetAfterEvents, Events: events})
		r := b.chat("k", true, 4)
		b.wantReset("stream", r.err)
		a := b.ended(i, ledger.Reset)
		b.accounts(a, r)
		if n := strings.Count(r.body, "data: "); r.status != 200 || n != events || len(a.Events) != events {
			t.Errorf("status %d, %d events at the client, %d in the ledger; want 200, %d", r.status, n, len(a.Events), events)
		}
	}
	b.fault(Fault{Kind: ResetAfterEvents, Events: 7})
	if r := b.chat("k", true, 4); r.err != nil {
		t.Errorf("a stream shorter than the fault: %v", r.err)
	}
	b.ended(4, ledger.Complete)
}

func TestResetAfterEventsCutsAWholeAnswerInTheMiddle(t *testing.T) {
	b := start(t, Timing{})
	whole := b.chat("k", false, 50).body
	b.fault(Fault{Kind: ResetAfterEvents, Events: 3})
	r := b.chat("k", false, 50)
	b.wantReset("body", r.err)
	a := b.ended(1, ledger.Reset)
	b.accounts(a, r)
	if r.body != whole[:len(whole)/2] || r.header.Get("Content-Length") == "" {
		t.Errorf("got %q of %q with %v", r.body, whole, r.header)
	}
}

func TestStatusAnswersAnErrorWithRetryAfter(t *testing.T) {
	b := start(t, Timing{})
	for i, status := range []int{400, 429, 500, 503} {
		b.fault(Fault{Kind: Status, Status: status, RetryAfter: i})
		r := b.chat("k", true, 2)
		a := b.ended(i, ledger.Complete)
		b.accounts(a, r)
		want := ""
		if i > 0 {
			want = string(rune('0' + i))
		}
		if r.status != status || r.header.Get("Retry-After") != want || !strings.Contains(r.body, `"error"`) || a.Fault != "status" {
			t.Errorf("status %d: %+v, attempt fault %q", status, r, a.Fault)
		}
		b.healthy()
	}
}

func TestARedirectLeadsNowhereUnlessToldAnd304HasNoBody(t *testing.T) {
	b := start(t, Timing{})
	for i, status := range []int{300, 302, 304, 307, 399} {
		b.fault(Fault{Kind: Status, Status: status})
		r := b.chat("k", true, 2)
		a := b.ended(i, ledger.Complete)
		b.accounts(a, r)
		empty := status == 304
		if r.status != status || a.Status != status || (r.body == "") != empty || (r.header.Get("Location") == "") != empty || (r.header.Get("Content-Type") == "") != empty {
			t.Errorf("status %d: %+v", status, r)
		}
	}
	b.fault(Fault{Kind: Status, Status: 307, Location: "http://there/path"})
	if r := b.chat("k", true, 2); r.header.Get("Location") != "http://there/path" {
		t.Errorf("a redirect that is told where to lead: %+v", r)
	}
	if r := b.do("POST", nowhere, "{}"); r.status != 404 {
		t.Errorf("who follows a redirect finds %+v", r)
	}
}

func TestACountedFaultStrikesThatManyInferenceRequestsAndIsOver(t *testing.T) {
	b := start(t, Timing{})
	b.fault(Fault{Kind: Status, Status: 503, Count: 2})
	var got []int
	for range 2 {
		b.healthy()                 // not counted
		b.do("POST", "/other", "x") // not counted
		got = append(got, b.chat("k", false, 1).status)
		if f := b.w.Fault(); len(got) == 1 && (f == nil || f.Count != 1) {
			t.Errorf("fault after one strike: %+v; want one left", f)
		}
	}
	got = append(got, b.chat("k", false, 1).status)
	if got[0] != 503 || got[1] != 503 || got[2] != 200 || b.w.Fault() != nil {
		t.Errorf("statuses %v, fault %v; want 503 503 200 and none", got, b.w.Fault())
	}
}

func TestACountedHangStaysHungWhenTheCountIsUsedUp(t *testing.T) {
	b := start(t, Timing{})
	b.fault(Fault{Kind: HangRequests, Count: 1})
	c := b.dial()
	c.send("POST", "/v1/chat/completions", chat("hung", false, 1))
	b.arrived(0)
	if r := b.chat("k", false, 1); r.status != 200 {
		t.Errorf("the request after it: %+v", r)
	}
	c.silent()
	b.must(b.w.ClearFault())
	b.ended(0, ledger.Hung)
}

func TestAFaultCanFollowAnyOther(t *testing.T) {
	b := start(t, Timing{})
	all := []Fault{{Kind: Refuse}, {Kind: Hang}, {Kind: Status, Status: 500}, {Kind: HangRequests}}
	for _, first := range all {
		for _, second := range all {
			b.fault(first)
			b.fault(second)
		}
	}
	b.must(b.w.ClearFault())
	if r := b.chat("k", false, 1); r.status != 200 {
		t.Errorf("after all of them: %+v", r)
	}
}

func TestABadFaultIsRefusedByNameAndLeavesTheOldOne(t *testing.T) {
	b := start(t, Timing{})
	b.fault(Fault{Kind: Status, Status: 500})
	for _, c := range []struct {
		fault Fault
		says  string
	}{
		{Fault{}, `kind ""`},
		{Fault{Kind: "explode"}, `"explode"`},
		{Fault{Kind: Status}, "status is 0"},
		{Fault{Kind: Status, Status: 299}, "status is 299"},
		{Fault{Kind: Status, Status: 600}, "status is 600"},
		{Fault{Kind: Status, Status: 500, RetryAfter: -1}, "negative"},
		{Fault{Kind: HangRequests, Count: -1}, "negative"},
		{Fault{Kind: Refuse, Count: 1}, "count is 1"},
		{Fault{Kind: Hang, Count: 1}, "count is 1"},
		{Fault{Kind: HangRequests, Status: 500}, "status 500"},
		{Fault{Kind: ResetBeforeHeaders, Events: 2}, "events 2"},
		{Fault{Kind: Status, Status: 500, Location: "/there"}, `"/there"`},
		{Fault{Kind: Hang, Location: "/there"}, `"/there"`},
	} {
		if err := b.w.SetFault(c.fault); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "w0") {
			t.Errorf("%+v: %v; want it to name w0 and %s", c.fault, err, c.says)
		}
	}
	if r := b.chat("k", false, 1); r.status != 500 {
		t.Errorf("the old fault is gone: %+v", r)
	}
}

func TestABadTimingOrConfigIsRefused(t *testing.T) {
	b := start(t, Timing{})
	for _, bad := range []Timing{{TTFT: -1}, {Interval: -time.Second}, {Tokens: -1}, {Tokens: 1 << 30}} {
		if err := b.w.SetTiming(bad); err == nil || !strings.Contains(err.Error(), "w0") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	good := Config{ID: "x", Models: []string{"m"}, Ledger: b.l}
	for name, spoil := range map[string]func(*Config){
		"id":     func(c *Config) { c.ID = "" },
		"models": func(c *Config) { c.Models = nil },
		"ledger": func(c *Config) { c.Ledger = nil },
		"tokens": func(c *Config) { c.Timing.Tokens = -1 },
		"addr":   func(c *Config) { c.Addr = "nowhere" },
	} {
		c := good
		spoil(&c)
		if w, err := New(c); err == nil {
			w.Close()
			t.Errorf("a config with a bad %s was accepted", name)
		}
	}
}

func TestAResetThatClosesEndsInTheOrdinaryWayAndIsAsIncomplete(t *testing.T) {
	for name, f := range map[string]Fault{
		"before headers": {Kind: ResetBeforeHeaders, Close: true},
		"after an event": {Kind: ResetAfterEvents, Events: 1, Close: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, Timing{})
			b.fault(f)
			if r := b.chat("k", true, 4); !errors.Is(r.err, io.ErrUnexpectedEOF) && !errors.Is(r.err, io.EOF) {
				t.Errorf("got %+v; want an end of file in the middle", r)
			}
			b.ended(0, ledger.Closed)
		})
	}
}

func TestErrorEventEndsAStreamWithAnErrorAndDone(t *testing.T) {
	b := start(t, Timing{})
	for i, events := range []int{0, 2, 5} { // the whole stream has 6
		b.fault(Fault{Kind: ErrorEvent, Events: events})
		r := b.chat("k", true, 4)
		a := b.ended(i, ledger.Complete)
		b.accounts(a, r)
		if n := strings.Count(r.body, "data: "); r.err != nil || r.status != 200 || n != events+2 || len(a.Events) != n ||
			strings.Count(r.body, `data: {"error":`) != 1 || !strings.HasSuffix(r.body, "\n\ndata: [DONE]\n\n") {
			t.Errorf("after %d events: %+v, %d events in the ledger", events, r, len(a.Events))
		}
	}
	b.fault(Fault{Kind: ErrorEvent, Events: 7})
	for i, stream := range []bool{true, false} {
		if r := b.chat("k", stream, 4); r.err != nil || strings.Contains(r.body, `"error"`) {
			t.Errorf("a stream that is shorter, or an answer without stream: %+v", r)
		}
		b.ended(3+i, ledger.Complete)
	}
}
