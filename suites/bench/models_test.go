package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
)

func TestModelsAreServedInTurnInEachRole(t *testing.T) {
	var targets []*told
	x := Case{ID: "RTE-002/test", Judge: says(judge.Finding{}), Fleet: Fleet{Prefill: 3, Decode: 2, Models: 2}}.Normal()
	var seen []string
	x.Drive = func(ctx context.Context, r *Run) error {
		for _, id := range r.Workers() {
			seen = append(seen, r.ModelOf(id))
		}
		seen = append(seen, r.ModelsServed()...)
		r.Do(ctx, Req{})
		return nil
	}
	var h *history.History
	if out := telling(t, &targets).Exec(t.Context(), x, 7, func(got *history.History) error { h = got; return nil }); out.Verdict != report.Pass {
		t.Fatalf("got %+v", out)
	}
	const want = "mock other mock mock other"
	var told, evidence []string
	for _, w := range targets[0].workers[0] {
		told = append(told, w.Model)
	}
	for _, w := range h.Fleet {
		evidence = append(evidence, w.Model)
	}
	if strings.Join(seen, " ") != want+" mock other" || strings.Join(told, " ") != want || strings.Join(evidence, " ") != want {
		t.Errorf("the drive knows %v, the target %v, the evidence %v", seen, told, evidence)
	}
	if x.Setting() != "3 prefill workers and 2 decode workers, of 2 models in turn" {
		t.Errorf("setting %q", x.Setting())
	}
	x.Fleet.Models = 3
	if out := telling(t, &targets).Exec(t.Context(), x, 7, nil); out.Verdict != report.Error || !strings.Contains(out.Detail, "lists 2 models") {
		t.Errorf("got %+v", out)
	}
}

func TestACaseInOnePhaseSteersAndSeesThatPhase(t *testing.T) {
	c := Case{ID: "STR-001/stepped", Claims: []string{"a"}, Workers: 4}
	c.Judge = func(h *history.History) judge.Finding {
		return judge.Finding{Inconclusive: fmt.Sprint(len(h.Attempts))}
	}
	in := c.In(Decode, "decode")
	if in.ID != "STR-001/decode" || fmt.Sprint(in.Claims) != "[a pds.split]" || fmt.Sprint(c.Claims) != "[a]" || in.Normal().Workers != 0 || in.Fleet != Split {
		t.Errorf("got %+v", in)
	}
	r := &Run{c: in}
	if r.c.at != Decode {
		t.Errorf("its plans are for %q", r.c.at)
	}
	f := in.Judge(&history.History{})
	if !strings.HasPrefix(f.Inconclusive, "at decode workers") {
		t.Errorf("got %+v", f)
	}
}
