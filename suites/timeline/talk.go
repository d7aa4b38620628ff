package timeline

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/linear"
	"github.com/routeproof/routeproof/suites/script"
)

// conversations writes what was said to a component, in the forms that there are.
func (v *view) conversations(out io.Writer) {
	if t := v.Talk; t != nil {
		v.talk(out, t)
	}
	for i, c := range v.Held {
		fmt.Fprintf(out, "\nconversation %d of %d, with %s%s\n", i+1, len(v.Held), c.Script.Config, wrong(c.Replay))
		for j, st := range c.Script.Steps {
			said := "not asked"
			if j < len(c.Turns) {
				said = turn(c.Turns[j])
			}
			step(out, j, st.String(), said)
		}
	}
	for i, c := range v.Lineages {
		fmt.Fprintf(out, "\nconversation %d of %d%s\n", i+1, len(v.Lineages), wrong(c.Replay))
		for j, st := range c.Script.Steps {
			said := "not asked"
			if j < len(c.Turns) {
				if said = c.Turns[j].Answer.String(); c.Turns[j].Left != "" || c.Turns[j].Unable {
					said = left(c.Turns[j].Left)
				}
			}
			step(out, j, st.String(), said)
		}
	}
	v.ops(out)
}

func wrong(replay []string) string {
	if len(replay) == 0 {
		return ""
	}
	return ": it went wrong"
}

func step(out io.Writer, i int, asked, said string) {
	fmt.Fprintf(out, "%4d  %s -> %s\n", i+1, line(asked, lineRoom), line(said, lineRoom))
}

// talk is a conversation by a script: its steps as answered, then the protocol's lines.
func (v *view) talk(out io.Writer, t *script.Talk) {
	fmt.Fprintf(out, "adapter %s, claims %s\n", line(t.Adapter, lineRoom), line(strings.Join(t.Claims, " "), lineRoom))
	for i, turned := range t.Turns {
		step(out, i, turned.Step, turn(turned))
	}
	if t.Fault != "" {
		fmt.Fprintf(out, "fault: %s\n", line(t.Fault, textRoom))
	}
	if len(t.Lines) > 0 {
		fmt.Fprintln(out, "\nlines of the protocol, in seconds since the first: > to the adapter, < from it")
	}
	for _, l := range t.Lines {
		way := "<"
		if l.Sent {
			way = ">"
		}
		fmt.Fprintf(out, "%8.3f %s %s\n", (l.At - t.Lines[0].At).Seconds(), way, line(l.Text, textRoom))
	}
}

// turn says what a step came to.
func turn(t script.Turn) string {
	if t.Left != "" || t.Unable {
		return left(t.Left)
	}
	var all []string
	for _, a := range t.Answers {
		s := a.Name + ": " + a.Outcome.String()
		if a.Text != "" {
			s += " (" + a.Text + ")"
		}
		all = append(all, s)
	}
	if len(t.Waiting) > 0 {
		all = append(all, "waiting: "+strings.Join(t.Waiting, ", "))
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, "; ")
}

func left(why string) string {
	if why == "" {
		return "not asked: a claim is lacking"
	}
	return "not asked: " + why
}

// ops are the operations of concurrent callers, in order of their calls.
func (v *view) ops(out io.Writer) {
	if len(v.Ops) == 0 {
		return
	}
	all := slices.Clone(v.Ops)
	slices.SortStableFunc(all, func(a, b linear.Op) int { return int(a.Call - b.Call) })
	first := all[0].Call
	fmt.Fprintf(out, "\n%d operations of concurrent callers, in milliseconds since the first call\n", len(all))
	for _, o := range all {
		ms := func(ns int64) float64 { return float64(ns-first) / float64(time.Millisecond) }
		fmt.Fprintf(out, "%10.3f-%.3f  %s\n", ms(o.Call), ms(o.Return), line(o.String(), lineRoom))
	}
}
