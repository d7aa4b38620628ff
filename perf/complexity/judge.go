package complexity

import (
	"fmt"
	"math"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
)

// memoryTolerance is by how much the exponent of memory may exceed its class: an
// allocator rounds up.
const memoryTolerance = 0.1

// Judge says from its samples whether a ladder keeps its class. It is pure.
func (l *Ladder) Judge(samples []record.Sample, looks stats.Looks) *record.Judged {
	j := &record.Judged{Verdict: record.Pass, Class: l.Class, Steps: l.judgeSteps(samples), Memory: l.judgeMemory(samples)}
	slack := l.Slack
	if j.Steps == nil {
		slack = SlackCoarse
		j.Notes = append(j.Notes, fmt.Sprintf("no steps are counted: time tells an exponent under %.1f of the expected one's ratio to a bare map; "+
			"n log n, n^1.2 and whatever is small beside the rest are not excluded", 1+SlackCoarse))
	}
	j.Time = l.judgeTime(samples, looks, slack)
	if l.Memory != nil && j.Memory == nil {
		j.Notes = append(j.Notes, "memory is not measured: the target is another process")
	}
	for _, f := range []*record.Figure{j.Steps, j.Time, j.Memory} {
		switch {
		case f == nil || j.Verdict == record.Fail:
		case f.Verdict != record.Pass:
			j.Verdict = f.Verdict
		}
	}
	return j
}

// judgeSteps is nil for a target that counts none.
func (l *Ladder) judgeSteps(samples []record.Sample) *record.Figure {
	var points []stats.Point
	for _, s := range samples {
		if s.Steps == nil {
			return nil
		}
		points = append(points, l.value(s, float64(max(1, *s.Steps))))
	}
	return figure(stats.StepExponent(stats.Medians(points), l.Steps), l.Steps+stats.StepTolerance)
}

// judgeMemory takes the least of each size: an arena that happens to grow during one
// sample is no growth with the size.
func (l *Ladder) judgeMemory(samples []record.Sample) *record.Figure {
	if l.Memory == nil {
		return nil
	}
	least := map[int]uint64{}
	var points []stats.Point
	for _, s := range samples {
		if s.Bytes == nil {
			return nil
		}
		if had, ok := least[s.N]; !ok || *s.Bytes < had {
			least[s.N] = *s.Bytes
		}
	}
	for n, bytes := range least {
		if *l.Memory == 0 {
			bytes += memoryGrain
		}
		points = append(points, stats.Point{N: float64(n), Y: float64(bytes)})
	}
	return figure(stats.StepExponent(stats.Medians(points), *l.Memory), *l.Memory+memoryTolerance)
}

// memoryGrain is added to memory that must not grow: the runtime counts small objects by
// the span, of 8 KiB and more: a span more or two are no growth.
const memoryGrain = 32 << 10

func figure(exponent, limit float64) *record.Figure {
	switch {
	case math.IsNaN(exponent): // too few sizes
		return &record.Figure{Verdict: record.Inconclusive, Limit: limit}
	case exponent > limit:
		return &record.Figure{Verdict: record.Fail, Exponent: exponent, Limit: limit}
	}
	return &record.Figure{Verdict: record.Pass, Exponent: exponent, Limit: limit}
}

// judgeTime takes one slope from each round, and the interval of their median.
func (l *Ladder) judgeTime(samples []record.Sample, looks stats.Looks, slack float64) *record.Figure {
	byRound := map[int][]stats.Point{}
	for _, s := range samples {
		if s.Round > 0 {
			byRound[s.Round] = append(byRound[s.Round], stats.Point{N: float64(s.N), Y: s.Ratio()})
		}
	}
	var slopes []float64
	for _, points := range byRound {
		if slope := stats.Slope(points); len(points) >= stats.MinRungs && !math.IsNaN(slope) {
			slopes = append(slopes, slope)
		}
	}
	f := &record.Figure{Verdict: record.Inconclusive, Limit: slack, Rounds: len(slopes)}
	if len(slopes) == 0 {
		return f
	}
	v := stats.MedianInterval(slopes, looks.Each())
	f.Exponent = v.Value
	if !math.IsInf(v.Lo, 0) {
		f.Lo, f.Hi = &v.Lo, &v.Hi
	}
	switch v.Decide(slack) {
	case stats.Within:
		f.Verdict = record.Pass
	case stats.Beyond:
		f.Verdict = record.Fail
	}
	return f
}

// hopeless says whether a first, ascending round need not go on: what has been seen is
// so far beyond the class that larger sizes, which would take for ever, add nothing.
func (l *Ladder) hopeless(samples []record.Sample) bool {
	const sizes, steep = 6, 0.15
	if len(samples) < sizes {
		return false
	}
	if f := l.judgeSteps(samples); f != nil { // then one noisy round of times decides nothing
		return f.Exponent > l.Steps+steep
	}
	var ratios []stats.Point
	for _, s := range samples {
		ratios = append(ratios, stats.Point{N: float64(s.N), Y: s.Ratio()})
	}
	return stats.Slope(ratios[len(ratios)-sizes:]) > 2*SlackCoarse
}
