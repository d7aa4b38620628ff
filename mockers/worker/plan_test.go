package worker

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
)

func TestHeldHeadersComeWithRelease(t *testing.T) {
	for _, stream := range []bool{false, true} {
		b := start(t, Timing{})
		h := b.plan("k", Plan{HoldHeaders: true})
		c := b.dial()
		c.send("POST", "/v1/chat/completions", chat("k", stream, 2))
		b.arrived(0)
		c.silent()
		if a := b.arrived(0); a.HeadersAt != ledger.Unset {
			t.Errorf("stream %v: headers at %v before their release", stream, a.HeadersAt)
		}
		released := b.l.Now()
		h.Release()
		if r := c.recv(); r.status != 200 || r.err != nil {
			t.Errorf("stream %v: %+v", stream, r)
		}
		if a := b.ended(0, ledger.Complete); a.HeadersAt < released {
			t.Errorf("stream %v: headers at %v, released at %v", stream, a.HeadersAt, released)
		}
	}
}

func TestAGoodAnswerHasThePlansStatus(t *testing.T) {
	for _, stream := range []bool{false, true} {
		b := start(t, Timing{})
		for i, status := range []int{0, 201, 202} {
			b.plan("k", Plan{Status: status})
			c := b.dial()
			c.send("POST", "/v1/chat/completions", chat("k", stream, 2))
			want := max(status, 200)
			if r := c.recv(); r.status != want || r.err != nil {
				t.Errorf("stream %v, status %d: %+v", stream, status, r)
			}
			if a := b.ended(i, ledger.Complete); a.Status != want {
				t.Errorf("stream %v, status %d: the ledger says %d", stream, status, a.Status)
			}
		}
	}
}

func TestHeldHeadersAlsoHoldErrorsAndResets(t *testing.T) {
	b := start(t, Timing{})
	for i, f := range []Fault{{Kind: Status, Status: 500}, {Kind: ResetBeforeHeaders}} {
		h := b.plan("k", Plan{HoldHeaders: true, Fault: &f})
		c := b.dial()
		c.send("POST", "/v1/chat/completions", chat("k", false, 2))
		b.arrived(i)
		c.silent()
		h.Release()
		if r := c.recv(); r.status != f.Status {
			t.Errorf("%s: %+v", f.Kind, r)
		}
	}
}

func TestAStepWritesExactlyOneEvent(t *testing.T) {
	b := start(t, Timing{TTFT: time.Hour}) // the steps take the timing's place
	h := b.plan("k", Plan{Step: true})
	c := b.dial()
	c.send("POST", "/v1/chat/completions", chat("k", true, 2)) // role, 2 tokens, [DONE]
	b.attempt(0, "headers", func(a *ledger.Attempt) bool { return a.Status == 200 })
	var r reply
	done := make(chan struct{})
	go func() { defer close(done); r = c.recv() }()
	for n := 1; n <= 4; n++ {
		h.Advance()
		b.events(0, n)
		if a := b.arrived(0); len(a.Events) != n {
			t.Fatalf("%d events after %d steps", len(a.Events), n)
		}
	}
	<-done
	b.accounts(b.ended(0, ledger.Complete), r)
}

func TestAPlanSteersEveryAttemptWithItsKeyAndNoOther(t *testing.T) {
	b := start(t, Timing{})
	h := b.plan("k", Plan{Step: true, Events: 2})
	h.Advance()
	h.Advance()
	for i := range 2 {
		c := b.dial()
		c.send("POST", "/v1/chat/completions", chat("k", true, 7))
		b.events(i, 2)
	}
	if r := b.chat("else", true, 7); strings.Count(r.body, "data: ") != 9 {
		t.Errorf("a request without plan: %+v", r)
	}
	h.Finish()
	for i := range 2 {
		if a := b.ended(i, ledger.Complete); len(a.Events) != 4 { // role, 2 tokens, [DONE]
			t.Errorf("attempt %d has %d events; want 4", i, len(a.Events))
		}
	}
}

