package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// How much of a run the summary prints; the rest is in report.json.
const (
	maxBlocks = 20 // cases shown in full
	maxListed = 12 // names in a list
)

// lineLimit is how many lines a part of a failed case may take, so that the
// whole fits a screen of 24. Parts not named here take one line, are never
// wrapped or cut, and so can be copied.
var lineLimit = map[string]int{"clause": 3, "wanted": 2, "expected": 4, "observed": 6, "detail": 3, "requests": 2}

// withLog is the same for parts that give way to a target's log.
var withLog = map[string]int{"expected": 2, "observed": 2, "clause": 2}

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
		if l.label == "evidence" {
			l.text = t.evidence(c)
		}
		label := fmt.Sprintf("  %-9s ", l.label)
		limit, ok := lineLimit[l.label]
		if !ok {
			t.printf("%s%s\n", label, oneLine(l.text))
			continue
		}
		if less, ok := withLog[l.label]; ok && logged {
			limit = less
		}
		t.part(label, l.text, limit)
	}
}

// part prints text behind a label, wrapped, within limit lines. A target's log in
// it follows, its last lines each on a line of its own, beyond the limit.
func (t *Terminal) part(label, text string, limit int) {
	text, log := splitLog(text)
	lines := wrap(strings.TrimSpace(visible(text)), t.width()-len(label))
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
	for _, l := range log[max(0, len(log)-logShown):] {
		t.printf("%s  %s\n", indent, cut(oneLine(l), t.width()-len(indent)-2))
	}
}

func (t *Terminal) evidence(c *CaseResult) string {
	s := filepath.Join(t.Dir, c.Evidence[0].File)
	if n := len(c.Evidence) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
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
		if len(p.Blocking) > 0 {
			t.part("  ", "blocked by "+list(names(p.Blocking)), 3)
		}
		if len(p.Advisory) > 0 {
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
