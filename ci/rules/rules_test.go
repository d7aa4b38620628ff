package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const module = "github.com/routeproof/routeproof"

// root is the module's directory, seen from this package.
const root = "../.."

// list is `go list -json` over the module.
func list(t *testing.T) []Package {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = root
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	var pkgs []Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages; the rules would check nothing", len(pkgs))
	}
	return pkgs
}

// sources visits the Go files below a directory of the module, whatever their
// build constraints.
func sources(t *testing.T, dir string, visit func(file string, src []byte)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(root, dir), func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(file) != ".go" {
			return err
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		n++
		visit(file, src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Fatalf("no Go file below %q; the rule has lost its object", dir)
	}
}

func report(t *testing.T, broken []string) {
	t.Helper()
	for _, b := range broken {
		t.Error(b)
	}
}

func TestTheReferenceAndTheMockersShareNothing(t *testing.T) { report(t, Rooms(module, list(t))) }

func TestOnlyTargetAndMutantsReachTheReference(t *testing.T) {
	report(t, Reach(module, list(t), "suites/target", "suites/mutants", "cmd/routeproof"))
}

func TestMeasurementsReachTargetsAsCertificationsDo(t *testing.T) {
	report(t, Direction(module, list(t), "perf", "suites/target", "mockers"))
}

func TestJudgesDependOnNoNetworkProcessOrTestFramework(t *testing.T) {
	pkgs := list(t)
	for _, path := range []string{"suites/judge", "suites/judge/stats", "suites/history"} {
		// math/rand comes with math/big, which compares numbers exactly.
		report(t, Pure(pkgs, module+"/"+path, "net", "os/exec", "os/signal", "crypto/rand", "testing",
			"github.com/onsi/ginkgo", "github.com/onsi/gomega", module+"/impl", module+"/suites/bench", module+"/suites/target"))
	}
}

func TestJudgesReadNoClock(t *testing.T) {
	sources(t, "suites/judge", func(file string, src []byte) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		b, err := Uses(file, src, "time", "Now", "Sleep", "After", "AfterFunc", "Since", "Until", "Tick", "NewTimer", "NewTicker")
		if err != nil {
			t.Fatal(err)
		}
		report(t, b)
	})
}

func TestSuitesNeverSleep(t *testing.T) {
	sources(t, "suites", func(file string, src []byte) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		b, err := Uses(file, src, "time", "Sleep")
		if err != nil {
			t.Fatal(err)
		}
		report(t, b)
	})
}

func TestNoSpecIsFocusedPendingOrRetried(t *testing.T) {
	sources(t, "", func(file string, src []byte) {
		b, err := Uses(file, src, "github.com/onsi/ginkgo/v2", "FlakeAttempts", "MustPassRepeatedly", "Focus", "Pending",
			"FIt", "PIt", "XIt", "FSpecify", "PSpecify", "XSpecify", "FDescribe", "PDescribe", "XDescribe", "FContext", "PContext", "XContext",
			"FWhen", "PWhen", "XWhen", "FEntry", "PEntry", "XEntry", "FDescribeTable", "PDescribeTable", "XDescribeTable")
		if err != nil {
			t.Fatal(err)
		}
		report(t, b)
	})
}

func TestFilesAreShort(t *testing.T) {
	lines := map[string]int{}
	sources(t, "", func(file string, src []byte) { lines[file] = bytes.Count(src, []byte("\n")) })
	report(t, Short(lines))
}
