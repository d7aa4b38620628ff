package perf

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/routeproof/routeproof/perf/compare"
	"github.com/routeproof/routeproof/perf/complexity"
	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
)

// calibrated are the ladders that comparisons are calibrated on.
var calibrated = []string{"k/new", "N/append", "d/match"}

// trialsOf is how many trials a calibration has: ROUTEPROOF_CALIBRATE; without it, there
// is none.
func trialsOf(t *testing.T) int {
	text := os.Getenv("ROUTEPROOF_CALIBRATE")
	if text == "" {
		t.Skip("a long measurement: set ROUTEPROOF_CALIBRATE to a number of trials such as 200")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("ROUTEPROOF_CALIBRATE is %q; write a number of trials such as 200", text)
	}
	return n
}

// slower is a measurement with the target's times multiplied: exactly so much slower,
// with all the noise that was there.
func slower(f *record.File, factor float64) *record.File {
	g := *f
	g.Ladders = nil
	for _, l := range f.Ladders {
		samples := make([]record.Sample, len(l.Samples))
		for i, s := range l.Samples {
			s.NS = int64(factor * float64(s.NS))
			samples[i] = s
		}
		l.Samples = samples
		g.Ladders = append(g.Ladders, l)
	}
	return &g
}

// counts are what trials came to.
type counts struct {
	called stats.Rate // of the ladders of the slower one that are a regression
	wolf   stats.Rate // any ladder of the equal one is
	worst  map[string][]float64
}

func (c *counts) add(planted, equal compare.Result) {
	c.called.Trials += len(planted.Rows)
	c.wolf.Trials++
	c.called.Hits += len(planted.Regressions())
	if len(equal.Regressions()) > 0 {
		c.wolf.Hits++
	}
	for _, row := range equal.Rows {
		c.worst[row.Ladder] = append(c.worst[row.Ladder], row.Factor)
	}
}

func (c *counts) String() string {
	text := fmt.Sprintf("called: %v\ncried wolf: %v\n", c.called, c.wolf)
	for name, factors := range c.worst {
		v := stats.MedianInterval(factors, 0.025)
		lo, hi := factors[0], factors[0]
		for _, f := range factors {
			lo, hi = min(lo, f), max(hi, f)
		}
		text += fmt.Sprintf("%-9s equal ones differ by a factor of %.3f (median), %.3f to %.3f\n", name, v.Value, lo, hi)
	}
	return text
}

func (c *counts) check(t *testing.T) {
	t.Log("\n" + c.String())
	if c.wolf.Trials >= 149 && (c.called.AtLeast(0.95) < 0.98 || c.wolf.AtMost(0.95) > 0.02) {
		t.Error("not right in 98 % with 95 % confidence")
	}
}

// keep writes what was measured into the directory that ROUTEPROOF_CALIBRATE_KEEP names, so
// that other rules can be tried on it.
func keep(t *testing.T, name string, trial int, f *record.File) {
	dir := os.Getenv("ROUTEPROOF_CALIBRATE_KEEP")
	if dir == "" {
		return
	}
	if err := f.Write(filepath.Join(dir, fmt.Sprintf("%s-%03d.json", name, trial))); err != nil {
		t.Fatal(err)
	}
}

// Two measurements of the same index, one after the other, and the second one again, 15 %
// slower: the one must be called in all ladders, the other in none.
func TestCalibrateFiles(t *testing.T) {
	n := trialsOf(t)
	c := counts{worst: map[string][]float64{}}
	measure := func() *record.File {
		f, err := Run(t.Context(), with(nil), Options{Suite: complexity.SuiteSpeed, Only: calibrated, Seed: complexity.SpeedSeed})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	old := measure()
	for i := range n {
		new := measure()
		keep(t, "file", i, new)
		c.add(compare.Files(old, slower(new, 1.15), compare.Saved), compare.Files(old, new, compare.Saved))
		old = new
		progress(i+1, &c)
	}
	c.check(t)
}

// The same side by side, with 10 %; as processes, of the program that ROUTEPROOF_EXE names.
func TestCalibratePairs(t *testing.T) {
	n := trialsOf(t)
	a := with(nil)
	if exe := os.Getenv("ROUTEPROOF_EXE"); exe != "" {
		a = FromProgram(exe)
	}
	c := counts{worst: map[string][]float64{}}
	for i := range n {
		old, new, err := RunPair(t.Context(), a, a, Options{Only: calibrated, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		keep(t, "old", i, old)
		keep(t, "new", i, new)
		c.add(compare.SideBySide(old, slower(new, 1.10), compare.Pairs), compare.SideBySide(old, new, compare.Pairs))
		progress(i+1, &c)
	}
	c.check(t)
}

func progress(done int, c *counts) {
	if done%10 == 0 {
		fmt.Printf("after %d trials, %s\n%v\n", done, time.Now().Format(time.TimeOnly), c)
	}
}
