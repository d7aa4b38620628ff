package timeline

import (
	"fmt"
	"slices"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

// How much an example shows: with its first line eight lines, so that a failed case
// stays on a screen.
const (
	maxTurns  = 7 // requests of a session
	maxAlone  = 3 // requests that belong to no session
	phaseRoom = 20
)

// Example shows a finding by its first violation: the requests of the session of the
// first request that it names or, where that one has none, the requests that it names.
// It is empty where the violation names no request of the history. The first line says
// what is shown of how much.
func Example(h *history.History, f judge.Finding) []string {
	if h == nil || len(f.Violations) == 0 {
		return nil
	}
	v := look(h)
	named := map[string]bool{}
	for _, k := range f.Violations[0].Keys {
		named[k] = true
	}
	var first *history.Request
	var guilty []*history.Request
	sessions := map[string]bool{}
	for i := range h.Requests {
		if r := &h.Requests[i]; named[r.Key] {
			guilty = append(guilty, r)
			sessions[r.Session] = true
			if r.Key == f.Violations[0].Keys[0] {
				first = r
			}
		}
	}
	if len(guilty) == 0 {
		return nil
	}
	if first == nil { // the first key is one of the ledger's alone
		first = guilty[0]
	}
	if first.Session == "" {
		shown := guilty[:min(len(guilty), maxAlone)]
		out := v.rows(shown)
		if len(shown) < len(guilty) {
			out = append([]string{fmt.Sprintf("the first %d of %d requests that show it", len(shown), len(guilty))}, out...)
		}
		return out
	}
	var turns []*history.Request
	for i := range h.Requests {
		if r := &h.Requests[i]; r.Session == first.Session {
			turns = append(turns, r)
		}
	}
	shown := v.choose(turns, first, named)
	head := fmt.Sprintf("session %s: ", line(first.Session, 40))
	if len(shown) < len(turns) {
		head += fmt.Sprintf("%d of its ", len(shown))
	}
	head += fmt.Sprintf("%d requests", len(turns))
	if len(turns) == 1 {
		head = head[:len(head)-1]
	}
	if n := len(sessions); n > 1 {
		head += fmt.Sprintf("; the first of %d sessions", n)
	}
	return append([]string{head}, v.rows(shown)...)
}

// choose picks the requests of a session that tell most: the one that is named first,
// the one that was elsewhere before it, the session's first, those around a change of
// worker, the others that are named, and then as many more as there is room for.
func (v *view) choose(turns []*history.Request, first *history.Request, named map[string]bool) []*history.Request {
	picked := map[int]bool{}
	pick := func(i int) {
		if len(picked) < maxTurns {
			picked[i] = true
		}
	}
	last := func(i int) string {
		if as := v.tried[turns[i].Key]; len(as) > 0 {
			return as[len(as)-1].Worker
		}
		return ""
	}
	here := slices.Index(turns, first)
	pick(here)
	for i := here - 1; i >= 0; i-- {
		if w := last(i); w != "" && w != last(here) {
			pick(i)
			break
		}
	}
	pick(0)
	for i := 1; i < len(turns); i++ {
		if last(i) != last(i-1) {
			pick(i - 1)
			pick(i)
		}
	}
	for i, r := range turns {
		if named[r.Key] {
			pick(i)
		}
	}
	for i := range turns {
		pick(i)
	}
	var out []*history.Request
	for i, r := range turns {
		if picked[i] {
			out = append(out, r)
		}
	}
	return out
}

// rows are requests as lines: key, phase, when it was sent and ended, how, and at which workers.
func (v *view) rows(rs []*history.Request) []string {
	var rows [][]string
	for _, r := range rs {
		rows = append(rows, []string{r.Key, line(phase(r), phaseRoom), v.span(r.Sent, r.Ended) + " s", ended(r), line(v.workers(r.Key), 200)})
	}
	return table(rows)
}
