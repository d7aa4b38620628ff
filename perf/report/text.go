// Package report shows measurements: as a table, as one HTML file with plots, as Go
// benchmark text.
package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/routeproof/routeproof/perf/compare"
	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
)

// Table prints a measurement: a line per ladder, then what its verdicts do not exclude.
func Table(w io.Writer, f *record.File) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	judged := false
	for _, l := range f.Ladders {
		judged = judged || l.Judged != nil
	}
	if judged {
		fmt.Fprintln(t, "ladder\tmay cost\tsteps\ttime / map\tmemory\tverdict")
	} else {
		fmt.Fprintln(t, "ladder\tns/op\tmap ns\ttime / map\tsteps/op")
	}
	for _, l := range f.Ladders {
		switch {
		case l.Declined != "":
			fmt.Fprintf(t, "%s\tdeclined: %s\n", l.Name, l.Declined)
		case l.Judged != nil:
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", l.Name, l.Judged.Class, figure(l.Judged.Steps), figure(l.Judged.Time), figure(l.Judged.Memory), l.Judged.Verdict)
		default:
			for _, r := range rungs(l) {
				fmt.Fprintf(t, "%s %s=%d\t%.0f\t%.0f\t%.2f\t%s\n", l.Name, l.Symbol, r.n, r.ns, r.control, r.ratio, cmp.Or(r.stepsText(), "-"))
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range notes(f) {
		if _, err := fmt.Fprintf(w, "note: %s\n", n); err != nil {
			return err
		}
	}
	return nil
}

// notes are what the ladders say beside their figures, each once.
func notes(f *record.File) (all []string) {
	seen := map[string]bool{}
	add := func(n string) {
		if !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	for _, l := range f.Ladders {
		if l.Stopped != "" {
			add(l.Name + " ended " + l.Stopped)
		}
		if l.Judged != nil {
			for _, n := range l.Judged.Notes {
				add(n)
			}
		}
	}
	if !f.Complete {
		add("the measurement was interrupted")
	}
	return all
}

// figure is an exponent, its interval and its limit.
func figure(f *record.Figure) string {
	if f == nil {
		return "-"
	}
	text := fmt.Sprintf("%.2f", f.Exponent)
	if f.Lo != nil && f.Hi != nil {
		text += fmt.Sprintf(" [%.2f, %.2f]", *f.Lo, *f.Hi)
	}
	sign := map[record.Verdict]string{record.Pass: "<=", record.Fail: "> ", record.Inconclusive: "? "}[f.Verdict]
	return strings.TrimSpace(fmt.Sprintf("%s %s %.2f", text, sign, f.Limit))
}

// Comparison prints a comparison: a line per ladder, worst first.
func Comparison(w io.Writer, r compare.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ladder\told\tnew\tchange\tsteps\tverdict")
	for _, row := range r.Rows {
		if row.Change == stats.Unpaired {
			verdict := cmp.Or(row.Gap, "not in the old one")
			if row.Class != "" {
				verdict = "REGRESSION: " + row.Class
			}
			fmt.Fprintf(t, "%s\t\t\t\t\t%s\n", row.Ladder, verdict)
			continue
		}
		verdict := string(row.Change)
		switch {
		case row.Regression():
			verdict = "REGRESSION: " + cmp.Or(row.Class, fmt.Sprintf("slower by %.1f %%", 100*(row.Factor-1)))
		case row.Gap != "":
			verdict += ", but " + row.Gap
		}
		steps := "-"
		if row.Steps > 0 {
			steps = fmt.Sprintf("x%.2f", row.Steps)
		}
		fmt.Fprintf(t, "%s\t%.3g\t%.3g\t%v\t%s\t%s\n", row.Ladder, row.Old, row.New, row.Comparison, steps, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	_, err := fmt.Fprintf(w, "a change counts from %.0f %% on, at level %.2g for all ladders together\n", 100*r.Rules.Effect, r.Rules.Alpha)
	return err
}
