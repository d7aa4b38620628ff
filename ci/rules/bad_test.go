package rules

import (
	"slices"
	"strings"
	"testing"
)

const m = "example.org/m"

// same wants exactly these findings, each by words of it.
func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("found %q, want %d findings: %q", got, len(want), want)
		return
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
			t.Errorf("found %q, want one with %q", got, w)
		}
	}
}

func TestRoomsSeesEveryWayToShare(t *testing.T) {
	good := []Package{
		{ImportPath: m + "/impl/router", Imports: []string{m + "/impl/affinity"}, Deps: []string{m + "/impl/affinity", "net/http"}, TestImports: []string{m + "/fixtures/hostile"}},
		{ImportPath: m + "/mockers/worker", Deps: []string{m + "/mockers/ledger", "net/http"}, XTestImports: []string{m + "/fixtures/hostile"}},
		{ImportPath: m + "/suites/bench", Deps: []string{m + "/impl/router", m + "/mockers/worker"}},
		{ImportPath: m + "/implement", Imports: []string{m + "/mockers/worker"}, Deps: []string{m + "/mockers/worker"}}, // another room that only sounds like one
	}
	same(t, Rooms(m, good))
	for name, c := range map[string]struct {
		bad  Package
		want string
	}{
		"directly":         {Package{ImportPath: m + "/impl/x", Imports: []string{m + "/mockers/ledger"}, Deps: []string{m + "/mockers/ledger"}}, "must not know each other"},
		"the other way":    {Package{ImportPath: m + "/mockers/x", Deps: []string{m + "/impl/router"}}, "mockers/x imports"},
		"in a test":        {Package{ImportPath: m + "/impl/x", TestImports: []string{m + "/mockers/ledger"}}, "impl/x imports"},
		"in an outer test": {Package{ImportPath: m + "/mockers/x", XTestImports: []string{m + "/impl/router"}}, "mockers/x imports"},
	} {
		t.Run(name, func(t *testing.T) { same(t, Rooms(m, append(slices.Clone(good), c.bad)), c.want) })
	}
	shared := append(slices.Clone(good),
		Package{ImportPath: m + "/impl/x", Deps: []string{m + "/internal/hash"}},
		Package{ImportPath: m + "/mockers/x", Deps: []string{m + "/mockers/y", m + "/internal/hash"}})
	same(t, Rooms(m, shared), "internal/hash is shared by "+m+"/impl/x and "+m+"/mockers/x")
}

func TestReachSeesWhoImportsTheReference(t *testing.T) {
	pkgs := []Package{
		{ImportPath: m + "/impl/serve", Imports: []string{m + "/impl/router"}},
		{ImportPath: m + "/suites/target", Imports: []string{m + "/impl/router"}},
		{ImportPath: m + "/suites", Imports: []string{m + "/suites/target"}, Deps: []string{m + "/impl/router"}},
	}
	same(t, Reach(m, pkgs, "suites/target"))
	pkgs = append(pkgs, Package{ImportPath: m + "/suites/routing", Imports: []string{m + "/impl/router"}},
		Package{ImportPath: m + "/suites/target/deep", Imports: []string{m + "/impl/router"}},
		Package{ImportPath: m + "/suites/affinity", XTestImports: []string{m + "/impl/affinity"}},
		Package{ImportPath: m, Imports: []string{m + "/impl"}})
	same(t, Reach(m, pkgs, "suites/target"), "suites/routing imports", "suites/target/deep imports", "suites/affinity imports", m+" imports")
}

func TestDirectionSeesWhatARoomImports(t *testing.T) {
	pkgs := []Package{
		{ImportPath: m + "/perf", Imports: []string{"fmt", m + "/perf/stats", m + "/suites/target/component"}, TestImports: []string{m + "/suites/mutants"}},
		{ImportPath: m + "/perfect", Imports: []string{m + "/impl"}},
	}
	same(t, Direction(m, pkgs, "perf", "suites/target"))
	pkgs = append(pkgs, Package{ImportPath: m + "/perf/load", Imports: []string{m + "/suites/bench"}})
	same(t, Direction(m, pkgs, "perf", "suites/target"), "perf/load imports")
	same(t, Direction(m, pkgs, "load", "suites/target"), "lost its object")
}

func TestPureSeesWhatAPackageDependsOn(t *testing.T) {
	pkgs := []Package{
		{ImportPath: m + "/good", Imports: []string{"fmt"}, Deps: []string{"fmt", "os", "netip"}, TestImports: []string{"net/http"}},
		{ImportPath: m + "/direct", Imports: []string{"net/http"}, Deps: []string{"net", "net/http"}},
		{ImportPath: m + "/indirect", Imports: []string{m + "/x"}, Deps: []string{m + "/x", "github.com/onsi/gomega/types"}},
	}
	same(t, Pure(pkgs, m+"/good", "net", "github.com/onsi/gomega"))
	same(t, Pure(pkgs, m+"/direct", "net"), "depends on net:", "depends on net/http:")
	same(t, Pure(pkgs, m+"/indirect", "net", "github.com/onsi/gomega"), "gomega/types")
	same(t, Pure(pkgs, m+"/renamed", "net"), "lost its object")
}

func TestShortCountsLines(t *testing.T) {
	same(t, Short(map[string]int{"a.go": 1, "b.go": MaxLines - 1}))
	same(t, Short(map[string]int{"a.go": 1, "b.go": MaxLines, "c_test.go": 1700}), "b.go has 400", "c_test.go has 1700")
}

func TestUsesSeesAPackagesNamesByAnyName(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"a call":              {`import "time"; func f() { time.Sleep(1) }`, "bad.go:1:"},
		"a value":             {`import "time"; var now = time.Now`, "uses time.Now"},
		"under another name":  {`import clock "time"; func f() { clock.Sleep(1) }`, "uses time.Sleep"},
		"with a dot":          {`import . "time"; func f() { Sleep(1) }`, "with a dot"},
		"another name of it":  {`import "time"; const d = time.Second`, ""},
		"another package":     {`import "x/time"; func f() { time.Sleep(1) }`, ""},
		"a field so called":   {`type t struct{ Now int }; func f(time t) int { return time.Now }`, ""},
		"in a comment":        {`import "time" // time.Sleep(1)` + "\nvar _ time.Duration", ""},
		"imported for naught": {`import _ "time"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Uses("bad.go", []byte("package p; "+c.src), "time", "Now", "Sleep")
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				same(t, got)
			} else {
				same(t, got, c.want)
			}
		})
	}
	got, err := Uses("bad.go", []byte(`package p; import "github.com/onsi/ginkgo/v2"; var _ = ginkgo.FIt("x", ginkgo.FlakeAttempts(3))`), "github.com/onsi/ginkgo/v2", "FIt", "FlakeAttempts")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, "ginkgo.FIt", "ginkgo.FlakeAttempts")
	if _, err := Uses("bad.go", []byte("not Go"), "time", "Now"); err == nil {
		t.Error("what is not Go was accepted")
	}
}
