package ingress

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/internal/require"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/spec"
	"github.com/routeproof/routeproof/suites/target"
)

func nginx() deployment {
	return deployment{program: "nginx", file: "ingress-nginx.yaml", config: "nginx.conf", reload: syscall.SIGHUP}
}

func haproxy() deployment {
	return deployment{program: "haproxy", file: "ingress-haproxy.yaml", config: "haproxy.cfg", reload: syscall.SIGUSR2, status: "/routeproof/frontends"}
}

// manifest reads a deployment's, with some of its text changed: pairs of old and new.
func (d deployment) manifest(t *testing.T, changes ...string) *target.Manifest {
	t.Helper()
	require.Require(t, d.program)
	sp, err := spec.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, err := target.Load(filepath.Join("../../fixtures/targets", d.file), sp.ClaimNames())
	if err != nil {
		t.Fatal(err)
	}
	text := string(m.Source())
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("%s does not hold %q any more", d.file, changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	m, err = target.Parse(m.File, []byte(text), sp.ClaimNames())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// lose runs the case on a deployment.
func (d deployment) lose(t *testing.T, m *target.Manifest) bench.Outcome {
	t.Helper()
	pool := bench.NewPool(bench.Env{Manifest: m, Seed: 1, Logf: t.Logf})
	out := pool.Exec(context.Background(), lossOf(d).Normal(), 1, func(h *history.History) error {
		t.Log(account(h))
		for _, m := range h.Marks {
			t.Logf("%v: %s %s %s", m.At, m.What, m.Worker, m.Text)
		}
		return nil
	})
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	if out.Verdict == report.Error {
		t.Fatalf("%s\n%s", out.Detail, out.LogTail)
	}
	return out
}

func TestSessionsStickAndOnlyThoseOfALostFrontendMove(t *testing.T) {
	for _, d := range []deployment{nginx(), haproxy()} {
		t.Run(d.program, func(t *testing.T) {
			out := d.lose(t, d.manifest(t))
			if out.Verdict != report.Pass {
				t.Errorf("%s: %s%v\n%s", out.Verdict, out.Detail, out.Finding, out.LogTail)
			}
		})
	}
}
