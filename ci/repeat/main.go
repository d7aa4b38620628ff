// Command repeat runs a routeproof command many times and says whether every run
// came to the same verdicts: zero flakes is a figure that is measured.
//
//	go build -o routeproof ./cmd/routeproof
//	go run ./ci/repeat -n 20 -- ./routeproof certify
//	go run ./ci/repeat -n 20 -busy 1 -- ./routeproof certify --target fixtures/targets/haproxy.yaml
//
// Each run gets its own seed (1 to n) and a temporary report directory. With
// -busy N, N goroutines keep N cores busy meanwhile.
package main

import (
	"errors"
	"flag"
	"fmt"
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
	if err := repeat(*n, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "repeat:", err)
		os.Exit(1)
	}
}

func repeat(n int, args []string) error {
	dir, err := os.MkdirTemp("", "routeproof-repeat-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var first map[string]report.Verdict
	var took []time.Duration
	differ := 0
	for i := 1; i <= n; i++ {
		out := filepath.Join(dir, fmt.Sprint(i))
		cmd := exec.Command(args[0], append(slices.Clone(args[1:]), "--seed", fmt.Sprint(i), "--report-dir", out)...)
		start := time.Now()
		text, err := cmd.CombinedOutput()
		elapsed := time.Since(start)
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return err
		}
		r, err := report.ReadJSON(filepath.Join(out, "report.json"))
		if err != nil {
			return fmt.Errorf("run %d left no report: %w\n%s", i, err, text)
		}
		verdicts := map[string]report.Verdict{}
		for _, c := range r.Cases {
			verdicts[c.Name()] = c.Verdict
		}
		took = append(took, elapsed)
		if first == nil {
			first = verdicts
		}
		var lines []string
		for name, v := range verdicts {
			if first[name] != v {
				lines = append(lines, fmt.Sprintf("  %s: %s, first run: %s", name, v, first[name]))
			}
		}
		if len(lines) > 0 || len(verdicts) != len(first) {
			differ++
			slices.Sort(lines)
			fmt.Printf("run %d differs:\n%s\n", i, strings.Join(lines, "\n"))
		}
		fmt.Printf("run %d: exit %d, %d verdicts, %.1f s\n", i, cmd.ProcessState.ExitCode(), len(verdicts), elapsed.Seconds())
	}
	slices.Sort(took)
	fmt.Printf("%d runs, %d differ; %.1f s to %.1f s, median %.1f s\n", n, differ, took[0].Seconds(), took[n-1].Seconds(), took[n/2].Seconds())
	if differ > 0 {
		return fmt.Errorf("%d of %d runs differ from the first", differ, n)
	}
	return nil
}
