package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"github.com/routeproof/routeproof/suites/history"
)

// hopByHop are headers that a proxy owns on each side (RFC 9110, 7.6.1), and
// those that it may legitimately set itself.
var hopByHop = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "te": true, "trailer": true,
	"transfer-encoding": true, "upgrade": true, "content-length": true, "host": true, "date": true, "server": true, "via": true,
	"x-request-id": true, // gateways commonly give their own; the join key travels in the body too
}

// values are a header's, whatever the case of its name.
func values(header map[string][]string, name string) []string {
	for k, v := range header {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return nil
}

// RequestKept requires every attempt of the phases' requests to carry what the
// client sent: path and query, each end-to-end header with its values in order,
// and a body of equal JSON value.
func RequestKept(min int, phases ...string) Judge { return requestKept(true, nil, min, phases) }

// HeadersKept is RequestKept without the body, which is another in each phase of a
// request that is served in two.
func HeadersKept(min int, phases ...string) Judge { return requestKept(false, nil, min, phases) }

// PathKept is HeadersKept of path, query and the named headers alone.
func PathKept(min int, headers []string, phases ...string) Judge {
	return requestKept(false, headers, min, phases)
}

// requestKept looks at the named headers, nil for all.
func requestKept(body bool, headers []string, min int, phases []string) Judge {
	among := func(name string) bool {
		return headers == nil || slices.ContainsFunc(headers, func(h string) bool { return strings.EqualFold(h, name) })
	}
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		judged := 0
		for _, r := range In(h, phases...) {
			for _, a := range at[r.Key] {
				in := " at the worker (" + how(r) + ")"
				if a.Method != "POST" || a.Target != r.Path {
					g.add("POST "+r.Path+in, a.Method+" "+a.Target, r.Key)
				}
				for _, name := range slices.Sorted(maps.Keys(r.SentHeader)) {
					if hopByHop[strings.ToLower(name)] || !among(name) {
						continue
					}
					// A list may be folded into one line (RFC 9110, 5.3); the values and their order may not change.
					want, got := strings.Join(r.SentHeader[name], ", "), strings.Join(values(a.Header, name), ", ")
					if want != got {
						g.add(fmt.Sprintf("header %s: %s%s", name, Redact(name, want), in), fmt.Sprintf("%q", Redact(name, got)), r.Key)
					}
				}
				switch {
				case !body:
				case r.SentBodySHA256 != "" && r.SentBodySHA256 == a.BodySHA256:
				case r.SentBody == nil || a.Body == nil && a.BodyBytes > 0:
					continue // a body that was too large to keep cannot be compared by value
				default:
					if diff := jsonDiff(r.SentBody, a.Body); diff != "" {
						g.add("a body of equal JSON value"+in, diff, r.Key)
					}
				}
				judged++
			}
		}
		return g.orDoubt(judged >= min, "only %d of %d requests could be compared at a worker", judged, min)
	}
}

// ResponseKept requires every client of the phases to have received status,
// end-to-end headers and body bytes as the answering worker sent them. Headers
// may be added.
func ResponseKept(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		judged := 0
		for _, r := range In(h, phases...) {
			a := last(at[r.Key])
			if a == nil || a.Status == 0 || a.SentSHA256 == "" {
				continue // no worker answered, or its note of what it sent is missing: nothing to compare
			}
			judged++
			in := fmt.Sprintf(" at the client (%s, worker's status %d)", how(r), a.Status)
			if r.End != history.Complete || r.Status != a.Status {
				g.add(fmt.Sprintf("status %d%s", a.Status, in), outcome(r), r.Key)
				continue
			}
			if r.BodySHA256 != a.SentSHA256 {
				g.add("the body's bytes as sent"+in, fmt.Sprintf("%d bytes that differ from the %d sent", r.BodyBytes, a.BytesSent), r.Key)
			}
			for _, name := range slices.Sorted(maps.Keys(a.SentHeader)) {
				if hopByHop[strings.ToLower(name)] {
					continue
				}
				if want, got := a.SentHeader[name], values(r.Header, name); !allThere(name, want, got) {
					g.add(fmt.Sprintf("header %s: %s%s", name, shown(name, want), in), shown(name, got), r.Key)
				}
			}
		}
		return g.orDoubt(judged >= min, "only %d of %d answers could be compared", judged, min)
	}
}

// allThere says whether an answer's header has all the values that were sent, in order. Those of a
// list may be folded into one line (RFC 9110, 5.3). Cookies may not, for a date in one
// has a comma; and a proxy may set cookies of its own, and name further headers in Vary.
func allThere(name string, sent, got []string) bool {
	switch strings.ToLower(name) {
	case "set-cookie":
		return within(sent, got)
	case "vary":
		return within(members(sent), members(got))
	}
	if len(sent) == 1 {
		return strings.Join(got, ", ") == sent[0]
	}
	return slices.Equal(members(sent), members(got))
}

