package ingress

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// binEnv names the program that manifests know as .Exe.
const binEnv = "ROUTEPROOF_BIN"

// The frontends are `routeproof serve`, which no test binary is.
func TestMain(m *testing.M) {
	if os.Getenv(binEnv) != "" {
		goleak.VerifyTestMain(m)
		return
	}
	dir, err := os.MkdirTemp("", "routeproof-ingress-")
	if err == nil {
		bin := filepath.Join(dir, "routeproof")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", bin, "../../cmd/routeproof").CombinedOutput(); err != nil {
			err = fmt.Errorf("build the frontends' program: %w\n%s", err, out)
		}
		os.Setenv(binEnv, bin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}
