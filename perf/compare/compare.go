// Package compare says whether one measurement is slower than another.
package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
)

// Rules are when a difference counts.
type Rules struct {
	// Alpha is the level of the whole comparison: each of its ladders gets an equal part,
	// so that measuring more ladders does not make a false alarm likelier.
	Alpha float64
	// Effect is the least difference that counts: 0.07 is 7 %.
	Effect float64
}

// The rules. What is twice the effect or more is called almost surely; it is the effect,
// not the level, that keeps two equal programs from being called different.
var (
	Saved = Rules{Alpha: 0.05, Effect: 0.07}  // of two files, measured at different times
	Pairs = Rules{Alpha: 0.002, Effect: 0.05} // of two programs, measured side by side
)

// Row is one ladder in both measurements.
type Row struct {
	Ladder string
	Rungs  []int
	stats.Comparison
	// Class is why the ladder is a regression whatever its speed: it has lost its class.
	// Empty: it is not.
	Class string
	// Steps is the factor of steps an operation, 0 where they are not counted.
	Steps float64
	// Gap is what keeps the ladder from being told to be as fast as it was: what the old
	// measurement has of it and the new one lacks, say. Empty: nothing, or it is new.
	Gap string
}

// Regression says whether the row is one.
func (r Row) Regression() bool { return r.Change == stats.Slower || r.Class != "" }

// Result is a comparison.
type Result struct {
	Rows  []Row
	Notes []string // what makes it less sure
	Rules Rules
	flaws []string // of whole measurements; see Gaps
}

// Regressions are the rows that are one.
func (r Result) Regressions() (bad []Row) {
	for _, row := range r.Rows {
		if row.Regression() {
			bad = append(bad, row)
		}
	}
	return bad
}

// Undecided says whether nothing could be told of anything.
func (r Result) Undecided() bool {
	return !slices.ContainsFunc(r.Rows, func(row Row) bool {
		return row.Change != stats.TooFew && row.Change != stats.Unpaired || row.Class != ""
	})
}

// Gaps are why it cannot prove that nothing is slower, whatever its rows say: nobody
// knows what a ladder would have shown that vanished, or was yet to come.
func (r Result) Gaps() []string {
	gaps := slices.Clone(r.flaws)
	for _, row := range r.Rows {
		if row.Gap != "" {
			gaps = append(gaps, row.Ladder+" "+row.Gap)
		}
	}
	return gaps
}

// Files compares two saved measurements by the ratio of index to control: what one
// machine is faster at today, or slower at, the control has seen as well.
func Files(old, new *record.File, rules Rules) Result {
	r := Result{Rules: rules, Notes: differences(old, new), flaws: flaws(old, new)}
	each(old, new, rules, &r, func(a, b record.Ladder, rungs []int, alpha float64) stats.Comparison {
		ratio := record.Sample.Ratio
		return stats.Compare(perSitting(a, rungs, ratio), perSitting(b, rungs, ratio), alpha, rules.Effect)
	})
	return r
}

// SideBySide compares two measurements whose samples were taken in turns: by the factors
// of samples that were taken one right after the other, of each sitting the median.
func SideBySide(old, new *record.File, rules Rules) Result {
	r := Result{Rules: rules}
	each(old, new, rules, &r, func(a, b record.Ladder, rungs []int, alpha float64) stats.Comparison {
		before := perSitting(a, rungs, spent)
		after := perSitting(beside(a, b), rungs, record.Sample.Ratio)
		before = before[:min(len(before), len(after))] // the last sitting may have been interrupted
		for i := range before {
			after[i] *= before[i]
		}
		return stats.ComparePairs(before, after, alpha, rules.Effect)
	})
	return r
}

func spent(s record.Sample) float64 { return float64(s.NS) }

// beside are b's samples, each with the sample of a that was taken beside it as control.
func beside(a, b record.Ladder) record.Ladder {
	type moment struct{ round, n int }
	at := map[moment]int64{}
	for _, s := range a.Samples {
		at[moment{s.Round, s.N}] = s.NS
	}
	l := record.Ladder{Name: b.Name}
	for _, s := range b.Samples {
		if ns, ok := at[moment{s.Round, s.N}]; ok {
			s.Control = ns
			l.Samples = append(l.Samples, s)
		}
	}
	return l
}

func each(old, new *record.File, rules Rules, r *Result, compare func(a, b record.Ladder, rungs []int, alpha float64) stats.Comparison) {
	names := map[string]int{}
	for _, l := range old.Ladders {
		names[l.Name]++
	}
	both := 0
	for _, l := range new.Ladders {
		if names[l.Name]++; names[l.Name] == 2 {
			both++
		}
	}
	for _, a := range old.Ladders {
		row := Row{Ladder: a.Name, Comparison: stats.Comparison{Change: stats.Unpaired}}
		if i := slices.IndexFunc(new.Ladders, func(b record.Ladder) bool { return b.Name == a.Name }); i >= 0 {
			b := new.Ladders[i]
			if row.Rungs = common(a, b); len(row.Rungs) > 0 {
				row.Comparison = compare(a, b, row.Rungs, rules.Alpha/float64(both))
				row.Steps = stepFactor(a, b, row.Rungs)
			}
			row.Class = lost(a.Judged, b.Judged)
			row.Gap = gap(a, b, row)
		} else if a.Declined == "" {
			row.Gap = "is missing in the new one"
		}
		r.Rows = append(r.Rows, row)
		delete(names, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		r.Rows = append(r.Rows, Row{Ladder: name, Comparison: stats.Comparison{Change: stats.Unpaired}})
	}
}

// gap says what keeps a ladder of both from being told to be as fast as it was. What the
// old one declined cannot get worse.
func gap(a, b record.Ladder, row Row) string {
	at := rungs(b)
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(rungs(a))), func(n int) bool { return at[n] })
	switch {
	case a.Declined != "" || row.Class != "":
		return ""
	case b.Declined != "":
		return "is declined by the new one (" + b.Declined + ")"
	case len(row.Rungs) == 0:
		return "was timed at no size in both"
	case row.Change == stats.TooFew:
		return "was timed too seldom"
	case len(missing) > 0:
		return fmt.Sprintf("is missing in the new one at %s = %s", a.Symbol, strings.Trim(fmt.Sprint(missing), "[]"))
	}
	return ""
}

