package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/worker"
)

// leg sends one leg of a request and returns the parameters in its answer.
func leg(t *testing.T, c *http.Client, w *worker.Worker, params string) (passed string, err error) {
	t.Helper()
	body := fmt.Sprintf(`{"prompt":"[[rp:k]]","max_tokens":1,"kv_transfer_params":%s}`, params)
	res, err := c.Post(w.URL()+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		return "", fmt.Errorf("status %d, %s, %w", res.StatusCode, b, err)
	}
	var a struct {
		Params json.RawMessage `json:"kv_transfer_params"`
	}
	return string(a.Params), json.Unmarshal(b, &a)
}

// prefill returns the parameters of a new hand-off.
func prefill(t *testing.T, c *http.Client, w *worker.Worker) string {
	t.Helper()
	passed, err := leg(t, c, w, `{"do_remote_decode":true}`)
	if err != nil || passed == "" {
		t.Fatalf("%s: no hand-off: %v", w.ID(), err)
	}
	return passed
}

func shaped() Config {
	p, d := worker.Shape{Role: worker.Prefill, Ranks: 4}, worker.Shape{Role: worker.Decode, Ranks: 4}
	return Config{Workers: 1, Shapes: []worker.Shape{p, p, d, d}}
}

func TestAFleetHasItsPlainWorkersFirstAndThenItsShapesInOrder(t *testing.T) {
	f := start(t, shaped())
	if _, err := f.Add(worker.Shape{Role: worker.Decode}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range f.Workers() {
		got = append(got, fmt.Sprint(w.ID(), " ", w.Shape().Role, " ", w.Shape().Ranks))
	}
	if want := "w0 aggregated 0, w1 prefill 4, w2 prefill 4, w3 decode 4, w4 decode 4, w5 decode 0"; strings.Join(got, ", ") != want {
		t.Errorf("got %v; want %s", got, want)
	}
}

func TestAHandoffIsKnownToTheWholeFleet(t *testing.T) {
	f := start(t, shaped())
	c := client(t)
	params := prefill(t, c, f.Worker("w1"))
	for _, id := range []string{"w3", "w4", "w0"} { // the second comes too late, the third knows no hand-offs
		if _, err := leg(t, c, f.Worker(id), params); err != nil {
			t.Fatal(err)
		}
	}
	var got []ledger.Outcome
	for _, a := range f.Ledger().Snapshot(0) {
		got = append(got, a.Handoff.Outcome)
	}
	if fmt.Sprint(got) != "[issued consumed reused ignored]" {
		t.Errorf("outcomes %v", got)
	}
	all, _ := f.Handoffs().Snapshot(0)
	if len(all) != 1 || all[0].Issued.Worker != "w1" || all[0].Consumed.Worker != "w3" || all[0].Refused != 1 {
		t.Errorf("records %+v", all)
	}
}

func TestFaultsAndLivesOfWorkersWithRoles(t *testing.T) {
	for _, role := range []worker.Role{worker.Prefill, worker.Decode} {
		for name, c := range map[string]struct {
			strike, heal func(*worker.Worker) error
			incarnation  int
			survives     bool // what a prefill worker has issued before
		}{
			"refuse": {set(worker.Refuse), (*worker.Worker).ClearFault, 1, true},
			"hang":   {set(worker.Hang), (*worker.Worker).ClearFault, 1, true},
			"crash":  {func(w *worker.Worker) error { w.Crash(); return nil }, (*worker.Worker).Restart, 2, false},
		} {
			t.Run(fmt.Sprint(role, " ", name), func(t *testing.T) {
				f := start(t, Config{Shapes: []worker.Shape{{Role: worker.Prefill, Ranks: 2}, {Role: worker.Decode, Ranks: 2}}})
				struck := f.Worker(map[worker.Role]string{worker.Prefill: "w0", worker.Decode: "w1"}[role])
				cl := client(t)
				params := prefill(t, cl, f.Worker("w0"))
				if err := c.strike(struck); err != nil {
					t.Fatal(err)
				}
				if name != "hang" { // a hung worker would only cost the client its patience
					if _, err := leg(t, cl, struck, params); err == nil {
						t.Error("the struck worker answers")
					}
				}
				if err := c.heal(struck); err != nil {
					t.Fatal(err)
				}
				if s := struck.Shape(); s != (worker.Shape{Role: role, Ranks: 2}) || struck.Incarnation() != c.incarnation {
					t.Errorf("healed: %+v in life %d", s, struck.Incarnation())
				}
				if _, err := leg(t, cl, f.Worker("w1"), params); err != nil {
					t.Fatal(err)
				}
				want := ledger.Consumed
				if role == worker.Prefill && !c.survives {
					want = ledger.IssuerGone
				}
				last := f.Ledger().Snapshot(f.Ledger().Len() - 1)[0]
				if last.Handoff.Outcome != want || last.Rank != 0 {
					t.Errorf("the hand-off from before: %s at rank %d; want %s at the first in turn", last.Handoff.Outcome, last.Rank, want)
				}
				if again := prefill(t, cl, f.Worker("w0")); again == params {
					t.Error("the next hand-off is the last one over again")
				}
			})
		}
	}
}

func set(k worker.Kind) func(*worker.Worker) error {
	return func(w *worker.Worker) error { return w.SetFault(worker.Fault{Kind: k}) }
}

func TestAFleetForgetsTheOldestHandoffsAndSaysSo(t *testing.T) {
	f := start(t, Config{Handoffs: 2, Shapes: []worker.Shape{{Role: worker.Prefill}, {Role: worker.Decode}}})
	c := client(t)
	oldest := prefill(t, c, f.Worker("w0"))
	for range 2 {
		prefill(t, c, f.Worker("w0"))
	}
	if _, err := leg(t, c, f.Worker("w1"), oldest); err != nil {
		t.Fatal(err)
	}
	if a := f.Ledger().Snapshot(3)[0]; a.Handoff.Outcome != ledger.Forgotten {
		t.Errorf("a use of what is forgotten: %s", a.Handoff.Outcome)
	}
	if all, forgotten := f.Handoffs().Snapshot(0); len(all) != 2 || forgotten != 1 {
		t.Errorf("%d remembered, %d forgotten; want 2, 1", len(all), forgotten)
	}
}