func TestAPlanStrikesTheFirstAttemptsInOneWayAndTheNextInAnother(t *testing.T) {
	b := start(t, Timing{})
	b.plan("k", Plan{Fault: &Fault{Kind: Status, Status: 503, Count: 1}, Then: &Fault{Kind: Status, Status: 500}})
	for i, want := range []int{503, 500, 500} {
		if r := b.chat("k", false, 1); r.status != want {
			t.Errorf("attempt %d: %d, want %d", i+1, r.status, want)
		}
	}
}

func TestAPlannedFaultGoesBeforeTheWorkersAndIsCountedByAttempt(t *testing.T) {
	b := start(t, Timing{})
	b.fault(Fault{Kind: Status, Status: 429, Count: 1})
	b.plan("k", Plan{Fault: &Fault{Kind: Status, Status: 503, Count: 1}})
	got := []int{b.chat("k", false, 1).status, b.chat("k", false, 1).status, b.chat("x", false, 1).status, b.chat("x", false, 1).status}
	for i, want := range []int{503, 200, 429, 200} {
		if got[i] != want {
			t.Fatalf("statuses %v; want 503, 200 for the planned key, then 429, 200", got)
		}
	}
}

func TestAPlannedHangEndsWithRelease(t *testing.T) {
	b := start(t, Timing{})
	h := b.plan("k", Plan{Fault: &Fault{Kind: HangRequests}})
	c := b.dial()
	c.send("POST", "/v1/chat/completions", chat("k", false, 1))
	b.arrived(0)
	c.silent()
	b.must(b.w.ClearFault()) // not the worker's to clear
	c.silent()
	h.Release()
	b.wantReset("hung request", c.recv().err)
	b.ended(0, ledger.Hung)
}

func TestAPlanSetsTheInterval(t *testing.T) {
	b := start(t, Timing{})
	const interval = 20 * time.Millisecond
	b.plan("k", Plan{Interval: interval, Events: 3})
	b.chat("k", true, 99)
	a := b.ended(0, ledger.Complete)
	if len(a.Events) != 5 || a.Events[3]-a.HeadersAt < 2*interval {
		t.Errorf("headers at %v, events at %v; want 3 tokens %s apart", a.HeadersAt, a.Events, interval)
	}
}

func TestAPlanSetsTheTimeToFirstToken(t *testing.T) {
	b := start(t, Timing{})
	const ttft = 30 * time.Millisecond
	b.plan("k", Plan{TTFT: ttft})
	b.chat("k", true, 1)
	if a := b.ended(0, ledger.Complete); a.Events[0]-a.HeadersAt < ttft {
		t.Errorf("first event %s after the headers; want at least %s", a.Events[0]-a.HeadersAt, ttft)
	}
}

func TestAHeldFinishKeepsBackTheEndUntilRelease(t *testing.T) {
	b := start(t, Timing{})
	whole := b.chat("k", false, 30).body
	for i, stream := range []bool{false, true} {
		h := b.plan("k", Plan{HoldFinish: true})
		c := b.dial()
		c.send("POST", "/v1/chat/completions", chat("k", stream, 30))
		if stream {
			b.events(i+1, 31) // role and tokens, without [DONE]
		} else {
			b.attempt(i+1, "half", func(a *ledger.Attempt) bool { return a.BytesSent == int64(len(whole)/2) })
		}
		c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
		got, err := io.ReadAll(c.br)
		if !errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(got), "[DONE]") {
			t.Fatalf("stream %v: got the end before its release: %q, %v", stream, got, err)
		}
		c.SetReadDeadline(time.Now().Add(patience))
		h.Release()
		c.br = bufio.NewReader(io.MultiReader(bytes.NewReader(got), c.br))
		r := c.recv()
		if r.err != nil || (stream && !strings.HasSuffix(r.body, "[DONE]\n\n")) || (!stream && r.body != whole) {
			t.Errorf("stream %v: %+v", stream, r)
		}
		b.accounts(b.ended(i+1, ledger.Complete), r)
	}
}