// members are those of a list that may be on several lines.
func members(lines []string) []string {
	all := strings.Split(strings.Join(lines, ","), ",")
	for i := range all {
		all[i] = strings.Trim(all[i], " \t")
	}
	return all
}

// within says whether all holds each of some, in their order.
func within(some, all []string) bool {
	for _, v := range all {
		if len(some) > 0 && v == some[0] {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// shown are a header's values for people, and on how many lines they are if not on one.
func shown(name string, lines []string) string {
	text := fmt.Sprintf("%q", Redact(name, strings.Join(lines, ", ")))
	if len(lines) > 1 {
		text += fmt.Sprintf(" on %d lines", len(lines))
	}
	return text
}

// OwnAnswer requires every answer of the phases to hold its own request's key
// and no other's.
func OwnAnswer(phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		known := map[string]bool{}
		for i := range h.Requests {
			known[h.Requests[i].Key] = true
		}
		answered := 0
		for _, r := range In(h, phases...) {
			if !r.OK() || r.Asks {
				continue
			}
			answered++
			own := false
			// Whole words: the key x-1 is not in an answer to x-12.
			for word := range strings.FieldsFuncSeq(string(r.Body), isNoKeyRune) {
				switch {
				case word == r.Key:
					own = true
				case known[word]:
					g.add("the answer to the client's own request ("+how(r)+")", "another request's key", r.Key, word)
				}
			}
			if !own {
				g.add("the answer to the client's own request ("+how(r)+")", "one without its key", r.Key)
			}
		}
		return g.orDoubt(answered > 0, "no request of %v was answered", phases)
	}
}

func isNoKeyRune(c rune) bool {
	return c != '-' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
}

// BodyWhole requires the worker to have received at least as many body bytes as
// the prompt of n bytes needs, with the value that was sent.
func BodyWhole(n int64, phases ...string) Judge { return bodyWhole(true, n, phases) }

// BodyLong is BodyWhole without the value, which is another in each phase of a request
// that is served in two.
func BodyLong(n int64, phases ...string) Judge { return bodyWhole(false, n, phases) }

func bodyWhole(value bool, n int64, phases []string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		reached := 0
		for _, r := range In(h, phases...) {
			a := last(at[r.Key])
			if a == nil {
				continue
			}
			reached++
			switch {
			case a.BodyBytes < n:
				g.add(fmt.Sprintf("a body of at least %d bytes at the worker (%s)", n, how(r)), fmt.Sprintf("%d bytes", a.BodyBytes), r.Key)
			case value && r.SentBodySHA256 != a.BodySHA256 && r.SentValue != a.ValueSHA256:
				g.add("a body of equal JSON value at the worker ("+how(r)+")", "another value", r.Key)
			}
		}
		return g.orDoubt(reached > 0, "no request of %v reached a worker", phases)
	}
}

// Redact hides the values of headers that hold secrets.
func Redact(header, value string) string {
	switch strings.ToLower(header) {
	case "authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key":
		if value != "" {
			return fmt.Sprintf("[%d bytes, not shown]", len(value))
		}
	}
	return value
}

// jsonDiff says where two JSON documents differ in value, or "". Numbers are
// compared exactly, as rationals: 1.0 equals 1, and 2^53+1 differs from 2^53.
func jsonDiff(want, got []byte) string {
	var w, g any
	if err := decode(want, &w); err != nil {
		return "the client's own body is no JSON: " + err.Error()
	}
	if err := decode(got, &g); err != nil {
		return "no JSON: " + err.Error()
	}
	return diff("", w, g)
}

func decode(b []byte, into *any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more follows the value")
	}
	return nil
}

func diff(path string, want, got any) string {
	at := strings.TrimPrefix(path, ".")
	differs := func() string { return cut(fmt.Sprintf("%s: %v instead of %v", at, show(got), show(want)), 200) }
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return differs()
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			v, ok := g[k]
			if !ok {
				return fmt.Sprintf("%s is missing", strings.TrimPrefix(path+"."+k, "."))
			}
			if d := diff(path+"."+k, w[k], v); d != "" {
				return d
			}
		}
		for _, k := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[k]; !ok {
				return fmt.Sprintf("%s was added", strings.TrimPrefix(path+"."+k, "."))
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differs()
		}
		for i := range w {
			if d := diff(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	case json.Number:
		g, ok := got.(json.Number)
		if !ok {
			return differs()
		}
		a, okA := new(big.Rat).SetString(w.String())
		b, okB := new(big.Rat).SetString(g.String())
		if !okA || !okB || a.Cmp(b) != 0 {
			return differs()
		}
		return ""
	default:
		if want != got {
			return differs()
		}
		return ""
	}
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
