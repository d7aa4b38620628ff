package ingress

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one of the deployment's, as /proc shows it.
type process struct {
	pid  int
	args []string
}

// children are the living children of a process.
func children(parent int) (all []process) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is sound
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		// "PID (NAME) STATE PPID ...", where NAME may hold anything.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 2 || f[0] == "Z" || f[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		line, err2 := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && err2 == nil {
			all = append(all, process{pid, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")})
		}
	}
	return all
}

// deployed are the processes of a running deployment.
type deployed struct {
	target    int
	dir       string
	frontends map[string]process // by name: f1, f2, f3
	ingress   int
}

var configOf = regexp.MustCompile(`^(.*)/frontend-(f[0-9])\.yaml$`)

// look finds the frontends and the ingress among the target's children.
func look(target int) (deployed, error) {
	d := deployed{target: target, frontends: map[string]process{}}
	for _, p := range children(target) {
		if m := configOf.FindStringSubmatch(p.args[len(p.args)-1]); m != nil {
			d.dir = m[1]
			d.frontends[m[2]] = p
		} else {
			d.ingress = p.pid
		}
	}
	if len(d.frontends) != 3 || d.ingress == 0 {
		return d, fmt.Errorf("the target (pid %d) has the frontends %v and the ingress %d as its children, want three and one", target, d.frontends, d.ingress)
	}
	return d, nil
}

// kill ends a frontend at once and returns when nobody listens in its place.
func (d deployed) kill(ctx context.Context, frontend string) error {
	pid := d.frontends[frontend].pid
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill frontend %s (pid %d): %w", frontend, pid, err)
	}
	return until(ctx, "the end of frontend "+frontend, func() bool {
		return !slices.ContainsFunc(children(d.target), func(p process) bool { return p.pid == pid })
	})
}

// restart starts a killed frontend again, with its old configuration and an empty
// table. The caller must call stop.
func (d deployed) restart(frontend string) (stop func(), err error) {
	args := d.frontends[frontend].args
	again := exec.Command(args[0], args[1:]...)
	if err := again.Start(); err != nil {
		return nil, fmt.Errorf("restart frontend %s: %w", frontend, err)
	}
	return func() {
		_ = again.Process.Kill() // it may have ended, with the reason in what follows
		_ = again.Wait()
	}, nil
}

// takeOut removes a frontend from the ingress's configuration and makes the ingress
// read it again. It returns when all workers of the old one have ended.
func (d deployed) takeOut(ctx context.Context, frontend, config string, reload syscall.Signal) error {
	own, err := os.ReadFile(filepath.Join(d.dir, "frontend-"+frontend+".yaml"))
	if err != nil {
		return err
	}
	listen, _, _ := strings.Cut(string(own), "\n")
	address := strings.TrimPrefix(listen, "listen: ")
	file := filepath.Join(d.dir, config)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	line := regexp.MustCompile(`(?m)^ *server .*` + regexp.QuoteMeta(address) + `\b.*\n`)
	if n := len(line.FindAll(text, -1)); n != 2 {
		return fmt.Errorf("%s names %s in %d lines of servers, want 2", config, address, n)
	}
	if err := os.WriteFile(file, line.ReplaceAll(text, nil), 0o644); err != nil {
		return err
	}
	old := children(d.ingress)
	for try := 0; ; try++ {
		if err := syscall.Kill(d.ingress, reload); err != nil {
			return fmt.Errorf("reload the ingress (pid %d): %w", d.ingress, err)
		}
		// One that is busy may lose a signal: HAProxy, one of twenty.
		limited, cancel := context.WithTimeout(ctx, 8*time.Second)
		err := until(limited, "new workers of the ingress", func() bool {
			now := children(d.ingress)
			return len(now) > 0 && !slices.ContainsFunc(now, func(p process) bool {
				return slices.ContainsFunc(old, func(o process) bool { return o.pid == p.pid })
			})
		})
		cancel()
		if err == nil || ctx.Err() != nil || try == 2 {
			return err
		}
	}
}

// until polls what can be seen until it holds or ctx ends.
func until(ctx context.Context, what string, holds func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s: %w", what, context.Cause(ctx))
		}
	}
	return nil
}
