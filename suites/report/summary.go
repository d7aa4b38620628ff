package report

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// How much of a run the summary prints; the rest is in report.json.
const (
	maxBlocks = 20 // cases shown in full
	maxListed = 12 // names in a list

	maxReasons = 40 // for which cases were declined: more than there are claims
)

// lineLimit is how many lines a part of a failed case may take, so that the
// whole fits a screen of 24. Parts not named here take one line, are never
// wrapped or cut, and so can be copied.
var lineLimit = map[string]int{"clause": 3, "wanted": 2, "expected": 4, "observed": 6, "detail": 3, "requests": 2}

// withLog is the same for parts that give way to a target's log.
var withLog = map[string]int{"expected": 2, "observed": 2, "clause": 2, "wanted": 1, "requests": 1}

// withExample is the same for parts that give way to an example, whose lines are
// shown whole: they say most.
var withExample = map[string]int{"clause": 2, "wanted": 1, "expected": 2, "observed": 3, "detail": 2, "requests": 2}

// Summary prints what did not go well, each case within one screen, then the
// problems, the profiles, and what it all came to.
func (t *Terminal) Summary(r *Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.running = nil
	blocks, lists := r.toShow()
	for i, c := range blocks {
		if i == maxBlocks {
			t.printf("\nand %d more; see %s\n", len(blocks)-i, JSONFile)
			break
		}
		t.block(c)
	}
	for _, v := range []Verdict{NotRun, Exempt} {
		if names := lists[v]; len(names) > 0 {
			t.printf("\n")
			t.part("", string(v)+": "+list(names), 4)
		}
	}
	t.declined(r)
	if len(r.Problems) > 0 {
		t.printf("\nproblems of the run\n")
		for _, p := range r.Problems {
			t.part("  ", p.String(), 4)
		}
	}
	t.profiles(r)
	t.closing(r)
}

// toShow picks the cases to show in full, MUSTs first, and those to list.
func (r *Report) toShow() (blocks []*CaseResult, lists map[Verdict][]string) {
	lists = map[Verdict][]string{}
	for i := range r.Cases {
		c := &r.Cases[i]
		full := c.Verdict.Blocks() && c.Verdict != Exempt && c.Verdict != NotRun
		if c.Expectation != nil {
			full = !c.Expectation.OK || c.Verdict == Error
		}
		switch {
		case full:
			blocks = append(blocks, c)
		case c.Verdict == Exempt || c.Verdict == NotRun:
			lists[c.Verdict] = append(lists[c.Verdict], c.Name())
		}
	}
	slices.SortStableFunc(blocks, func(a, b *CaseResult) int { return rank(a.Level) - rank(b.Level) })
	return blocks, lists
}

func rank(l Level) int { return slices.Index([]Level{Must, Should, May}, l) }

func (t *Terminal) block(c *CaseResult) {
	t.printf("\n%s %s\n", t.verdict(c.Verdict, 0), cut(oneLine(c.Name()+" "+c.Title), t.width()-len(c.Verdict)-1))
	lines := c.lines()
	logged := slices.ContainsFunc(lines, func(l labelled) bool { _, log := splitLog(l.text); return log != nil })
	for _, l := range lines {
		label := fmt.Sprintf("  %-9s ", l.label)
		switch l.label {
		case "evidence":
			l.text = t.evidence(c)
		case "replay":
			l.text = t.replay(c)
		case "example":
			if !logged {
				t.example(label, c.Example)
			}
			continue
		}
		limit, ok := lineLimit[l.label]
		if !ok {
			t.printf("%s%s\n", label, oneLine(l.text))
			continue
		}
		if less, ok := withLog[l.label]; ok && logged {
			limit = less
		} else if less, ok := withExample[l.label]; ok && len(c.Example) > 0 {
			limit = less
		}
		t.part(label, l.text, limit)
	}
}

// part prints text behind a label, wrapped, within limit lines. A target's log in
// it follows, its first and last lines each on a line of its own, beyond the limit.
func (t *Terminal) part(label, text string, limit int) {
	text, log := splitLog(text)
	lines := wrap(strings.TrimSpace(Visible(text)), t.width()-len(label))
	if len(lines) > limit {
		lines = lines[:limit]
		lines[limit-1] = cut(lines[limit-1]+strings.Repeat(" ", t.width()), t.width()-len(label))
	}
	indent := strings.Repeat(" ", len(label))
	for i, l := range lines {
		if i > 0 {
			label = indent
		}
		t.printf("%s\n", strings.TrimRight(label+l, " "))
	}
	if log == nil {
		return
	}
	t.printf("%s%s\n", indent, logMark)
	for _, l := range shorten(log) {
		t.printf("%s  %s\n", indent, cut(oneLine(l), t.width()-len(indent)-2))
	}
}

