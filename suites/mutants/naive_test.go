package mutants_test

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/mutants"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTheNaiveIndexIsRight: what mutants are made of is wrong in no way, and a library of
// quite another design than the reference's passes every case.
func TestTheNaiveIndexIsRight(t *testing.T) {
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	pool := bench.NewPool(bench.Env{Manifest: target.Reference([]string{bench.SessionIndexClaim}), Component: target.ComponentOptions{Index: mutants.Naive}})
	held := 0
	for _, c := range cat.Cases {
		if c.Library() != component.SessionIndexComponent {
			continue
		}
		if c.ID == "SPX-031/sessions" {
			continue // with each event this index looks at all sessions, and here they are 16,384
		}
		held++
		if out := pool.Exec(t.Context(), c, 1, nil); out.Verdict != report.Pass {
			t.Errorf("%s: %s %s %+v", c.ID, out.Verdict, out.Detail, out.Finding)
		}
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	if held < 60 {
		t.Errorf("only %d cases", held)
	}
}

// TestWhichCasesKillWhichIndex prints, for each wrong session index, the cases that it
// fails.
func TestWhichCasesKillWhichIndex(t *testing.T) {
	if os.Getenv("ROUTEPROOF_INDEX_MATRIX") == "" {
		t.Skip("ROUTEPROOF_INDEX_MATRIX is not set")
	}
	cat, err := suites.Load()
	if err != nil {
		t.Log(err)
	}
	for _, m := range cat.Mutants {
		if m.Index == nil {
			continue
		}
		pool := bench.NewPool(bench.Env{Manifest: target.Reference([]string{bench.SessionIndexClaim}), Component: target.ComponentOptions{Index: m.Index}})
		var killed []string
		for _, c := range cat.Cases {
			if c.Library() != component.SessionIndexComponent {
				continue
			}
			switch out := pool.Exec(t.Context(), c, 1, nil); out.Verdict {
			case report.Fail:
				killed = append(killed, c.ID)
			case report.Pass:
			default:
				t.Errorf("%s: %s: %s %s", m.ID, c.ID, out.Verdict, out.Detail)
			}
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("KILLS %s: %s", m.ID, strings.Join(killed, " "))
	}
}
