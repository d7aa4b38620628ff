package worker

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/handoff"
	"github.com/routeproof/routeproof/mockers/ledger"
)

const askIssue = `{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}`

// leg is a request of one leg, for model mock, with these kv_transfer_params.
func leg(key, params string, stream bool, tokens int) string {
	body := chat(key, stream, tokens)
	return strings.TrimSuffix(body, "}") + `,"kv_transfer_params":` + params + `}`
}

func (b *bed) leg(key, params string, stream bool, tokens int) reply {
	b.Helper()
	return b.do("POST", "/v1/chat/completions", leg(key, params, stream, tokens))
}

// passed are the parameters that an answer passes to the decode worker.
func passed(t *testing.T, r reply) string {
	t.Helper()
	var a struct {
		Params json.RawMessage `json:"kv_transfer_params"`
	}
	if err := json.Unmarshal([]byte(r.body), &a); err != nil || len(a.Params) == 0 {
		t.Fatalf("no kv_transfer_params in %+v: %v", r, err)
	}
	return string(a.Params)
}

// hands checks what an attempt had to do with hand-offs.
func (b *bed) hands(n int, asked ledger.Asked, outcome ledger.Outcome, issuer int) ledger.Handoff {
	b.Helper()
	a := b.attempt(n, "over", func(a *ledger.Attempt) bool { return a.End != ledger.Running })
	if a.Handoff == nil || a.Handoff.Asked != asked || a.Handoff.Outcome != outcome || a.Handoff.Issuer != issuer {
		b.Fatalf("attempt %d: hand-off %+v; want %s, %s, issued by %d", n, a.Handoff, asked, outcome, issuer)
	}
	return *a.Handoff
}

// pair is a prefill worker w0 and a decode worker w1.
func pair(t *testing.T, ranks int) (p, d *bed) {
	p = startAs(t, Shape{Prefill, ranks}, Timing{})
	return p, p.beside("w1", Shape{Decode, ranks})
}

func TestAHandoffPassesFromPrefillToDecode(t *testing.T) {
	for _, stream := range []bool{false, true} {
		p, d := pair(t, 4)
		r := p.do("POST", "/v1/chat/completions", leg("k", askIssue, false, 1), "X-data-parallel-rank: 2")
		p.accounts(p.ended(0, ledger.Complete), r)
		params := passed(t, r)
		issued := p.hands(0, ledger.AskedIssue, ledger.Issued, 0)
		if issued.Engine != "w0-1_dp2" || !strings.Contains(params, `"remote_request_id":"`+issued.ID+`"`) || !strings.Contains(params, `"remote_engine_id":"w0-1_dp2"`) {
			t.Errorf("issued %+v, answered %s", issued, params)
		}
		r = d.do("POST", "/v1/chat/completions", leg("k", params, stream, 5), "X-data-parallel-rank: 1")
		a := d.ended(1, ledger.Complete)
		d.accounts(a, r)
		used := d.hands(1, ledger.AskedUse, ledger.Consumed, 0)
		if r.status != 200 || used.ID != issued.ID || used.Engine != issued.Engine || a.Role != "decode" || a.MaxTokens != 5 || strings.Contains(r.body, "kv_transfer") {
			t.Errorf("stream %v: used %+v, %+v", stream, used, r)
		}
		all, _ := p.w.handoffs.Snapshot(0)
		if len(all) != 1 || all[0].Outcome != ledger.Consumed || all[0].Model != "mock" ||
			all[0].Issued != (handoff.Party{Worker: "w0", Incarnation: 1, Rank: 2, Attempt: 0}) ||
			*all[0].Consumed != (handoff.Party{Worker: "w1", Incarnation: 1, Rank: 1, Attempt: 1}) {
			t.Errorf("records %+v", all)
		}
	}
}

func TestAnAnswerThatIssuesAHandoffIsNeverStreamed(t *testing.T) {
	p, _ := pair(t, 0)
	r := p.leg("k", askIssue, true, 3)
	a := p.ended(0, ledger.Complete)
	p.accounts(a, r)
	passed(t, r)
	if !a.Stream || len(a.Events) != 0 || r.header.Get("Content-Type") != "application/json" || a.MaxTokens != 3 || a.Handoff.Engine != "w0-1" {
		t.Errorf("%+v, attempt %+v", r, a)
	}
}

