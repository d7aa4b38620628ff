package complexity

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
	"github.com/routeproof/routeproof/suites/mutants"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

func TestMain(m *testing.M) {
	if os.Getenv(spinning) != "" {
		spin()
	}
	goleak.VerifyTestMain(m)
}

// reference opens the reference, or the index that takes its place.
func reference(index target.IndexFactory) func(context.Context) (*component.Client, error) {
	return func(context.Context) (*component.Client, error) {
		return target.ReferenceComponent(target.ComponentOptions{Index: index}), nil
	}
}

// climbOne measures one ladder of the short suite.
func climbOne(t *testing.T, name string, o Options) record.Ladder {
	t.Helper()
	plan, looks, err := Suite(SuiteShort, name)
	if err != nil {
		t.Fatal(err)
	}
	o.Local, o.Looks = true, looks
	all, err := Measure(t.Context(), plan[:1], o)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// The steps and the memory of the reference are what it may cost, whatever the machine does
// meanwhile: with two timed rounds nothing is said about its time. What the ladders send is
// what the protocol allows.
func TestTheReferenceKeepsItsClasses(t *testing.T) {
	if raceDetector {
		t.Skip("a measurement")
	}
	plan, looks, err := Suite(SuiteShort)
	if err != nil {
		t.Fatal(err)
	}
	looks.Rounds = []int{2}
	all, err := Measure(t.Context(), plan, Options{Open: reference(nil), Local: true, Seed: 1, Looks: looks, Checked: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(Ladders()) {
		t.Errorf("%d ladders, want %d", len(all), len(Ladders()))
	}
	for _, l := range all {
		switch {
		case l.Judged == nil || l.Judged.Steps == nil:
			t.Errorf("%s is not judged: %q", l.Name, l.Declined)
		case l.Judged.Steps.Verdict != record.Pass || l.Judged.Memory != nil && l.Judged.Memory.Verdict != record.Pass:
			t.Errorf("%s: steps %+v, memory %+v", l.Name, *l.Judged.Steps, l.Judged.Memory)
		}
	}
}

// runsOf is how many runs a calibration has: ROUTEPROOF_CALIBRATE, or a few.
func runsOf(t *testing.T) (runs int, given bool) {
	text := os.Getenv("ROUTEPROOF_CALIBRATE")
	if text == "" {
		return 2, false
	}
	runs, err := strconv.Atoi(text)
	if err != nil || runs < 1 {
		t.Fatalf("ROUTEPROOF_CALIBRATE is %q; write a number of runs such as 200", text)
	}
	return runs, true
}

// spinning is the environment variable by which this program is the spinner of busy.
const spinning = "ROUTEPROOF_SPIN"

// spin keeps a core busy until its standard input ends: one that its parent, whose cores it
// inherits, must not use, if there is any such core.
func spin() {
	runtime.LockOSThread()
	var ours, others unix.CPUSet
	if unix.SchedGetaffinity(0, &ours) == nil {
		for core := range 8 * int(unsafe.Sizeof(others)) {
			if !ours.IsSet(core) {
				others.Set(core)
			}
		}
		_ = unix.SchedSetaffinity(0, &others) // in vain where the parent may use them all
	}
	var over atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	for !over.Load() {
	}
	os.Exit(0)
}

// busy keeps another core busy until the test ends: in another process, which does not
// share our scheduler.
func busy(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), spinning+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// expected are the verdicts that time alone, and steps alone, must come to for an index
// under each law. Where neither is named the limit lies too near to be sure.
var expected = map[string]struct{ time, steps record.Verdict }{
	"reference": {record.Pass, record.Pass},
	"linear":    {record.Pass, record.Pass},
	"n log n":   {"", record.Fail},
	"n^1.2":     {record.Fail, record.Fail},
	"quadratic": {record.Fail, record.Fail},
}

// tally counts what a law's ladders came to.
type tally struct {
	time, steps map[record.Verdict]int
	slopes      []float64
}

// The verdicts of time and of steps are each counted by themselves, over many runs, beside
// a core that is busy with something else. With 200 runs (ROUTEPROOF_CALIBRATE=200) the
// rates are known well enough to hold them to 98 % with 95 % confidence; with a few,
// only that nothing is the wrong way round.
func TestCalibrate(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("a measurement")
	}
	runs, given := runsOf(t)
	ladders, laws := []string{"k/new", "d/append", "N/append"}, append([]string{"reference"}, slices.Sorted(maps.Keys(mutants.Laws))...)
	if given {
		busy(t)
	} else {
		ladders, laws = []string{"k/new", "d/append"}, []string{"reference", "quadratic"}
	}
	if only := os.Getenv("ROUTEPROOF_CALIBRATE_LADDERS"); only != "" {
		ladders = strings.Split(only, ",")
	}
	if only := os.Getenv("ROUTEPROOF_CALIBRATE_LAWS"); only != "" {
		laws = strings.Split(only, ",")
	}
	all := map[string]*tally{}
	for run := range runs {
		for _, name := range ladders {
			for _, law := range laws {
				key := name + " " + law
				if all[key] == nil {
					all[key] = &tally{map[record.Verdict]int{}, map[record.Verdict]int{}, nil}
				}
				l := climbOne(t, name, Options{Open: reference(under(law)), Seed: uint64(run), KeepClimbing: true})
				all[key].time[l.Judged.Time.Verdict]++
				all[key].steps[l.Judged.Steps.Verdict]++
				all[key].slopes = append(all[key].slopes, l.Judged.Time.Exponent)
			}
		}
		if given && (run+1)%5 == 0 {
			fmt.Printf("after %d runs, %s\n%s\n", run+1, time.Now().Format(time.TimeOnly), table(all))
		}
	}
	t.Logf("%d runs each\n%s", runs, table(all))
	for key, c := range all {
		want := expected[key[strings.Index(key, " ")+1:]]
		check(t, key+": time", want.time, c.time, runs, given)
		check(t, key+": steps", want.steps, c.steps, runs, given)
	}
}

// under is the factory of a law; of the reference it is nil.
func under(law string) target.IndexFactory {
	if law == "reference" {
		return nil
	}
	return mutants.CostlyIndex(mutants.Laws[law])
}

// check holds the verdicts against the one that is wanted. Of what must pass, a false
// alarm is what counts; inconclusive is none. A few runs are only wrong if all are the
// wrong way round: a machine may be too busy for anything but inconclusive.
func check(t *testing.T, what string, want record.Verdict, got map[record.Verdict]int, runs int, given bool) {
	t.Helper()
	right, wrong := stats.Rate{Hits: got[record.Fail], Trials: runs}, got[record.Pass]
	if want == record.Pass {
		right.Hits, wrong = runs-got[record.Fail], got[record.Fail]
	}
	switch {
	case want == "":
	case wrong == runs:
		t.Errorf("%s: %v, want %s", what, got, want)
	case given && runs >= 149 && right.AtLeast(0.95) < 0.98:
		t.Errorf("%s: right in %v", what, right)
	}
}

func table(all map[string]*tally) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c := all[key]
		lo, hi := slices.Min(c.slopes), slices.Max(c.slopes)
		n := len(c.slopes)
		alarm := stats.Rate{Hits: c.time[record.Fail], Trials: n}
		fmt.Fprintf(&b, "%-20s time: %3d pass %3d inconclusive %3d fail (called: at least %5.1f %%, at most %5.1f %%); slope %6.3f [%.3f, %.3f]; steps: %3d pass %3d fail\n",
			key, c.time[record.Pass], c.time[record.Inconclusive], c.time[record.Fail], 100*alarm.AtLeast(0.95), 100*alarm.AtMost(0.95),
			stats.Median(c.slopes), lo, hi, c.steps[record.Pass], c.steps[record.Fail])
	}
	return b.String()
}
