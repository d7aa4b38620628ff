package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
)

// rung is one size of a ladder: medians of its timed samples, per operation.
type rung struct {
	n                  int
	ns, control, ratio float64
	steps              float64 // NaN where they are not counted
}

func (r rung) stepsText() string {
	if r.steps != r.steps { // NaN
		return ""
	}
	return fmt.Sprintf("%.2f", r.steps)
}

func rungs(l record.Ladder) (all []rung) {
	by := map[int][]record.Sample{}
	for _, s := range l.Samples {
		by[s.N] = append(by[s.N], s)
	}
	for n, samples := range by {
		timed := slices.DeleteFunc(slices.Clone(samples), func(s record.Sample) bool { return s.Round == 0 })
		if len(timed) == 0 {
			timed = samples // a ladder that ended in its first round
		}
		median := func(of []record.Sample, value func(record.Sample) float64) float64 {
			var values []float64
			for _, s := range of {
				values = append(values, value(s))
			}
			return stats.Median(values)
		}
		r := rung{n: n,
			ns:      median(timed, func(s record.Sample) float64 { return float64(s.NS) / float64(s.Ops) }),
			control: median(timed, func(s record.Sample) float64 { return float64(s.Control) / float64(s.Ops) }),
			ratio:   median(timed, record.Sample.Ratio),
			steps:   stats.Median(nil),
		}
		if samples[0].Steps != nil {
			r.steps = median(samples, func(s record.Sample) float64 {
				if s.Steps == nil {
					return 0
				}
				return float64(*s.Steps) / float64(s.Ops)
			})
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b rung) int { return cmp.Compare(a.n, b.n) })
	return all
}

// Benchmarks writes the timed samples as Go benchmark text, one line each, which
// benchstat reads.
func Benchmarks(w io.Writer, f *record.File) error {
	out := benchfmt.NewWriter(w)
	for _, l := range f.Ladders {
		for _, s := range l.Samples {
			if s.Round == 0 {
				continue
			}
			ops := float64(s.Ops)
			r := benchfmt.Result{
				Name:  benchfmt.Name(fmt.Sprintf("Ladder/%s/%s=%d", strings.ReplaceAll(l.Name, "/", "-"), l.Symbol, s.N)),
				Iters: s.Ops,
				Values: []benchfmt.Value{
					{Value: float64(s.NS) / ops, Unit: "ns/op"},
					{Value: float64(s.Control) / ops, Unit: "map-ns/op"},
					{Value: s.Ratio(), Unit: "time/map"},
				},
			}
			if s.Steps != nil {
				r.Values = append(r.Values, benchfmt.Value{Value: float64(*s.Steps) / ops, Unit: "steps/op"})
			}
			for _, c := range [][2]string{{"goos", f.Environment.OS}, {"goarch", f.Environment.Arch}, {"cpu", f.Environment.CPU}, {"target", f.Target.Project + " " + f.Target.Version}} {
				r.SetConfig(c[0], c[1])
			}
			for i := range r.Config {
				r.Config[i].File = true
			}
			if err := out.Write(&r); err != nil {
				return err
			}
		}
	}
	return nil
}
