package suites

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/target"
)

// Ginkgo runs one suite per process and a suite's specs one after another, and most
// cases wait most of the time: so the test deals the cases to this many processes of
// its own binary.
const processes = 8

// partOf tells such a process its part, from 0.
const partOf = "ROUTEPROOF_PART"

// targetFile names a manifest.
const targetFile = "ROUTEPROOF_TARGET"

// TestTheTargetIsCertified runs every case on the reference, or on the manifest
// that ROUTEPROOF_TARGET names.
func TestTheTargetIsCertified(t *testing.T) {
	cfg := Config{Seed: 1, Logf: t.Logf}
	cat := loaded(t)
	if file := os.Getenv(targetFile); file != "" {
		m, err := target.Load(file, cat.Spec.ClaimNames())
		if err != nil {
			t.Fatal(err)
		}
		cfg.Manifest = m
	}
	var part int
	if _, err := fmt.Sscanf(os.Getenv(partOf), "%d", &part); err != nil {
		var all sync.WaitGroup // not t.Parallel, which starts no more than there are cores
		for i := range processes {
			all.Go(func() { play(t, i, len(cat.Cases)) })
		}
		all.Wait()
		return
	}
	for i, c := range cat.Cases {
		if i%processes == part {
			cfg.Jobs = append(cfg.Jobs, Job{Case: c.ID})
		}
	}
	run(t, cfg)
}

// play runs one part in a process of its own, which ends with this test.
func play(t *testing.T, part, cases int) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return
	}
	cmd := exec.CommandContext(ctx, self, "-test.run=^TestTheTargetIsCertified$", "-test.v", "-ginkgo.no-color")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", partOf, part))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("part %d: %v\n%s", part, err, out)
	}
	if want := fmt.Sprintf("\nRan %[1]d of %[1]d Specs in ", (cases-part+processes-1)/processes); os.Getenv(targetFile) == "" && !bytes.Contains(out, []byte(want)) {
		t.Errorf("part %d does not say %q:\n%s", part, want, out)
	}
}