func TestAResetByHandComesBehindExactlyTheEventsAdvanced(t *testing.T) {
	for steps := range 4 {
		b := start(t, Timing{})
		h := b.plan("k", Plan{Step: true})
		for range steps {
			h.Advance()
		}
		c := b.dial()
		c.send("POST", "/v1/chat/completions", chat("k", true, 9))
		if steps%2 == 0 {
			b.events(0, steps) // also when it overtakes the steps
		}
		h.Reset()
		r := c.recv()
		b.wantReset("stream", r.err)
		a := b.ended(0, ledger.Reset)
		b.accounts(a, r)
		if len(a.Events) != steps {
			t.Errorf("%d events before the reset; want %d", len(a.Events), steps)
		}
	}
}

func TestAPlannedHeaderIsInEveryAnswerWithEachValueOnItsLine(t *testing.T) {
	b := start(t, Timing{})
	header := http.Header{"Set-Cookie": {"a=1", "b=2"}, "X-Mock-List": {"1", "2, 3"}}
	b.plan("whole", Plan{Header: header})
	b.plan("stream", Plan{Header: header})
	b.plan("error", Plan{Header: header, Fault: &Fault{Kind: Status, Status: 503}})
	for i, key := range []string{"whole", "stream", "error", "other"} {
		r := b.chat(key, key == "stream", 2)
		a := b.ended(i, ledger.Complete)
		for name, want := range header {
			if key == "other" {
				want = nil
			}
			if got, noted := r.header.Values(name), a.SentHeader[name]; !slices.Equal(got, want) || !slices.Equal(noted, want) {
				t.Errorf("%s: %s is %q, in the ledger %q; want %q", key, name, got, noted, want)
			}
		}
	}
}

func TestANewPlanReplacesAndADroppedOneIsForgotten(t *testing.T) {
	b := start(t, Timing{})
	b.plan("k", Plan{Fault: &Fault{Kind: Status, Status: 500}})
	b.plan("k", Plan{Fault: &Fault{Kind: Status, Status: 503}})
	if r := b.chat("k", false, 1); r.status != 503 {
		t.Errorf("replaced plan: %d", r.status)
	}
	b.plans.Drop("k")
	if r := b.chat("k", false, 1); r.status != 200 {
		t.Errorf("dropped plan: %d", r.status)
	}
}

func TestABadPlanIsRefusedByName(t *testing.T) {
	var p Plans
	for _, c := range []struct {
		key  string
		plan Plan
		says string
	}{
		{"", Plan{}, "key is empty"},
		{"k", Plan{Events: -1}, "events is -1"},
		{"k", Plan{Status: 204}, "status is 204"},
		{"k", Plan{Status: 404}, "status is 404"},
		{"k", Plan{Interval: -1}, "interval"},
		{"k", Plan{Fault: &Fault{Kind: Refuse}}, "refuse"},
		{"k", Plan{Fault: &Fault{Kind: "no"}}, `"no"`},
		{"k", Plan{Header: http.Header{"Content-Length": {"1"}}}, `"Content-Length"`},
		{"k", Plan{Header: http.Header{"x-a": {"1"}}}, `"x-a"`},
		{"k", Plan{Then: &Fault{Kind: HangRequests}}, "then follows"},
		{"k", Plan{Fault: &Fault{Kind: HangRequests}, Then: &Fault{Kind: HangRequests}}, "then follows"},
		{"k", Plan{Fault: &Fault{Kind: HangRequests, Count: 1}, Then: &Fault{Kind: Hang}}, "hang"},
	} {
		if _, err := p.Set(c.key, c.plan); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q %+v: %v; want %s", c.key, c.plan, err, c.says)
		}
	}
}

func TestAWorkerServesOtherModelsFromThenOn(t *testing.T) {
	b := start(t, Timing{})
	b.w.Serve("new", "mock")
	for model, want := range map[string]int{"new": 200, "mock": 200, "other": 404} {
		if r := b.do("POST", "/v1/chat/completions", strings.Replace(chat("k", false, 1), "mock", model, 1)); r.status != want {
			t.Errorf("%s: %d, want %d", model, r.status, want)
		}
	}
	if r := b.do("GET", "/metrics", ""); b.w.Models()[0] != "new" || !strings.Contains(r.body, `model_name="new"`) {
		t.Errorf("models %v, metrics: %s", b.w.Models(), r.body)
	}
}
