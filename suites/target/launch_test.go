package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/target/guard"
)

func TestATargetIsLaunchedAppliedToAndStopped(t *testing.T) {
	r := started(t, playParsed(t, "ok"), Options{Variant: "shortTTL", Workers: someWorkers(2)})
	if got := fetch(t, r.BaseURL()+"/env"); got != "2 at 1 shortTTL 1" {
		t.Errorf("environment %q", got)
	}
	if r.Session().IdleTTL != time.Second {
		t.Errorf("session %+v", r.Session())
	}
	if err := r.Apply(context.Background(), someWorkers(3)); err != nil {
		t.Fatal(err)
	}
	if got := fetch(t, r.BaseURL()+"/gen"); got != "gen 2 w1 w2 w3;" {
		t.Errorf("after Apply: %q", got)
	}
	if r.PID() == 0 || !strings.Contains(string(r.Logs()), fmt.Sprintf("pid %d ok", r.PID())) {
		t.Errorf("pid %d, log %q", r.PID(), r.Logs())
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-r.Exited()
	if err := r.ExitError(); err != nil {
		t.Errorf("ExitError after Stop: %v", err)
	}
	if lives(r.PID()) {
		t.Error("the target lives after Stop")
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Errorf("second Stop: %v", err)
	}
}

func TestStopEndsATargetThatIgnoresItAndHidesAGrandchild(t *testing.T) {
	r := started(t, playParsed(t, "family"), Options{Workers: someWorkers(1)})
	until(t, "both pids", func() bool { return len(playPIDs(string(r.Logs()))) == 2 })
	if err := r.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, pid := range playPIDs(string(r.Logs())) {
		if lives(pid) {
			t.Errorf("process %d lives", pid)
		}
	}
}

func TestLaunchFailuresSayWhatHappened(t *testing.T) {
	t.Parallel()
	unready := strings.Replace(playManifest("unready"), "timeout: 20s", "timeout: 4s", 1)
	ready := func(path string) string {
		s := strings.Replace(playManifest("ok"), "{{.BaseURL}}/health", "{{.BaseURL}}/"+path, 1)
		return strings.Replace(s, "timeout: 20s", "timeout: 3s", 1)
	}
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"a target that exits at once", playManifest("exit"), []string{"exit status 4", "line before the last", "cannot find my model", "foreground"}},
		{"a target that never gets ready", unready, []string{"within 4s", "status 503", "loading weights"}},
		{"a readiness answer without end", ready("endless"), []string{"wiring.apply.verify", "gen 1"}},
		{"a readiness answer that drips", ready("drip"), []string{"within 3s", "no whole answer"}},
		{"a readiness answer that is no HTTP", ready("garbage"), []string{"within 3s", "malformed HTTP"}},
		{"a verify that never matches", strings.NewReplacer("gen {{.Generation}} ", "generation {{.Generation}}", "timeout: 20s", "timeout: 3s").Replace(playManifest("ok")),
			[]string{"wiring.apply.verify", `gen 1 w1;`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			r, err := Start(context.Background(), parsed(t, c.source), Options{Workers: someWorkers(1)})
			if c.name == "a readiness answer without end" { // 200 and cut off: that is an answer
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Stop(cancelled()); err != nil {
					t.Fatal(err)
				}
				return
			}
			var u *UnreachableError
			if !errors.As(err, &u) {
				t.Fatalf("Start: %v", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("no %q in: %v", w, err)
				}
			}
			if took := time.Since(began); took > 18*time.Second {
				t.Errorf("took %v", took)
			}
			for _, pid := range playPIDs(err.Error()) {
				if lives(pid) {
					t.Errorf("process %d lives", pid)
				}
			}
		})
	}
}

func TestAProgramThatIsNotThereIsAManifestErrorAtItsLine(t *testing.T) {
	for _, program := range []string{"no-such-router-anywhere", "/nonexistent/router", os.TempDir()} {
		m := parsed(t, strings.Replace(playManifest("ok"), "{{.Exe}}", program, 1))
		_, err := Start(context.Background(), m, Options{})
		var e *ManifestError
		if !errors.As(err, &e) || e.Line != 5 || e.Key != "launch.exec.command[0]" || e.Value != program || e.Remedy == "" {
			t.Errorf("%s: %v", program, err)
		}
	}
}

func TestPortsInUse(t *testing.T) {
	t.Run("a fixed endpoint that somebody holds is refused before the launch", func(t *testing.T) {
		port := occupied(t)
		source := strings.Replace(playManifest("ok"), `openai: "{{.BaseURL}}/"`, fmt.Sprintf(`openai: "http://127.0.0.1:%d"`, port), 1)
		_, err := Start(context.Background(), parsed(t, source), Options{})
		var e *ManifestError
		if !errors.As(err, &e) || e.Line != 13 || !strings.Contains(e.Problem, fmt.Sprint(port)) || !strings.Contains(e.Remedy, "{{.Port}}") {
			t.Errorf("Start: %v", err)
		}
	})
	t.Run("a port lost to somebody else is tried again with others", func(t *testing.T) {
		count := filepath.Join(t.TempDir(), "count")
		r := started(t, playParsed(t, "busy", count), Options{Workers: someWorkers(1)})
		if n, _ := os.ReadFile(count); len(n) != 3 {
			t.Errorf("%d launches", len(n))
		}
		fetch(t, r.BaseURL()+"/health")
	})
	t.Run("but not for ever", func(t *testing.T) {
		_, err := Start(context.Background(), playParsed(t, "taken", "{{.Port}}"), Options{})
		var e *PortInUseError
		if !errors.As(err, &e) || e.Tries != 1+relaunches || e.Port == 0 || !strings.Contains(e.Error(), fmt.Sprint(e.Port)) {
			t.Errorf("Start: %v", err)
		}
	})
	t.Run("a port that the manifest fixes elsewhere is not tried again", func(t *testing.T) {
		_, err := Start(context.Background(), playParsed(t, "taken", "81"), Options{})
		var e *PortInUseError
		if !errors.As(err, &e) || e.Tries != 1 || e.Port != 81 || !strings.Contains(e.Remedy, "{{.Port}}") {
			t.Errorf("Start: %v", err)
		}
	})
}

