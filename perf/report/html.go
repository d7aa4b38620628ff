package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/routeproof/routeproof/perf/complexity"
	"github.com/routeproof/routeproof/perf/record"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{"figure": figure}).Parse(page))

// shown is one ladder as the page shows it.
type shown struct {
	record.Ladder
	Title string
	Rungs []shownRung
	Plots []template.HTML
}

type shownRung struct {
	N                         int
	NS, Control, Ratio, Steps string
}

// HTML writes one self-contained page.
func HTML(w io.Writer, f *record.File) error {
	titles := map[string]string{}
	for _, l := range complexity.Ladders() {
		titles[l.Name] = l.Title
	}
	data := struct {
		File    *record.File
		Notes   []string
		Ladders []shown
	}{File: f, Notes: notes(f)}
	for _, l := range f.Ladders {
		s := shown{Ladder: l, Title: titles[l.Name]}
		rungs := rungs(l)
		for _, r := range rungs {
			s.Rungs = append(s.Rungs, shownRung{r.n, fmt.Sprintf("%.0f", r.ns), fmt.Sprintf("%.0f", r.control), fmt.Sprintf("%.2f", r.ratio), r.stepsText()})
		}
		var err error
		if s.Plots, err = plots(l, rungs); err != nil {
			return fmt.Errorf("plot of %s: %w", l.Name, err)
		}
		data.Ladders = append(data.Ladders, s)
	}
	return pageTemplate.Execute(w, data)
}

// plots are time over control and, where they are counted, steps.
func plots(l record.Ladder, rungs []rung) (all []template.HTML, err error) {
	if len(rungs) < 2 {
		return nil, nil
	}
	line := func(c series, value func(rung) float64) series {
		for _, r := range rungs {
			c.x, c.y = append(c.x, float64(r.n)), append(c.y, max(value(r), 1e-3))
		}
		return c
	}
	ratio := line(series{color: blue}, func(r rung) float64 { return r.ratio })
	for _, s := range l.Samples {
		if s.Round > 0 {
			ratio.dots = append(ratio.dots, xy{float64(s.N), s.Ratio()})
		}
	}
	add := func(title, y string, lines ...series) {
		if err == nil {
			var svg string
			svg, err = drawing(title, l.Symbol, y, lines...)
			all = append(all, template.HTML(svg)) // our own drawing; its texts are escaped by the library
		}
	}
	add("time / map", "ratio", ratio)
	add("ns an operation, map in grey", "ns", line(series{color: gray}, func(r rung) float64 { return r.control }), line(series{color: blue}, func(r rung) float64 { return r.ns }))
	if !slices.ContainsFunc(rungs, func(r rung) bool { return r.stepsText() == "" }) {
		add("steps an operation", "steps", line(series{color: blue}, func(r rung) float64 { return r.steps }))
	}
	return all, err
}