func TestAPrefillWorkerThatIsAskedForNoHandoffAnswersLikeAnAggregatedOneAndSaysSo(t *testing.T) {
	p, _ := pair(t, 0)
	plain := start(t, Timing{})
	for i, stream := range []bool{false, true} {
		r, want := p.chat("k", stream, 4), plain.chat("k", stream, 4)
		if r.status != 200 || r.body != want.body {
			t.Errorf("stream %v: %q; want %q", stream, r.body, want.body)
		}
		p.hands(i, ledger.AskedNone, ledger.Unasked, ledger.NoIssuer)
	}
	p.leg("k", `{}`, false, 1)
	p.hands(2, ledger.AskedNone, ledger.Unasked, ledger.NoIssuer)
}

func TestADecodeWorkerServesWhateverItIsGivenAndTheLedgerTellsWhat(t *testing.T) {
	p, d := pair(t, 0)
	params := passed(t, p.leg("k", askIssue, false, 1))
	again := func(old, new string) string { return strings.Replace(params, old, new, 1) }
	id := p.arrived(0).Handoff.ID
	for i, c := range []struct {
		params  string
		asked   ledger.Asked
		outcome ledger.Outcome
		issuer  int
	}{
		{`null`, ledger.AskedNone, ledger.Missing, -1},
		{`{}`, ledger.AskedNone, ledger.Missing, -1},
		{`{"do_remote_prefill":true}`, ledger.AskedUse, ledger.Malformed, -1},
		{`{"do_remote_prefill":"yes"}`, ledger.AskedNone, ledger.Malformed, -1},
		{again(`"do_remote_decode":false`, `"do_remote_decode":true`), ledger.AskedBoth, ledger.Malformed, -1},
		{again(id, "nobody"), ledger.AskedUse, ledger.Unknown, -1},
		{again("w0-1", "w0-2"), ledger.AskedUse, ledger.Altered, 0},
		{again("[[", "[[7,"), ledger.AskedUse, ledger.Altered, 0},
		{params, ledger.AskedUse, ledger.Consumed, 0},
		{params, ledger.AskedUse, ledger.Reused, 0},
	} {
		stream := i%2 == 0
		r := d.leg("k", c.params, stream, 3)
		d.accounts(d.ended(i+1, ledger.Complete), r)
		if r.status != 200 || strings.HasSuffix(r.body, "[DONE]\n\n") != stream {
			t.Errorf("%s: %+v", c.params, r)
		}
		d.hands(i+1, c.asked, c.outcome, c.issuer)
	}
}

func TestAHandoffForAnotherModelIsNotUsedUp(t *testing.T) {
	p, d := pair(t, 0)
	params := passed(t, p.leg("k", askIssue, false, 1))
	d.do("POST", "/v1/chat/completions", strings.Replace(leg("k", params, false, 1), `"mock"`, `"other"`, 1))
	d.hands(1, ledger.AskedUse, ledger.WrongModel, 0)
	d.leg("k", params, false, 1)
	d.hands(2, ledger.AskedUse, ledger.Consumed, 0)
}

func TestAHandoffIsGoneWithItsIssuersLifeAndNotWithItsPort(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(p *bed)
		want    ledger.Outcome
	}{
		"the issuer crashes":             {func(p *bed) { p.w.Crash() }, ledger.IssuerGone},
		"the issuer restarts":            {func(p *bed) { p.w.Crash(); p.must(p.w.Restart()) }, ledger.IssuerGone},
		"the issuer closes":              {func(p *bed) { p.must(p.w.Close()) }, ledger.IssuerGone},
		"the issuer refuses connections": {func(p *bed) { p.fault(Fault{Kind: Refuse}) }, ledger.Consumed},
		"the issuer hangs":               {func(p *bed) { p.fault(Fault{Kind: Hang}) }, ledger.Consumed},
	} {
		t.Run(name, func(t *testing.T) {
			p, d := pair(t, 0)
			params := passed(t, p.leg("k", askIssue, false, 1))
			c.happens(p)
			if r := d.leg("k", params, true, 2); r.status != 200 {
				t.Errorf("decode: %+v", r)
			}
			d.hands(1, ledger.AskedUse, c.want, 0)
		})
	}
}