func TestATargetThatDiesIsNoticed(t *testing.T) {
	m := playParsed(t, "dies")
	r := started(t, m, Options{Workers: someWorkers(1)})
	if r.ExitError() != nil {
		t.Fatal("ExitError while it runs")
	}
	err := r.Apply(context.Background(), someWorkers(2))
	var a *ApplyError
	if !errors.As(err, &a) || a.Exit != "exit status 9" || !strings.Contains(err.Error(), "reload: giving up") {
		t.Errorf("Apply: %v", err)
	}
	<-r.Exited()
	var e *ExitError
	if !errors.As(r.ExitError(), &e) || e.How != "exit status 9" {
		t.Errorf("ExitError: %v", r.ExitError())
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if !errors.As(r.ExitError(), &e) {
		t.Error("Stop made the target's own end forgotten")
	}
}

func TestApply(t *testing.T) {
	t.Run("repeats a signal that was lost", func(t *testing.T) {
		r := started(t, playParsed(t, "lossy"), Options{Workers: someWorkers(1)})
		if err := r.Apply(context.Background(), someWorkers(2)); err != nil {
			t.Fatal(err)
		}
		if got := fetch(t, r.BaseURL()+"/gen"); got != "gen 2 w1 w2;" {
			t.Errorf("%q", got)
		}
	})
	t.Run("waits for the end of what a repeated signal does", func(t *testing.T) {
		m := parsed(t, strings.Replace(playManifest("slow"), "convergence: 8s", "convergence: 2s", 1))
		r := started(t, m, Options{Workers: someWorkers(1)})
		if err := r.Apply(context.Background(), someWorkers(2)); err != nil {
			t.Fatal(err)
		}
		if got := fetch(t, r.BaseURL()+"/undone"); got != "0 reloads to come" {
			t.Errorf("%q after Apply has returned", got)
		}
	})
	t.Run("says what was seen when it gives up", func(t *testing.T) {
		m := parsed(t, strings.Replace(playManifest("deaf"), "convergence: 8s", "convergence: 1200ms", 1))
		r := started(t, m, Options{Workers: someWorkers(1)})
		err := r.Apply(context.Background(), someWorkers(2))
		var a *ApplyError
		if !errors.As(err, &a) || a.Generation != 2 || a.Signals < 2 || !strings.Contains(a.Last, "gen 1 w1;") || a.Waited < time.Second {
			t.Errorf("Apply: %v", err)
		}
		select {
		case <-r.Exited():
			t.Error("the target ended")
		default:
		}
	})
	t.Run("waits until the target may be signalled", func(t *testing.T) {
		with := `when: {http: "{{.BaseURL}}/when", contains: "now;"}, verify:`
		m := parsed(t, strings.Replace(playManifest("ok"), "verify:", with, 1))
		r := started(t, m, Options{Workers: someWorkers(1)})
		if err := r.Apply(context.Background(), someWorkers(2)); err != nil {
			t.Fatal(err)
		}
		m = parsed(t, strings.Replace(playManifest("late"), "verify:", with, 1))
		r = started(t, m, Options{Workers: someWorkers(1)})
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		if err := r.Apply(ctx, someWorkers(2)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "/when (wiring.apply.when.http)") {
			t.Errorf("Apply: %v", err)
		}
		if got := fetch(t, r.BaseURL()+"/gen"); got != "gen 1 w1;" {
			t.Errorf("signalled too early: %q", got)
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		r := started(t, playParsed(t, "deaf"), Options{Workers: someWorkers(1)})
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := r.Apply(ctx, someWorkers(2)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Apply: %v", err)
		}
	})
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := Start(ctx, playParsed(t, "unready"), Options{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Start: %v", err)
	}
}

// Everything from manifest to target, and then our process is killed.
func TestKillingTheHarnessLeavesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "play.yaml")
	if err := os.WriteFile(file, []byte(playManifest("family")), 0o600); err != nil {
		t.Fatal(err)
	}
	var log guard.Log
	parent := exec.Command(os.Args[0], "hold", file)
	parent.Stdout, parent.Stderr = &log, &log
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	waited := false
	defer func() {
		if !waited {
			_ = parent.Process.Kill()
			_ = parent.Wait()
		}
	}()
	until(t, "the target", func() bool { return strings.Contains(string(log.Bytes()), "ready\n") })
	all := playPIDs(string(log.Bytes()))
	if len(all) == 0 {
		t.Fatalf("no pids in %s", log.Bytes())
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	waited = true
	for _, pid := range all {
		until(t, fmt.Sprintf("the end of %d", pid), func() bool { return !lives(pid) })
	}
}
