package timeline

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/near"
)

// How much of a text is printed.
const (
	textRoom = 1000 // of a body
	lineRoom = 200
	maxShown = 16 // events of one stream
)

// UnknownError is a name that is neither a key nor a session of the history.
type UnknownError struct{ text string }

func (e *UnknownError) Error() string { return e.text }

// entry is one thing that happened.
type entry struct {
	at    time.Duration
	cells []string
	more  []string // lines below it
}

// Print writes a history in order of time. With names, keys of requests or ids of
// sessions, it writes these alone, with what was sent and answered. A name that the
// history does not hold is an *UnknownError, before anything is written.
func Print(w io.Writer, h *history.History, names ...string) error {
	v := look(h)
	keys, err := v.wanted(names)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	v.head(out)
	if len(names) == 0 {
		v.conversations(out)
	}
	if len(h.Requests)+len(h.Attempts)+len(h.Marks)+len(h.Stalls) > 0 {
		fmt.Fprintf(out, "times are seconds since the first entry, from begin to end\n\n")
		v.print(out, v.entries(keys))
	}
	return out.Flush()
}

// wanted are the keys that names stand for; nil without names.
func (v *view) wanted(names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	known := map[string][]string{} // keys by name
	for i := range v.Requests {
		r := &v.Requests[i]
		known[r.Key] = append(known[r.Key], r.Key)
		if r.Session != "" {
			known[r.Session] = append(known[r.Session], r.Key)
		}
	}
	for k := range v.tried {
		known[k] = append(known[k], k)
	}
	keys := map[string]bool{}
	for _, name := range names {
		all, ok := known[name]
		switch {
		case len(known) == 0:
			return nil, &UnknownError{fmt.Sprintf("the evidence of %s holds no requests, so there is no %q in it; leave it out", v.Case, name)}
		case !ok:
			return nil, &UnknownError{fmt.Sprintf("%q is no request and no session of %s; near: %s", name, v.Case, near.List(slices.Sorted(maps.Keys(known)), name))}
		}
		for _, k := range all {
			keys[k] = true
		}
	}
	return keys, nil
}

// head says what the history is of.
func (v *view) head(out io.Writer) {
	fmt.Fprintf(out, "%s, seed %d\n", line(v.Case, lineRoom), v.Seed)
	for _, w := range v.Fleet {
		text := fmt.Sprintf("worker %s, %s", w.ID, cmp.Or(w.Role, "aggregated"))
		if w.Ranks > 0 {
			text += fmt.Sprintf(", %d ranks", w.Ranks)
		}
		fmt.Fprintf(out, "  %s, model %s\n", text, line(w.Model, lineRoom))
	}
	if s := v.Session; s.Kind != "" {
		fmt.Fprintf(out, "  sessions: %s, idle time %v, capacity %d\n", s.Kind, s.IdleTTL, s.Capacity)
	}
	if v.Dropped > 0 {
		fmt.Fprintf(out, "  the kernel dropped %d packets\n", v.Dropped)
	}
	if v.Foreign > 0 {
		fmt.Fprintf(out, "  %d attempts carried no key of this case and are left out\n", v.Foreign)
	}
	if n := len(v.Requests); n > 0 {
		fmt.Fprintf(out, "  %d requests, %d attempts, %d marks, %d stalls\n", n, len(v.Attempts), len(v.Marks), len(v.Stalls))
	}
}