func TestADecodeWorkersRestartDoesNotTouchWhatItHasNotFetched(t *testing.T) {
	p, d := pair(t, 0)
	params := passed(t, p.leg("k", askIssue, false, 1))
	d.w.Crash()
	d.must(d.w.Restart())
	d.leg("k", params, false, 1)
	d.hands(1, ledger.AskedUse, ledger.Consumed, 0)
}

func TestWhatComesBeforeTheBlocksAreFetchedLeavesTheHandoffForTheNext(t *testing.T) {
	for _, f := range []Fault{{Kind: Status, Status: 503}, {Kind: ResetBeforeHeaders}, {Kind: HangRequests}} {
		t.Run(string(f.Kind), func(t *testing.T) {
			p, d := pair(t, 0)
			e := p.beside("w2", Shape{Role: Decode})
			params := passed(t, p.leg("k", askIssue, false, 1))
			d.fault(f)
			c := d.dial()
			c.send("POST", "/v1/chat/completions", leg("k", params, true, 2))
			d.arrived(1)
			d.must(d.w.ClearFault())
			c.recv()
			if h := d.hands(1, ledger.AskedUse, ledger.Untouched, -1); h.ID != p.arrived(0).Handoff.ID {
				t.Errorf("untouched: %+v", h)
			}
			e.leg("k", params, true, 2)
			e.hands(2, ledger.AskedUse, ledger.Consumed, 0)
		})
	}
	p, d := pair(t, 1)
	params := passed(t, p.leg("k", askIssue, false, 1))
	d.do("POST", "/v1/chat/completions", leg("k", params, false, 1), "X-data-parallel-rank: 1")
	d.hands(1, ledger.AskedUse, ledger.Untouched, -1)
	d.leg("k", params, false, 1)
	d.hands(2, ledger.AskedUse, ledger.Consumed, 0)
}

func TestAStreamThatBreaksHasUsedItsHandoffUp(t *testing.T) {
	p, d := pair(t, 0)
	params := passed(t, p.leg("k", askIssue, false, 1))
	d.fault(Fault{Kind: ResetAfterEvents, Events: 0, Count: 1})
	d.leg("k", params, true, 2)
	d.hands(1, ledger.AskedUse, ledger.Consumed, 0)
	d.leg("k", params, true, 2)
	d.hands(2, ledger.AskedUse, ledger.Reused, 0)
}

func TestAPrefillWorkerUnderAFaultIssuesNothingUnlessItAnswers(t *testing.T) {
	for _, c := range []struct {
		fault  Fault
		want   ledger.Outcome
		issued int
	}{
		{Fault{Kind: Status, Status: 500}, ledger.Withheld, 0},
		{Fault{Kind: ResetBeforeHeaders}, ledger.Withheld, 0},
		{Fault{Kind: ResetAfterEvents}, ledger.Issued, 1}, // and half of the answer is lost
	} {
		p, _ := pair(t, 0)
		p.fault(c.fault)
		p.leg("k", askIssue, false, 1)
		a := p.attempt(0, "over", func(a *ledger.Attempt) bool { return a.End != ledger.Running })
		all, _ := p.w.handoffs.Snapshot(0)
		if a.Handoff.Outcome != c.want || len(all) != c.issued {
			t.Errorf("%s: %s, records %+v", c.fault.Kind, a.Handoff.Outcome, all)
		}
		if len(all) == 1 && all[0].Outcome != ledger.NeverConsumed {
			t.Errorf("%s: the hand-off is %s", c.fault.Kind, all[0].Outcome)
		}
	}
}