// declined prints why cases were declined: one line for each reason, the most
// frequent first.
func (t *Terminal) declined(r *Report) {
	n := map[string]int{}
	for i := range r.Cases {
		if c := &r.Cases[i]; c.Verdict == Declined {
			n[oneLine(cmp.Or(c.Detail, "no reason is given"))]++
		}
	}
	if len(n) == 0 {
		return
	}
	t.printf("\ndeclined, by reason\n")
	reasons := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(n[b]-n[a], strings.Compare(a, b))
	})
	for _, why := range reasons[:min(len(reasons), maxReasons)] {
		t.part(fmt.Sprintf("  %3d  ", n[why]), why, 1)
	}
	if more := len(reasons) - maxReasons; more > 0 {
		t.printf("  and %d more reasons; see %s\n", more, JSONFile)
	}
}

// example prints its lines as they are, each cut where the line ends.
func (t *Terminal) example(label string, lines []string) {
	for _, l := range lines {
		t.printf("%s\n", strings.TrimRight(label+cut(Visible(l), t.width()-len(label)), " "))
		label = strings.Repeat(" ", len(label))
	}
}

// evidence names the first file, with the command that shows it if it is a history,
// and counts the others; what can be replayed has a line of its own.
func (t *Terminal) evidence(c *CaseResult) string {
	s := filepath.Join(t.Dir, c.Evidence[0].File)
	if strings.HasSuffix(s, ".json.gz") {
		s = "routeproof evidence " + s
	}
	more := 0
	for _, e := range c.Evidence[1:] {
		if !strings.HasSuffix(e.File, replayed) {
			more++
		}
	}
	if more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func (t *Terminal) replay(c *CaseResult) string {
	i := slices.IndexFunc(c.Evidence, func(e Evidence) bool { return strings.HasSuffix(e.File, replayed) })
	return replayCommand(filepath.Join(t.Dir, c.Evidence[i].File))
}

func (t *Terminal) profiles(r *Report) {
	if len(r.Profiles) == 0 {
		return
	}
	name := 0
	for _, p := range r.Profiles {
		name = max(name, len(oneLine(p.Name)))
	}
	t.printf("\n")
	for _, p := range r.Profiles {
		t.printf("%-*s  %-13s  %s\n", name, oneLine(p.Name), p.Result, counts(p.Counts))
		switch {
		case p.ranNothing(): // the cases are listed above
		case len(p.Blocking) > 0 && r.Mode == Certify:
			t.part("  ", "blocked by "+list(names(p.Blocking)), 3)
		case len(p.Blocking) > 0: // where nothing is certified, nothing is blocked
			t.part("  ", "not met: "+list(names(p.Blocking)), 3)
		}
		if len(p.Advisory) > 0 && !p.ranNothing() {
			t.part("  ", "not required, not met: "+list(names(p.Advisory)), 3)
		}
		if p.Reason != "" {
			t.part("  ", p.Reason, 3)
		}
	}
}

func (t *Terminal) closing(r *Report) {
	all := map[Verdict]int{}
	for i := range r.Cases {
		all[r.Cases[i].Verdict]++
	}
	t.printf("\n")
	t.part("", fmt.Sprintf("%s of %s %s against specification %s: %s in %s, seed %d", r.Mode,
		oneLine(r.Target.Project), oneLine(r.Target.Version), oneLine(r.Spec.Version), counts(all), r.Duration, r.Seed), 4)
	if s := r.SelfTest; s != nil {
		t.printf("%d of %d mutants killed by %d cases\n", s.Killed, s.Mutants, s.Cases)
		if len(s.Survived) > 0 {
			t.part("  ", "survived: "+list(s.Survived), 6)
		}
	}
	if x := r.Expected; x != nil {
		t.printf("%d differences from %s in %d cases\n", x.Differences, oneLine(x.File), x.Compared)
	}
	t.printf("exit %d: %s\n", r.ExitCode, exitText[r.ExitCode])
}

var exitText = map[int]string{
	ExitOK:          "as required",
	ExitFailure:     "conformance failure, or not as expected",
	ExitTarget:      "the target was unreachable or died",
	ExitHarness:     "the harness failed or could not decide",
	ExitRefused:     "refused to certify, the run was not complete",
	ExitInterrupted: "interrupted",
}

func counts(by map[Verdict]int) string {
	var parts []string
	for _, v := range Verdicts {
		if by[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[v], v))
		}
	}
	if len(parts) == 0 {
		return "no case"
	}
	return strings.Join(parts, ", ")
}

func names(ls []Listed) []string {
	out := make([]string, len(ls))
	for i, l := range ls {
		out[i] = fmt.Sprintf("%s (%s)", l.Case, l.Verdict)
	}
	return out
}

func list(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}
