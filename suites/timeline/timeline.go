// Package timeline tells the evidence of a case to people: one session in a few
// lines, or all of it in order of time. It judges nothing. Text that a router or an
// adapter sent is made safe for a terminal on the way.
package timeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/report"
)

// view is a history with what is asked of it again and again.
type view struct {
	*history.History
	origin time.Duration // of the first thing that happened: times are told since then
	tried  map[string][]*ledger.Attempt
}

func look(h *history.History) *view {
	v := &view{History: h, origin: history.Unset, tried: map[string][]*ledger.Attempt{}}
	first := func(at time.Duration) {
		if at >= 0 && (v.origin == history.Unset || at < v.origin) {
			v.origin = at
		}
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		v.tried[a.Key] = append(v.tried[a.Key], a)
		first(a.Arrived)
	}
	for i := range h.Requests {
		first(h.Requests[i].Sent)
	}
	for _, m := range h.Marks {
		first(m.At)
	}
	v.origin = max(v.origin, 0)
	return v
}

func (v *view) seconds(at time.Duration) string {
	if at == history.Unset {
		return "?"
	}
	return fmt.Sprintf("%.3f", (at - v.origin).Seconds())
}

// span is a time from one moment to another.
func (v *view) span(from, to time.Duration) string { return v.seconds(from) + "-" + v.seconds(to) }

// ended says how a request ended, as its client saw it.
func ended(r *history.Request) string {
	var words []string
	if r.Status != 0 {
		words = append(words, fmt.Sprint(r.Status))
	}
	switch {
	case r.End != history.Complete:
		words = append(words, string(r.End))
		if r.Stream {
			words = append(words, fmt.Sprintf("after %d events", len(r.Events)))
		}
	case r.Stream && r.Status/100 == 2 && !r.Done:
		words = append(words, "without [DONE]")
	}
	return strings.Join(words, " ")
}

// at says where an attempt was, and how it ended unless that is an ordinary 200.
func at(a *ledger.Attempt) string {
	s := a.Worker
	if a.Role == history.Prefill || a.Role == history.Decode {
		s = a.Role + " " + s
	}
	if a.Incarnation > 1 {
		s += fmt.Sprintf(" (life %d)", a.Incarnation)
	}
	if a.Ranks > 0 && a.Rank != ledger.NoRank {
		s += fmt.Sprintf(" rank %d", a.Rank)
	}
	if a.Status != 0 && a.Status != 200 {
		s += fmt.Sprintf(" %d", a.Status)
	}
	if a.End != ledger.Complete {
		s += " " + string(a.End)
	}
	return s
}

// workers lists where a request was tried, in order of arrival.
func (v *view) workers(key string) string {
	var all []string
	for _, a := range v.tried[key] {
		all = append(all, at(a))
	}
	return cmp.Or(strings.Join(all, ", "), "no worker")
}

// phase is the case's name for the moment in which a request was sent.
func phase(r *history.Request) string { return cmp.Or(r.Phase, "main") }

// table lines up the cells of rows in columns.
func table(rows [][]string) []string {
	var width []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for j, c := range row {
			fmt.Fprintf(&b, "%s%s  ", c, strings.Repeat(" ", width[j]-utf8.RuneCountInString(c)))
		}
		out[i] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// line is text on one line, at most n runes of it.
func line(s string, n int) string {
	s = strings.Join(strings.Fields(report.Visible(s)), " ")
	if r := []rune(s); len(r) > n {
		return fmt.Sprintf("%s… (%d more)", string(r[:n]), len(r)-n)
	}
	return s
}
