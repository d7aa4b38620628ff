package complexity

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

func reference(context.Context) (*component.Client, error) {
	return target.ReferenceComponent(nil), nil
}

func TestTry(t *testing.T) {
	for _, c := range Ladders() {
		begin := time.Now()
		if only := os.Getenv("ONLY"); only != "" && !strings.HasPrefix(c.Name, only) {
			continue
		}
		plan, looks, err := Suite(cmp.Or(os.Getenv("SUITE"), SuiteShort), c.Name)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Measure(t.Context(), plan, Options{Open: reference, Local: true, Seed: 1, Looks: looks})
		if err != nil {
			t.Error(err)
		}
		for _, l := range all {
			t.Log(l.Name, l.Declined, l.Stopped, time.Since(begin).Round(time.Millisecond), show(l.Judged))
			if testing.Verbose() && len(l.Samples) > 0 {
				last := l.Samples[len(l.Samples)-1].Round
				for _, s := range l.Samples {
					if s.Round == last {
						st := int64(-1)
						if s.Steps != nil {
							st = *s.Steps
						}
						fmt.Printf("%d: ops %d ns/op %.0f ctl %d ratio %.3f steps/op %.2f\n", s.N, s.Ops, float64(s.NS)/float64(s.Ops), s.Control, s.Ratio(), float64(st)/float64(s.Ops))
					}
				}
			}
		}
	}
}

func show(j *record.Judged) string {
	if j == nil {
		return "-"
	}
	text := string(j.Verdict)
	for what, f := range map[string]*record.Figure{"steps": j.Steps, "time": j.Time, "memory": j.Memory} {
		if f != nil {
			text += fmt.Sprintf(" %s %s %.3f/%.2f (%d)", what, f.Verdict, f.Exponent, f.Limit, f.Rounds)
			if f.Lo != nil {
				text += fmt.Sprintf(" [%.3f %.3f]", *f.Lo, *f.Hi)
			}
		}
	}
	return text
}