// entries are what happened to the keys or, for nil, everything.
func (v *view) entries(keys map[string]bool) []entry {
	var all []entry
	for i := range v.Requests {
		r := &v.Requests[i]
		if keys != nil && !keys[r.Key] {
			continue
		}
		e := entry{at: r.Sent, cells: []string{v.span(r.Sent, r.Ended), "request", r.Key, told(r)}}
		if keys != nil {
			e.more = v.exchange(r)
		}
		all = append(all, e)
	}
	for i := range v.Attempts {
		a := &v.Attempts[i]
		if keys != nil && !keys[a.Key] {
			continue
		}
		text := "at " + at(a)
		if a.Fault != "" {
			text += ", fault " + a.Fault
		}
		if a.AbortSeen != ledger.Unset {
			text += ", saw its client leave at " + v.seconds(a.AbortSeen)
		}
		e := entry{at: a.Arrived, cells: []string{v.span(a.Arrived, a.Ended), "attempt", line(a.Key, lineRoom), line(text, lineRoom)}}
		if keys != nil {
			e.more = v.dispatch(a)
		}
		all = append(all, e)
	}
	if keys == nil {
		for _, m := range v.Marks {
			all = append(all, entry{at: m.At, cells: []string{v.seconds(m.At), "mark", line(m.What+" "+m.Worker, lineRoom), line(m.Text, lineRoom)}})
		}
		for _, s := range v.Stalls {
			all = append(all, entry{at: s.At, cells: []string{v.span(s.At, s.At+s.For), "stall", "", "the harness itself stood still"}})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	return all
}

// told is a request in one line.
func told(r *history.Request) string {
	words := []string{cmp.Or(ended(r), "no answer") + ":", r.Endpoint}
	for _, w := range []struct {
		is   bool
		word string
	}{{r.Stream, "streamed"}, {r.Kept, "kept-alive"}, {r.Chunked, "chunked"}, {r.Resent, "sent twice"}, {r.Asks, "a query"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	if r.Session != "" {
		words = append(words, fmt.Sprintf("session %s turn %d", r.Session, r.Turn))
	}
	if r.Pin != nil {
		words = append(words, "pinned to "+r.Pin.String())
	}
	if r.PrefillPin != nil {
		words = append(words, "prefill pinned to "+r.PrefillPin.String())
	}
	text := strings.Join(words, " ") + ", phase " + phase(r)
	if r.Err != "" {
		text += " (" + r.Err + ")"
	}
	return line(text, lineRoom)
}

// exchange is what a client sent and was answered.
func (v *view) exchange(r *history.Request) (out []string) {
	out = append(out, "sent POST "+line(r.Path, lineRoom))
	out = append(out, header("sent", r.SentHeader)...)
	out = append(out, body("sent", r.SentBody, r.SentBodyBytes))
	if r.Status != 0 {
		out = append(out, fmt.Sprintf("answered %d at %s", r.Status, v.seconds(r.HeadersAt)))
	}
	out = append(out, header("answered", r.Header)...)
	if r.Status != 0 {
		out = append(out, body("answered", r.Body, r.BodyBytes))
	}
	for i, e := range r.Events[:min(len(r.Events), maxShown)] {
		out = append(out, fmt.Sprintf("event %d at %s %s", i, v.seconds(e.At), line(e.Data, lineRoom)))
	}
	return append(out, beyond(len(r.Events))...)
}

// dispatch is what a worker got and answered.
func (v *view) dispatch(a *ledger.Attempt) (out []string) {
	out = append(out, "received "+line(a.Method+" "+a.Target+" "+a.Proto, lineRoom))
	out = append(out, header("received", a.Header)...)
	out = append(out, body("received", a.Body, a.BodyBytes))
	if a.Status != 0 {
		out = append(out, fmt.Sprintf("answered %d at %s, %d bytes", a.Status, v.seconds(a.HeadersAt), a.BytesSent))
	}
	for i, at := range a.Events[:min(len(a.Events), maxShown)] {
		out = append(out, fmt.Sprintf("wrote event %d at %s", i, v.seconds(at)))
	}
	return append(out, beyond(len(a.Events))...)
}

func beyond(events int) []string {
	if events <= maxShown {
		return nil
	}
	return []string{fmt.Sprintf("and %d more events", events-maxShown)}
}

func header(who string, h map[string][]string) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out = append(out, who+" "+line(name+": "+value, lineRoom))
		}
	}
	return out
}

// body is a body as text, which may have been too long to be kept.
func body(who string, b []byte, size int64) string {
	text := line(string(b), textRoom)
	if kept := int64(len(b)); kept < size {
		text += fmt.Sprintf(" (%d of %d bytes are kept)", kept, size)
	}
	return fmt.Sprintf("%s body %s", who, text)
}

// print writes entries, lined up, with what stands below each.
func (v *view) print(out io.Writer, all []entry) {
	rows := make([][]string, len(all))
	for i, e := range all {
		rows[i] = e.cells
	}
	for i, l := range table(rows) {
		fmt.Fprintln(out, l)
		for _, m := range all[i].more {
			fmt.Fprintln(out, "      "+m)
		}
	}
}
