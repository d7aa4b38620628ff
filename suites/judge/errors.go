package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/history"
)

// RouterError requires every request of the phases to have been answered with the
// status and an OpenAI error object as JSON: {"error": {"message", "type", "code"}},
// the first two of them text that is not empty, the last as given. A 503 says in
// Retry-After when to come back. At least min requests must have been sent.
func RouterError(min, status int, code string, phases ...string) Judge {
	return RouterErrors(min, map[int]string{status: code}, phases...)
}

// RouterErrors is RouterError where there is more than one right answer: any status of
// codes, with its code.
func RouterErrors(min int, codes map[int]string, phases ...string) Judge {
	want := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(codes))), "[]")), " or ")
	return func(h *history.History) Finding {
		var g group
		rs := In(h, phases...)
		for _, r := range rs {
			where := fmt.Sprintf(" (%s, %s)", phaseName(r), how(r))
			code, right := codes[r.Status]
			switch {
			case r.End != history.Complete || !right:
				g.add(fmt.Sprintf("status %s%s", want, where), outcome(r), r.Key)
				continue
			case r.Status == 503 && strings.Join(values(r.Header, "Retry-After"), "") == "":
				g.add("a 503 with Retry-After"+where, "one without", r.Key)
			}
			if kind := strings.Join(values(r.Header, "Content-Type"), ", "); !isJSON(kind) {
				g.add("an error as application/json"+where, fmt.Sprintf("Content-Type %.80q", kind), r.Key)
			}
			if wrong := notErrorObject(r.Body, code); wrong != "" {
				g.add(fmt.Sprintf(`an error object {"error": {"message": TEXT, "type": TEXT, "code": %q}}%s`, code, where), wrong, r.Key)
			}
		}
		return g.orDoubt(len(rs) >= min, "only %d of at least %d requests of %v were sent", len(rs), min, phases)
	}
}

// WhoReached lets j judge the requests that reached a worker alone, or those alone that
// reached none.
func WhoReached(any bool, j Judge) Judge {
	return func(h *history.History) Finding {
		at, part := attempts(h), *h
		part.Requests = nil
		for _, r := range h.Requests {
			if (len(at[r.Key]) > 0) == any {
				part.Requests = append(part.Requests, r)
			}
		}
		return j(&part)
	}
}

// isJSON says whether a content type is JSON, whatever its parameters.
func isJSON(kind string) bool {
	media, _, _ := strings.Cut(kind, ";")
	return strings.EqualFold(strings.TrimSpace(media), "application/json")
}

// notErrorObject says what keeps a body from being an error object with the code, or
// nothing. Names of members are compared to the letter, which encoding/json does for
// maps alone.
func notErrorObject(body []byte, code string) string {
	var whole, e map[string]json.RawMessage
	if json.Unmarshal(body, &whole) != nil || json.Unmarshal(whole["error"], &e) != nil || e == nil {
		return fmt.Sprintf("%.120q", body)
	}
	for _, name := range []string{"message", "type"} {
		if text(e[name]) == "" {
			return fmt.Sprintf("%s %.80s", name, orAbsent(e[name]))
		}
	}
	if text(e["code"]) != code {
		return fmt.Sprintf("code %.80s", orAbsent(e["code"]))
	}
	return ""
}

// text is a JSON string's value; anything else is "".
func text(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func orAbsent(raw json.RawMessage) string {
	if raw == nil {
		return "absent"
	}
	return string(raw)
}

// Unavailable requires every request of the phases to have been answered with a 5xx
// within max, and to have reached no worker. At least min must have been sent.
func Unavailable(min int, max time.Duration, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		rs := In(h, phases...)
		for _, r := range rs {
			where := fmt.Sprintf(" (%s, %s)", phaseName(r), how(r))
			switch {
			case r.End != history.Complete || r.Status/100 != 5:
				g.add(fmt.Sprintf("a 5xx answer within %v%s", max, where), outcome(r), r.Key)
			case r.Ended-r.Sent > max:
				g.add(fmt.Sprintf("a 5xx answer within %v%s", max, where), "one that took longer", r.Key)
			}
			if n := len(at[r.Key]); n > 0 {
				g.add("no dispatch"+where, fmt.Sprintf("%d dispatches to %s", n, servedBy(at[r.Key])), r.Key)
			}
		}
		return g.orDoubt(len(rs) >= min, "only %d of at least %d requests of %v were sent", len(rs), min, phases)
	}
}
