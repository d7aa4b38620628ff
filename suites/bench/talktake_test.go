package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target"
)

// branches is a conversation with a batch, another instance and a part that depends on
// who inherits.
func branches() *script.Script {
	w := script.At("w1")
	s := script.New(script.Config{IdleTTL: time.Second}, script.Worker{ID: "w1"})
	s.Acquire("a", script.S("s")).Is(script.Initializes)
	s.Acquire("b", script.S("s")).Waits()
	s.Acquire("c", script.S("s")).Waits()
	s.Release("a").Is(script.Done).HandsTo("heir", "b", "c")
	for _, heir := range []string{"b", "c"} {
		s.If("heir", heir, func() { s.Query(script.S("s")).Is(script.Unbound) })
	}
	s.Cancel("heir")
	s.InBatch(func() {
		s.Acquire("d", script.S("t")).Is(script.Initializes)
		s.Commit("heir", w).Is(script.Done).One("other", script.Bound(w), "b", "c")
		s.Count().Is(script.HoldsSessions(2))
		s.Release("d").Is(script.Done)
	})
	o := s.Another("other table", script.Config{IdleTTL: time.Second})
	o.Query(script.S("s")).Is(script.Unbound)
	o.Close()
	s.Release("other").Is(script.Done)
	return s
}

func TestBatchesInstancesAndBranchesGoAsTheyAreWritten(t *testing.T) {
	p := NewPool(Env{Manifest: target.Reference(nil), Seed: 1})
	defer p.Close()
	s := branches()
	out, h := exec(t, p, Scripted("AFF-020/test", "much", "goes", s).Normal())
	if out.Verdict != report.Pass || len(h.Talk.Turns) != len(s.Steps) {
		t.Fatalf("got %+v, %d turns of %d", out, len(h.Talk.Turns), len(s.Steps))
	}
	left, sent := 0, ""
	for _, turn := range h.Talk.Turns {
		if turn.Unable {
			left++
		}
	}
	for _, l := range h.Talk.Lines {
		if l.Sent {
			sent += l.Text + "\n"
		}
	}
	if left != 1 {
		t.Errorf("%d steps were left out, want the one of who did not inherit", left)
	}
	for text, times := range map[string]int{`"op":"batch"`: 1, `"op":"count"`: 1, `"lease":0`: 1, `"op":"cancel"`: 1, `"op":"new"`: 2, `"op":"close"`: 2} {
		if n := strings.Count(sent, text); n != times {
			t.Errorf("%s was sent %d times, want %d:\n%s", text, n, times, sent)
		}
	}
}

func TestAStepOfABatchThatNeedsAClaimIsLeftOut(t *testing.T) {
	s := script.New(script.Config{IdleTTL: time.Second}, script.Worker{ID: "w1"})
	s.InBatch(func() {
		s.Count().Is(script.Holds(0, 0))
		s.Acquire("a", script.S("s")).Is(script.Initializes)
		s.Release("a").Is(script.Done)
	})
	p := fake(t, `"batch"`, map[string]lines{"batch": ok(`{"answers":[{"ok":{"state":"initializer","lease":"l"}},{"ok":{}}],"ns":1}`)})
	out, h := exec(t, p, Scripted("AFF-020/test", "a batch", "is answered", s).Normal())
	if out.Verdict != report.Pass || !h.Talk.Turns[1].Unable || fmt.Sprint(h.Talk.Turns[2].Answers) == "[]" {
		t.Errorf("got %+v, %+v", out, h.Talk.Turns)
	}
}

func TestABatchThatIsRefusedOrGivesNoLeaseFails(t *testing.T) {
	for name, play := range map[string]lines{
		"refused":          {`{"id":ID,"error":{"kind":"internal","message":"no batch today"}}`},
		"an answer short":  ok(`{"answers":[{"ok":{"state":"initializer","lease":"l"}}],"ns":1}`),
		"another's answer": ok(`{"answers":[{"ok":{"bound":false}},{"ok":{}}],"ns":1}`),
	} {
		s := script.New(script.Config{IdleTTL: time.Second}, script.Worker{ID: "w1"})
		s.InBatch(func() {
			s.Acquire("a", script.S("s")).Is(script.Initializes)
			s.Release("a").Is(script.Done)
		})
		out, _ := exec(t, fake(t, `"batch"`, map[string]lines{"batch": play}), Scripted("AFF-020/test", "a batch", "is answered", s).Normal())
		if out.Verdict != report.Fail || len(out.Finding.Violations) != 1 {
			t.Errorf("%s: got %+v", name, out)
		}
	}
}
