// Command repeat runs a routeproof command many times and says whether every run
// came to the same exit status, problems and verdicts: zero flakes is a figure that is
// measured. A run that was broken (an error, a case that did not run, an exit status
// that tells nothing of the router) is no repetition, however often it comes.
//
//	go build -o routeproof ./cmd/routeproof
//	go run ./ci/repeat -n 20 -- ./routeproof certify
//	go run ./ci/repeat -n 20 -busy 1 -- ./routeproof certify --target fixtures/targets/haproxy.yaml
//
// Each run gets its own seed (1 to n) and a temporary report directory; those of
// the first run and of runs that differ from it or are broken are kept, with the
// evidence of what differed. With -busy N, N goroutines keep N cores busy meanwhile.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/report"
)

func main() {
	n := flag.Int("n", 20, "number of runs")
	busy := flag.Int("busy", 0, "cores to keep busy meanwhile")
	flag.Parse()
	if *n < 1 || *busy < 0 || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: repeat [-n RUNS] [-busy CORES] -- routeproof certify [FLAGS]")
		os.Exit(2)
	}
	for range *busy {
		go func() {
			for x := uint64(1); ; x = x*6364136223846793005 + 1 {
				_ = x
			}
		}()
	}
	if err := repeat(os.Stdout, *n, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "repeat:", err)
		os.Exit(1)
	}
}

// outcome is what must be the same in every run.
type outcome struct {
	exit     int
	verdicts map[string]report.Verdict // by case
	problems map[string]int            // by kind and subject: their texts hold times and logs
}

func repeat(w io.Writer, n int, args []string) (err error) {
	dir, err := os.MkdirTemp("", "routeproof-repeat-")
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	var first *outcome
	var took []time.Duration
	differ, broken := 0, 0
	for i := 1; i <= n; i++ {
		out := filepath.Join(dir, fmt.Sprint(i))
		start := time.Now()
		o, err := once(args, i, out)
		elapsed := time.Since(start)
		if err != nil {
			return err
		}
		took = append(took, elapsed)
		if first == nil {
			first = o
		}
		faults, differences := o.broken(), o.differs(first)
		if len(faults) > 0 {
			broken++
			fmt.Fprintf(w, "run %d is broken, see %s:\n%s\n", i, out, strings.Join(faults, "\n"))
		}
		if len(differences) > 0 {
			differ++
			fmt.Fprintf(w, "run %d differs, see %s:\n%s\n", i, out, strings.Join(differences, "\n"))
		}
		if len(faults)+len(differences) > 0 {
			keep = true
		} else if i > 1 {
			if err := os.RemoveAll(out); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "run %d: exit %d, %d verdicts, %.1f s\n", i, o.exit, len(o.verdicts), elapsed.Seconds())
	}
	slices.Sort(took)
	fmt.Fprintf(w, "%d runs, %d differ, %d broken; %.1f s to %.1f s, median %.1f s\n", n, differ, broken, took[0].Seconds(), took[n-1].Seconds(), took[n/2].Seconds())
	if differ+broken > 0 {
		return fmt.Errorf("of %d runs, %d differ from the first, which is in %s, and %d are broken", n, differ, filepath.Join(dir, "1"), broken)
	}
	return nil
}

// once makes one run and reads its report.
func once(args []string, seed int, out string) (*outcome, error) {
	cmd := exec.Command(args[0], append(slices.Clone(args[1:]), "--seed", fmt.Sprint(seed), "--report-dir", out)...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	r, err := report.ReadJSON(filepath.Join(out, report.JSONFile))
	if err != nil {
		return nil, fmt.Errorf("run %d ended with %v and left no report: %w\n%s", seed, cmd.ProcessState, err, text)
	}
	o := &outcome{exit: cmd.ProcessState.ExitCode(), verdicts: map[string]report.Verdict{}, problems: map[string]int{}}
	for i := range r.Cases {
		o.verdicts[r.Cases[i].Name()] = r.Cases[i].Verdict
	}
	for _, p := range r.Problems {
		o.problems[string(p.Kind)+": "+p.Subject]++
	}
	return o, nil
}

// broken says why a run tells nothing of its router.
func (o *outcome) broken() (lines []string) {
	switch o.exit {
	case report.ExitOK, report.ExitFailure, report.ExitRefused:
	default:
		lines = append(lines, fmt.Sprintf("  exit status %d", o.exit))
	}
	for _, name := range slices.Sorted(maps.Keys(o.verdicts)) {
		if v := o.verdicts[name]; v == report.Error || v == report.NotRun {
			lines = append(lines, fmt.Sprintf("  %s: %s", name, v))
		}
	}
	return lines
}

// differs says what is other than in the first run.
func (o *outcome) differs(first *outcome) (lines []string) {
	if o.exit != first.exit {
		lines = append(lines, fmt.Sprintf("  exit status %d, first run: %d", o.exit, first.exit))
	}
	lines = append(lines, compare("", o.verdicts, first.verdicts)...)
	return append(lines, compare("problem ", o.problems, first.problems)...)
}

func compare[V comparable](what string, now, first map[string]V) (lines []string) {
	all := maps.Clone(now)
	maps.Copy(all, first)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v, is := now[name]
		f, was := first[name]
		switch {
		case !was:
			lines = append(lines, fmt.Sprintf("  %s%s: %v, first run: none", what, name, v))
		case !is:
			lines = append(lines, fmt.Sprintf("  %s%s: none, first run: %v", what, name, f))
		case v != f:
			lines = append(lines, fmt.Sprintf("  %s%s: %v, first run: %v", what, name, v, f))
		}
	}
	return lines
}
