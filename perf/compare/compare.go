// Package compare says whether one measurement is slower than another.
package compare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
)

// Rules are when a difference counts.
type Rules struct {
	// Alpha is the level of the whole comparison: each of its ladders gets an equal part,
	// so that measuring more ladders does not make a false alarm likelier.
	Alpha float64
	// Effect is the least difference of medians that counts: 0.07 is 7 %.
	Effect float64
}

// The rules. What is twice the effect or more is called almost surely; it is the effect,
// not the level, that keeps two equal programs from being called different.
var (
	Saved = Rules{Alpha: 0.05, Effect: 0.07} // of two files, measured at different times
	Pairs = Rules{Alpha: 0.01, Effect: 0.05} // of two programs, measured side by side
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
}

// Regression says whether the row is one.
func (r Row) Regression() bool { return r.Change == stats.Slower || r.Class != "" }

// Result is a comparison.
type Result struct {
	Rows  []Row
	Notes []string // what makes it less sure
	Rules Rules
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

// Files compares two saved measurements by the ratio of index to control: what one
// machine is faster at today, or slower at, the control has seen as well.
func Files(old, new *record.File, rules Rules) Result {
	r := Result{Rules: rules, Notes: differences(old, new)}
	each(old, new, rules, &r, func(a, b record.Ladder, rungs []int, alpha float64) stats.Comparison {
		ratio := record.Sample.Ratio
		return stats.Compare(perSitting(a, rungs, ratio), perSitting(b, rungs, ratio), alpha, rules.Effect)
	})
	return r
}

// SideBySide compares two measurements whose samples were taken in turns.
func SideBySide(old, new *record.File, rules Rules) Result {
	r := Result{Rules: rules}
	each(old, new, rules, &r, func(a, b record.Ladder, rungs []int, alpha float64) stats.Comparison {
		ns := func(s record.Sample) float64 { return float64(s.NS) }
		return stats.ComparePairs(perRound(a, rungs, ns), perRound(b, rungs, ns), alpha, rules.Effect)
	})
	return r
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
		}
		r.Rows = append(r.Rows, row)
		delete(names, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		r.Rows = append(r.Rows, Row{Ladder: name, Comparison: stats.Comparison{Change: stats.Unpaired}})
	}
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
	for which, f := range map[string]*record.File{"old": old, "new": new} {
		if !f.Complete {
			notes = append(notes, "the "+which+" measurement was interrupted")
		}
	}
	slices.Sort(notes)
	return notes
}

func way(f *record.File) string {
	if f.Target.InProcess {
		return "in process"
	}
	return "as a process"
}
