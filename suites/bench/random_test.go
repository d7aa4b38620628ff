package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/affinity"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/internal/require"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// asked is a number that an environment variable asks for, or the one otherwise.
func asked(t *testing.T, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q; write a number of 1 or more", name, v)
	}
	return n
}

// library is the manifest of an adapter that a command starts.
func library(t *testing.T, command ...string) *target.Manifest {
	t.Helper()
	quoted := make([]string, len(command))
	for i, c := range command {
		quoted[i] = strconv.Quote(c)
	}
	m, err := target.Parse("library.yaml", []byte(fmt.Sprintf(`apiVersion: routeproof/v1
implementation: {organization: o, project: p, version: "1", url: "https://example.com"}
component: {command: [%s]}
claims: {component.affinity: yes}
`, strings.Join(quoted, ", "))), []string{bench.ComponentClaim})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// random is the case, with few conversations.
func random(conversations int) bench.Case {
	return few(affinity.Cases{}.AFF020Random(), conversations)
}

// few is a case of random conversations, with as many of them.
func few(c bench.Case, conversations int) bench.Case {
	c = c.Normal()
	r := c.Talk.(bench.Random)
	r.Conversations = conversations
	c.Talk, c.Judge = r, judge.Modelled(conversations)
	return c
}

// converse holds so many conversations, each twenty of them with an adapter of its own, every other twenty in batches.
func converse(t *testing.T, m *target.Manifest, conversations int) {
	t.Helper()
	began, done := time.Now(), 0
	for seed := uint64(1); done < conversations; seed++ {
		n := min(20, conversations-done)
		pool := bench.NewPool(bench.Env{Manifest: m})
		c := random(n)
		if seed%2 == 0 {
			c = few(affinity.Cases{}.AFF020Batches(), n)
		}
		out := pool.Exec(t.Context(), c, seed, func(h *history.History) error {
			if len(h.Held) > 0 {
				for _, l := range h.Held[len(h.Held)-1].Replay {
					t.Log(l)
				}
			}
			return nil
		})
		if err := pool.Close(); err != nil {
			t.Fatal(err)
		}
		if out.Verdict != report.Pass {
			t.Fatalf("seed %d: %s %s %+v", seed, out.Verdict, out.Detail, out.Finding)
		}
		done += n
	}
	t.Logf("%d conversations in %v", done, time.Since(began).Round(time.Millisecond))
}

func TestTheReferenceAnswersAsTheModelSays(t *testing.T) {
	converse(t, target.Reference([]string{bench.ComponentClaim}), asked(t, "ROUTEPROOF_RANDOM", 40))
}

func TestTheReferenceAsAProcessAnswersAsTheModelSays(t *testing.T) {
	exe := os.Getenv("ROUTEPROOF_EXE")
	if exe == "" {
		t.Skip("ROUTEPROOF_EXE names no routeproof to start")
	}
	converse(t, library(t, exe, "adapter"), asked(t, "ROUTEPROOF_RANDOM", 40))
}

func TestThePythonAdapterAnswersAsTheModelSays(t *testing.T) {
	python := require.Require(t, "python3")
	file, err := filepath.Abs("../../fixtures/adapters/python/affinity.py")
	if err != nil {
		t.Fatal(err)
	}
	converse(t, library(t, python, file), asked(t, "ROUTEPROOF_RANDOM", 40))
}