func TestACrashUnderAPrefillLeavesNoHandoff(t *testing.T) {
	p := startAs(t, Shape{Role: Prefill}, Timing{TTFT: time.Hour})
	c := p.dial()
	c.send("POST", "/v1/chat/completions", leg("k", askIssue, false, 1))
	p.arrived(0)
	p.w.Crash()
	p.wantReset("prefill", c.recv().err)
	p.ended(0, ledger.Crashed)
	p.hands(0, ledger.AskedIssue, ledger.Withheld, -1)
	if p.w.handoffs.Len() != 0 {
		t.Errorf("%d hand-offs", p.w.handoffs.Len())
	}
}

func TestAnAggregatedWorkerIgnoresHandoffsAndSaysSo(t *testing.T) {
	p, _ := pair(t, 0)
	params := passed(t, p.leg("k", askIssue, false, 1))
	plain := p.beside("w2", Shape{})
	want := plain.chat("k", true, 2).body
	if a := plain.ended(1, ledger.Complete); a.Handoff != nil {
		t.Errorf("a plain request has a hand-off: %+v", a.Handoff)
	}
	for i, c := range []struct {
		params string
		asked  ledger.Asked
	}{{askIssue, ledger.AskedIssue}, {params, ledger.AskedUse}, {`{"do_remote_decode":7}`, ledger.AskedNone}} {
		if r := plain.leg("k", c.params, true, 2); r.body != want {
			t.Errorf("%s: %+v", c.params, r)
		}
		plain.hands(i+2, c.asked, ledger.Ignored, -1)
	}
	plain.leg("k", `{}`, true, 2)
	if a := plain.ended(5, ledger.Complete); a.Handoff != nil {
		t.Errorf("a request that asks for nothing has a hand-off: %+v", a.Handoff)
	}
	if all, _ := p.w.handoffs.Snapshot(0); all[0].Outcome != ledger.NeverConsumed || all[0].Refused != 0 {
		t.Errorf("the hand-off was touched: %+v", all[0])
	}
}

func TestTheConnectorTakesNoNoticeOfTheRole(t *testing.T) {
	p, d := pair(t, 0)
	params := passed(t, d.leg("k", askIssue, false, 1)) // the legs are swapped
	p.leg("k", params, true, 2)
	if h := p.hands(1, ledger.AskedUse, ledger.Consumed, 0); h.Engine != "w1-1" {
		t.Errorf("used %+v", h)
	}
}

func TestParametersThatAreNoObjectAreRefusedAsAnEngineWould(t *testing.T) {
	p, d := pair(t, 0)
	for i, b := range []*bed{p, d} {
		r := b.leg("k", `[1]`, true, 2)
		a := b.ended(i, ledger.Complete)
		if r.status != 400 || !strings.Contains(r.body, "kv_transfer_params") || a.Handoff != nil || a.Key != "k" {
			t.Errorf("%s: %+v, hand-off %+v", b.w.ID(), r, a.Handoff)
		}
	}
}

func TestAHugePresentedNameIsKeptInPart(t *testing.T) {
	_, d := pair(t, 0)
	huge := strings.Repeat("x", 3*keepID)
	d.leg("k", fmt.Sprintf(`{"do_remote_prefill":true,"remote_request_id":%q,"remote_engine_id":%q,"remote_host":"h","remote_port":1,"remote_block_ids":[[1]]}`, huge, huge), false, 1)
	if h := d.hands(0, ledger.AskedUse, ledger.Unknown, -1); len(h.ID) != keepID || len(h.Engine) != keepID {
		t.Errorf("%d and %d bytes kept", len(h.ID), len(h.Engine))
	}
}

func TestAPlanCanBeForOneLegOnly(t *testing.T) {
	p, d := pair(t, 0)
	p.plan("k", Plan{Role: Decode, Fault: &Fault{Kind: Status, Status: 503, Count: 1}})
	params := passed(t, p.leg("k", askIssue, false, 1))
	got := []int{d.leg("k", params, false, 1).status, d.leg("k", params, false, 1).status}
	if got[0] != 503 || got[1] != 200 {
		t.Errorf("decode answered %v; want 503 for the first and 200 for the next", got)
	}
	if _, err := p.plans.Set("k", Plan{Role: "encode"}); err == nil || !strings.Contains(err.Error(), "encode") {
		t.Errorf("a plan for a role that is none: %v", err)
	}
}