// lost says that a ladder had its class and has it no more.
func lost(a, b *record.Judged) string {
	if a == nil || b == nil || a.Verdict == record.Fail || b.Verdict != record.Fail {
		return ""
	}
	for what, f := range map[string]*record.Figure{"steps": b.Steps, "time over control": b.Time, "memory": b.Memory} {
		if f != nil && f.Verdict == record.Fail {
			return fmt.Sprintf("it was %s: %s now grow with exponent %.2f, at most %.2f is allowed", b.Class, what, f.Exponent, f.Limit)
		}
	}
	return "it was " + b.Class
}

// rungs are the sizes that were timed.
func rungs(l record.Ladder) map[int]bool {
	sizes := map[int]bool{}
	for _, s := range l.Samples {
		if s.Round > 0 {
			sizes[s.N] = true
		}
	}
	return sizes
}

func common(a, b record.Ladder) (sizes []int) {
	in := rungs(b)
	for n := range rungs(a) {
		if in[n] {
			sizes = append(sizes, n)
		}
	}
	slices.Sort(sizes)
	return sizes
}

// perSitting is one value for each sitting, the median of its rounds: rounds of one
// sitting share an index, its place in memory and what the machine did just then, so they
// are no independent witnesses. Of a single sitting it is the rounds all the same.
func perSitting(l record.Ladder, rungs []int, value func(record.Sample) float64) (all []float64) {
	by := map[int]*record.Ladder{}
	for _, s := range l.Samples {
		if by[s.Sitting] == nil {
			by[s.Sitting] = &record.Ladder{}
		}
		by[s.Sitting].Samples = append(by[s.Sitting].Samples, s)
	}
	if len(by) == 1 {
		return perRound(l, rungs, value)
	}
	for _, sitting := range slices.Sorted(maps.Keys(by)) {
		if values := perRound(*by[sitting], rungs, value); len(values) > 0 {
			all = append(all, stats.Median(values))
		}
	}
	return all
}

// perRound is one value for each round that has all rungs: their geometric mean, in the
// order of rounds.
func perRound(l record.Ladder, rungs []int, value func(record.Sample) float64) (all []float64) {
	by := map[int][]float64{}
	for _, s := range l.Samples {
		if s.Round > 0 && slices.Contains(rungs, s.N) {
			by[s.Round] = append(by[s.Round], value(s))
		}
	}
	for _, round := range slices.Sorted(maps.Keys(by)) {
		if len(by[round]) == len(rungs) {
			all = append(all, stats.GeometricMean(by[round]))
		}
	}
	return all
}

// stepFactor is by how much the steps an operation differ, 0 where they are not counted.
func stepFactor(a, b record.Ladder, rungs []int) float64 {
	steps := func(l record.Ladder) float64 {
		var all []float64
		for _, s := range l.Samples {
			if s.Steps != nil && slices.Contains(rungs, s.N) {
				all = append(all, max(1, float64(*s.Steps))/float64(s.Ops))
			}
		}
		return stats.GeometricMean(all)
	}
	if f := steps(b) / steps(a); f == f { // not NaN
		return f
	}
	return 0
}

// differences are what two measurements should have in common, and do not.
func differences(old, new *record.File) (notes []string) {
	for _, d := range []struct{ what, old, new string }{
		{"the suite", old.Suite, new.Suite},
		{"the processor", old.Environment.CPU, new.Environment.CPU},
		{"the number of cores", fmt.Sprint(old.Environment.Cores), fmt.Sprint(new.Environment.Cores)},
		{"GOMAXPROCS", fmt.Sprint(old.Environment.GOMAXPROCS), fmt.Sprint(new.Environment.GOMAXPROCS)},
		{"Go", old.Environment.Go, new.Environment.Go},
		{"the project", old.Target.Project, new.Target.Project},
		{"the way the target runs", way(old), way(new)},
	} {
		if d.old != d.new {
			notes = append(notes, fmt.Sprintf("%s differs: %s, now %s", d.what, d.old, d.new))
		}
	}
	notes = append(notes, interrupted(old, new)...)
	slices.Sort(notes)
	return notes
}

// flaws are those of whole measurements that keep "no regression" from being proven.
func flaws(old, new *record.File) (all []string) {
	if old.Suite != new.Suite {
		all = append(all, fmt.Sprintf("the old one is of the suite %s and the new one of %s", old.Suite, new.Suite))
	}
	return append(all, interrupted(old, new)...)
}

func interrupted(old, new *record.File) (all []string) {
	if !old.Complete {
		all = append(all, "the old measurement was interrupted")
	}
	if !new.Complete {
		all = append(all, "the new measurement was interrupted")
	}
	return all
}

func way(f *record.File) string {
	if f.Target.InProcess {
		return "in process"
	}
	return "as a process"
}
