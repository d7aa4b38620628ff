package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// told is a target that only remembers what workers it is given.
type told struct {
	*stub
	workers [][]target.Worker
}

func (t *told) SetWorkers(w []target.Worker) error {
	t.workers = append(t.workers, w)
	return nil
}

// telling makes a pool whose targets are all t.
func telling(t *testing.T, to *[]*told) *Pool {
	t.Helper()
	p := NewPool(Env{Manifest: target.Reference(nil), Local: func(target.LocalConfig) (target.Local, error) {
		l := &told{stub: hello()}
		*to = append(*to, l)
		return l, nil
	}})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestACaseHasTheWorkersItAsksFor(t *testing.T) {
	for name, c := range map[string]struct {
		c       Case
		roles   string
		ranks   int
		setting string
	}{
		"nothing":               {Case{}, "a a a a", 0, "4 workers"},
		"a number":              {Case{Workers: 2}, "a a", 0, "2 workers"},
		"ranks":                 {Case{Fleet: Fleet{Ranks: 2}}, "a a a a", 2, "4 workers, 2 ranks each"},
		"prefill and decode":    {Case{Fleet: Fleet{Prefill: 2, Decode: 2, Ranks: 4}}, "p p d d", 4, "2 prefill workers and 2 decode workers, 4 ranks each"},
		"decode alone":          {Case{Fleet: Fleet{Decode: 1}}, "d", 0, "1 decode worker"},
		"all three in an order": {Case{Workers: 1, Fleet: Fleet{Prefill: 1, Decode: 2}}, "a p d d", 0, "1 worker and 1 prefill worker and 2 decode workers"},
	} {
		t.Run(name, func(t *testing.T) {
			var targets []*told
			p := telling(t, &targets)
			x := c.c
			x.ID, x.Judge = "RTE-001/test", says(judge.Finding{})
			var seen []string
			x.Drive = func(ctx context.Context, r *Run) error {
				for _, role := range []Role{Aggregated, Prefill, Decode} {
					for _, id := range r.WorkersOf(role) {
						seen = append(seen, fmt.Sprint(id, string(role[0]), r.RanksOf(id)))
					}
				}
				r.Do(ctx, Req{})
				return nil
			}
			x = x.Normal()
			var h *history.History
			if out := p.Exec(t.Context(), x, 7, func(got *history.History) error { h = got; return nil }); out.Verdict != report.Pass {
				t.Fatalf("got %+v", out)
			}
			var want, told, evidence []string
			for i, r := range strings.Fields(c.roles) {
				want = append(want, fmt.Sprint("w", i, r, c.ranks))
			}
			for _, w := range targets[0].workers[0] {
				told = append(told, fmt.Sprint(w.ID, w.Role[:1], w.Ranks))
			}
			for _, w := range h.Fleet {
				evidence = append(evidence, fmt.Sprint(w.ID, w.Role[:1], w.Ranks))
			}
			for who, got := range map[string][]string{"the drive": seen, "the target": told, "the evidence": evidence} {
				if !slices.Equal(got, want) {
					t.Errorf("%s knows %v; want %v", who, got, want)
				}
			}
			if x.Size() != len(want) || x.Setting() != c.setting {
				t.Errorf("size %d, setting %q", x.Size(), x.Setting())
			}
		})
	}
}

func TestCasesShareABenchOnlyIfTheirFleetsAreOfOneShape(t *testing.T) {
	var targets []*told
	p := telling(t, &targets)
	for _, f := range []Fleet{{}, {Ranks: 2}, {Prefill: 1, Decode: 1}, {Prefill: 1, Decode: 1, Ranks: 2}, {Ranks: 2}, {}, {Prefill: 1, Decode: 1}} {
		c := one(says(judge.Finding{}))
		c.Fleet = f
		if f.Prefill > 0 {
			c.Workers = 0
		}
		p.Exec(t.Context(), c.Normal(), 1, nil)
	}
	if len(targets) != 4 {
		t.Errorf("%d targets for four shapes", len(targets))
	}
}

func TestAWorkerThatJoinsHasARoleAndTheCasesRanks(t *testing.T) {
	var targets []*told
	p := telling(t, &targets)
	c := Case{ID: "RTE-001/test", Alone: true, Fleet: Fleet{Prefill: 1, Decode: 1, Ranks: 3}, Judge: says(judge.Finding{}), Drive: func(ctx context.Context, r *Run) error {
		r.JoinAs(ctx, Decode)
		r.Join(ctx)
		r.Do(ctx, Req{})
		return nil
	}}.Normal()
	if out := p.Exec(t.Context(), c, 1, nil); out.Verdict != report.Pass {
		t.Fatalf("got %+v", out)
	}
	last := targets[0].workers[len(targets[0].workers)-1]
	if len(last) != 4 || last[0].Role != "aggregated" || last[0].Ranks != 3 || last[1].Role != "decode" || last[1].Ranks != 3 {
		t.Errorf("the target was last told of %+v", last)
	}
}

// params are the kv_transfer_params of a prefill worker's answer, byte for byte.
func params(t *testing.T, q history.Request) json.RawMessage {
	t.Helper()
	var a struct {
		Params json.RawMessage `json:"kv_transfer_params"`
	}
	if err := json.Unmarshal(q.Body, &a); err != nil || len(a.Params) == 0 {
		t.Errorf("no hand-off in %s: %v", q.Body, err)
	}
	return a.Params
}

func TestTheEvidenceHoldsRanksAndHandoffsAndReadsBack(t *testing.T) {
	var targets []*told
	p := telling(t, &targets)
	ask := map[string]any{"do_remote_decode": true}
	c := Case{ID: "RTE-001/test", Fleet: Fleet{Prefill: 1, Decode: 1, Ranks: 2}, Judge: says(judge.Finding{}), Drive: func(ctx context.Context, r *Run) error {
		key := r.Key()
		q := r.Direct(ctx, "w0", Req{Key: key, Tokens: 1, Header: http.Header{"X-Data-Parallel-Rank": {"1"}}, Extra: map[string]any{"kv_transfer_params": ask}})
		r.Direct(ctx, "w1", Req{Key: key, Stream: true, Extra: map[string]any{"kv_transfer_params": params(t, q)}})
		r.Direct(ctx, "w0", Req{Tokens: 1, Extra: map[string]any{"kv_transfer_params": ask}}) // leaks
		return nil
	}}.Normal()
	for seed := range uint64(2) { // the second time on a shared bench: the first case's hand-offs are not its own
		var h *history.History
		if out := p.Exec(t.Context(), c, seed, func(got *history.History) error { h = got; return nil }); out.Verdict != report.Pass {
			t.Fatalf("got %+v", out)
		}
		if len(h.Attempts) != 3 || len(h.Handoffs) != 2 || h.Forgotten != 0 {
			t.Fatalf("%d attempts, hand-offs %+v", len(h.Attempts), h.Handoffs)
		}
		prefill, decode, leak := h.Attempts[0], h.Attempts[1], h.Attempts[2]
		if prefill.Rank != 1 || prefill.RankChoice != ledger.RankRequested || decode.RankChoice != ledger.RankEngine || decode.Handoff.Outcome != ledger.Consumed || decode.Handoff.Issuer != prefill.Seq {
			t.Errorf("prefill %+v, decode %+v with %+v", prefill, decode, decode.Handoff)
		}
		if a, b := h.Handoffs[0], h.Handoffs[1]; a.Outcome != ledger.Consumed || a.Consumed.Attempt != decode.Seq || b.Outcome != ledger.NeverConsumed || b.Issued.Attempt != leak.Seq {
			t.Errorf("hand-offs %+v and %+v", a, b)
		}
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var back history.History
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(*h, back); d != "" {
			t.Errorf("the evidence reads back differently (-want +got):\n%s", d)
		}
	}
}

func TestFleetsOnFixedPortsMakeRoomForEachOther(t *testing.T) {
	var targets []*told
	p := telling(t, &targets)
	var ports []net.Listener
	for range 4 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // all are held until the last is known, so that no two are equal
		ports = append(ports, l)
		p.env.Manifest.Wiring.Ports = append(p.env.Manifest.Wiring.Ports, l.Addr().(*net.TCPAddr).Port)
	}
	for _, l := range ports {
		l.Close()
	}
	big := one(says(judge.Finding{}))
	small, alone := big, big
	small.Workers, small.Fleet = 0, Fleet{Prefill: 1, Decode: 1}
	alone.Alone = true
	for i, c := range []Case{big, small, alone, big, big} {
		if out := p.Exec(t.Context(), c, 1, nil); out.Verdict != report.Pass {
			t.Errorf("case %d: %+v", i, out)
		}
	}
	if len(targets) != 4 {
		t.Errorf("%d targets; want a new one for each case but the last, which shares", len(targets))
	}
}

// A worker's port that is taken is the manifest's business, for it lists the ports.
func TestAWorkersPortThatIsTakenIsFoundInTheManifest(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m := target.Reference(nil)
	m.File, m.Wiring.Ports = "mine.yaml", []int{l.Addr().(*net.TCPAddr).Port}
	_, err = Open(t.Context(), Env{Manifest: m}, Setting{Workers: 1})
	var bad *target.ManifestError
	if !errors.As(err, &bad) || bad.File != "mine.yaml" || bad.Key != "wiring.ports" || bad.Remedy == "" {
		t.Errorf("got %v, want an error of mine.yaml, key wiring.ports", err)
	}
}
