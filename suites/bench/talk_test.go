package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

// lines is what a fake adapter answers to an operation: whole lines, without ends,
// in which ID stands for the request's id. Nil is no answer.
type lines []string

func ok(result string) lines { return lines{`{"id":ID,"ok":` + result + `}`} }

// fake makes a pool whose adapter is played: it claims all that the affinity
// component can, makes an instance, and answers the operations of play as it says and
// all others with nothing to tell. A played "end" ends its output.
func fake(t *testing.T, claims string, play map[string]lines) *Pool {
	t.Helper()
	answers := map[string]lines{
		"hello": ok(`{"name":"fake","version":"0","protocol":1,"components":["affinity"],"claims":[` + claims + `]}`),
		"new":   ok(`{"instance":"i"}`), "sync": ok(`{"parked":[]}`),
	}
	for op, l := range play {
		answers[op] = l
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer outW.Close()
		for in := bufio.NewScanner(inR); in.Scan(); {
			var r struct {
				ID json.RawMessage `json:"id"`
				Op string          `json:"op"`
			}
			if json.Unmarshal(in.Bytes(), &r) != nil {
				return
			}
			all, known := answers[r.Op]
			if !known {
				all = ok(`{}`)
			}
			for _, l := range all {
				if l == "end" {
					return
				}
				fmt.Fprintln(outW, strings.ReplaceAll(l, "ID", string(r.ID)))
			}
		}
	}()
	c := component.Open(inW, outR, component.Options{Grace: time.Second, End: func(context.Context) error {
		err := inR.Close()
		<-ended
		return err
	}})
	p := NewPool(Env{Manifest: target.Reference(nil), Seed: 1})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	hello, err := c.Hello(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.adapter = &adapter{c, hello}
	return p
}

const everything = `"clock","ranks","tenant","phases","count","concurrency"`

// bound is a conversation that any right component passes.
func bound(limit time.Duration) Case {
	s := script.New(script.Config{IdleTTL: time.Second}, script.Worker{ID: "w1"})
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Commit("a", script.At("w1")).Is(script.Done).And("b", script.Bound(script.At("w1")))
	s.Count().Is(script.Holds(1, 2))
	c := Scripted("AFF-001/test", "two turns", "one binding", s)
	c.Limit = limit
	return c.Normal()
}

func few(limit time.Duration) Case {
	crowd := Crowd{Callers: 4, Sessions: 2, Turns: 6, Workers: []string{"w1", "w2"}, Deaths: true}
	return Case{ID: "AFF-019/test", Claims: []string{ComponentClaim}, Talk: crowd, Limit: limit, Judge: judge.Linear(crowd.Workers, 12)}.Normal()
}

// exec runs a case and returns its evidence, too.
func exec(t *testing.T, p *Pool, c Case) (Outcome, *history.History) {
	t.Helper()
	var h *history.History
	out := p.Exec(t.Context(), c, 7, func(got *history.History) error { h = got; return nil })
	return out, h
}

func TestTheReferencePassesConversations(t *testing.T) {
	p := NewPool(Env{Manifest: target.Reference(nil), Seed: 1})
	defer p.Close()
	for _, c := range []Case{bound(0), few(0), bound(0)} {
		out, h := exec(t, p, c)
		if out.Verdict != report.Pass || h == nil || h.Talk == nil || h.Talk.Adapter == "" || h.Talk.Fault != "" {
			t.Fatalf("%s: got %+v, %+v", c.ID, out, h)
		}
		switch {
		case c.Script() != nil && (len(h.Talk.Turns) != len(c.Script().Steps) || len(h.Talk.Lines) == 0):
			t.Errorf("%s: %d turns, %d lines in the evidence", c.ID, len(h.Talk.Turns), len(h.Talk.Lines))
		case c.Script() != nil && fmt.Sprint(h.Talk.Turns[2].Waiting) != "[b]":
			t.Errorf("%s: %v wait", c.ID, h.Talk.Turns[2].Waiting)
		case c.Script() == nil && len(h.Ops) < 24:
			t.Errorf("%s: %d operations in the evidence", c.ID, len(h.Ops))
		}
	}
}

func TestAnAdapterThatLacksAClaimDeclines(t *testing.T) {
	s := script.New(script.Config{IdleTTL: time.Second}, script.Worker{ID: "w1"})
	s.Advance(time.Second)
	clock := Scripted("AFF-006/test", "time", "passes", s).Normal()
	for claim, c := range map[string]Case{"clock": clock, "concurrency": few(0)} {
		p := fake(t, `"count"`, nil)
		out, h := exec(t, p, c)
		if out.Verdict != report.Declined || !strings.Contains(out.Detail, "does not claim "+claim) || h != nil {
			t.Errorf("%s: got %+v", claim, out)
		}
		if p.adapter == nil {
			t.Errorf("%s: the adapter was ended", claim)
		}
	}
}

func TestAPolicyThatTheAdapterLacksIsDeclinedAndNoOtherSetting(t *testing.T) {
	play := map[string]lines{"new": {`{"id":ID,"error":{"kind":"unsupported","message":"not here"}}`}}
	for policy, want := range map[string]report.Verdict{"evict": report.Declined, "": report.Fail} {
		c := Scripted("AFF-009/test", "a full table", "makes room", script.New(script.Config{IdleTTL: time.Second, AtCapacity: policy}, script.Worker{ID: "w1"})).Normal()
		out, _ := exec(t, fake(t, everything, play), c)
		if out.Verdict != want {
			t.Errorf("atCapacity %q: got %+v, want %s", policy, out, want)
		}
	}
}

func TestAnAdapterThatLacksTheClaimOfOneStepIsNotAskedIt(t *testing.T) {
	s := script.New(script.Config{IdleTTL: time.Second}, script.Worker{ID: "w1"})
	s.Count().Is(script.Holds(9, 9))
	out, h := exec(t, fake(t, `"clock"`, nil), Scripted("AFF-012/test", "a count", "is right", s).Normal())
	if out.Verdict != report.Pass || len(h.Talk.Turns) != 2 || !h.Talk.Turns[1].Unable {
		t.Errorf("got %+v, %+v", out, h.Talk)
	}
}

func TestAnAdapterThatFaultsFailsAndTheNextCaseGetsANewOne(t *testing.T) {
	lease := ok(`{"state":"initializer","lease":"l"}`)
	for name, c := range map[string]struct {
		play map[string]lines
		want string // in the evidence
	}{
		"no JSON":                       {map[string]lines{"acquire": {"xyz"}}, "line: xyz"},
		"a member too many":             {map[string]lines{"acquire": ok(`{"state":"initializer","lease":"l","traget":{}}`)}, "traget"},
		"an answer that nobody asked":   {map[string]lines{"acquire": append(lease, `{"id":"stray","ok":{}}`)}, "stray"},
		"two answers":                   {map[string]lines{"acquire": append(lease, lease...)}, "second answer"},
		"no answer":                     {map[string]lines{"acquire": nil}, "answer"}, // to a crowd; a script learns it from sync
		"no answer to sync":             {map[string]lines{"acquire": lease, "sync": nil}, "no answer"},
		"an end in the middle":          {map[string]lines{"acquire": {"end"}}, "ended"},
		"a sync that parks what is not": {map[string]lines{"acquire": lease, "sync": ok(`{"parked":[999]}`)}, "999"},
		"no instance":                   {map[string]lines{"new": {`{"id":ID,"error":{"kind":"invalid_argument","message":"not me"}}`}}, "make an instance: invalid_argument: not me"},
		"an instance without a name":    {map[string]lines{"new": ok(`{"instance":1}`)}, "instance"},
	} {
		for _, kind := range []func(time.Duration) Case{bound, few} {
			limit := 20 * time.Second
			if strings.HasPrefix(name, "no answer") {
				limit = 200 * time.Millisecond
			}
			limited := kind(limit)
			if limited.Script() == nil && strings.Contains(name, "sync") {
				continue // a crowd asks none
			}
			t.Run(limited.ID+" "+name, func(t *testing.T) {
				p := fake(t, everything, c.play)
				first := p.adapter
				out, h := exec(t, p, limited)
				if out.Verdict != report.Fail || len(out.Finding.Violations) != 1 || out.Duration > 5*time.Second {
					t.Fatalf("got %+v", out)
				}
				if h.Talk == nil || !strings.Contains(h.Talk.Fault, c.want) || !strings.Contains(out.Finding.Violations[0].Observed, c.want) {
					t.Errorf("evidence %+v, finding %+v", h.Talk, out.Finding)
				}
				next, _ := exec(t, p, bound(0))
				if next.Verdict != report.Pass || p.adapter == first {
					t.Errorf("the next case: %+v", next)
				}
			})
		}
	}
}

func TestAWrongAnswerIsNoFaultAndKeepsTheAdapter(t *testing.T) {
	p := fake(t, everything, map[string]lines{"acquire": ok(`{"state":"unpinned"}`)})
	first := p.adapter
	for range 2 {
		out, h := exec(t, p, bound(0))
		if out.Verdict != report.Fail || h.Talk.Fault != "" || !strings.Contains(out.Finding.Violations[0].Observed, "served without a binding") {
			t.Errorf("got %+v", out)
		}
	}
	if p.adapter != first {
		t.Error("another adapter was started")
	}
}

func TestACrowdThatIsAnsweredWithErrorsFails(t *testing.T) {
	for _, kind := range []string{"cancelled", "internal", "unavailable", "resource_exhausted", "stale"} {
		refuses := lines{`{"id":ID,"error":{"kind":"` + kind + `","message":"no"}}`}
		out, h := exec(t, fake(t, everything, map[string]lines{"acquire": refuses, "query": ok(`{"bound":false}`)}), few(0))
		if out.Verdict != report.Fail || len(h.Ops) == 0 || !strings.Contains(out.Finding.Violations[0].Expected, "an order of the operations") {
			t.Errorf("%s: got %+v", kind, out)
		}
	}
}

func TestAnAdapterThatDoesNotComeUpFails(t *testing.T) {
	refused := fmt.Errorf("hello: %w", &component.Error{Kind: component.Unsupported, Message: "version 2 only"})
	for name, err := range map[string]error{
		"a fault": &component.Fault{Kind: component.Ended, Problem: "at once"}, "a refusal": refused,
		"a program that does not start": &target.UnreachableError{Reason: "exec format error"},
	} {
		var out Outcome
		out.spoken(t.Context(), err)
		if out.Verdict != report.Fail || out.Target == nil || len(out.Finding.Violations) != 1 {
			t.Errorf("%s: got %+v", name, out)
		}
	}
	p := NewPool(Env{Manifest: target.Reference(nil)})
	p.env.Manifest.Component = nil
	if out, _ := exec(t, p, bound(0)); out.Verdict != report.Error || out.Target != nil || !strings.Contains(out.Detail, "declares no component") {
		t.Errorf("got %+v", out)
	}
}

func TestTheHarnesssOwnTroubleInAConversationIsAnError(t *testing.T) {
	p := fake(t, everything, nil)
	panics := bound(0)
	panics.Judge = func(*history.History) judge.Finding { panic("no verdict") }
	if out := p.Exec(t.Context(), panics, 7, nil); out.Verdict != report.Error || !strings.Contains(out.Detail, "no verdict") {
		t.Errorf("got %+v", out)
	}
	out := p.Exec(t.Context(), bound(0), 7, func(*history.History) error { return fmt.Errorf("disk full") })
	if out.Verdict != report.Error || !strings.Contains(out.Detail, "disk full") {
		t.Errorf("got %+v", out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	interrupts := bound(0)
	cancel()
	if out := p.Exec(ctx, interrupts, 7, nil); out.Verdict != report.Error || out.Detail != "interrupted" {
		t.Errorf("got %+v", out)
	}
}
