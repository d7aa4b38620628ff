// Package discovery says which workers there are: a Static set is given and replaced
// as a whole; a Follower makes one of the records that workers keep in a Store, by
// Register. Stores are in packages of their own, and so is what they depend on.
package discovery

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Worker is one inference server behind the router.
type Worker struct {
	ID          string   // unique in the set
	URL         string   // scheme://host:port of its OpenAI-compatible API, without a path
	Models      []string // canonical names of the models it serves, at least one
	Incarnation string   // changes with each restart, where it is known; may be empty
	Role        Role     // what it does of a request; "" means Aggregated
	Ranks       int      // data-parallel ranks, 0 to MaxRanks; 0 means unknown, and counts as one
}

// Role is the part of a request that a worker does.
type Role string

// Roles.
const (
	Aggregated Role = "aggregated" // both phases
	Prefill    Role = "prefill"    // computes the prompt's KV blocks and hands them over
	Decode     Role = "decode"     // takes them over and generates; without them it does both phases
)

// MaxRanks is the most data-parallel ranks of one worker.
const MaxRanks = 1024

// Error is a worker set that cannot be used.
type Error struct {
	Index   int    // position of the bad worker in the set
	Field   string // id, url, models, role or ranks
	Value   string
	Problem string // what is wrong, and what to do about it
}

func (e *Error) Error() string {
	return fmt.Sprintf("workers[%d].%s %q: %s", e.Index, e.Field, e.Value, e.Problem)
}

// Validate checks a worker set and returns nil or an *Error. The empty set is
// valid: a fleet may be scaled to nothing.
func Validate(workers []Worker) error {
	seen := make(map[string]int, len(workers))
	for i, w := range workers {
		bad := func(field, value, problem string) error {
			return &Error{Index: i, Field: field, Value: value, Problem: problem}
		}
		if strings.TrimSpace(w.ID) == "" {
			return bad("id", w.ID, "is blank; give every worker a name")
		}
		if first, ok := seen[w.ID]; ok {
			return bad("id", w.ID, fmt.Sprintf("is used by workers[%d] already; ids must be unique", first))
		}
		seen[w.ID] = i
		if problem := checkURL(w.URL); problem != "" {
			return bad("url", w.URL, problem)
		}
		if len(w.Models) == 0 {
			return bad("models", "", "is empty; name at least one model that the worker serves")
		}
		for j, m := range w.Models {
			if strings.TrimSpace(m) == "" {
				return bad("models", m, "holds a blank name; name the model or leave the entry out")
			}
			if slices.Contains(w.Models[:j], m) {
				return bad("models", m, "is listed twice; list each model once")
			}
		}
		switch w.Role {
		case "", Aggregated, Prefill, Decode:
		default:
			return bad("role", string(w.Role), fmt.Sprintf("is unknown; use %s, %s or %s, or leave it out for the first", Aggregated, Prefill, Decode))
		}
		if w.Ranks < 0 || w.Ranks > MaxRanks {
			return bad("ranks", strconv.Itoa(w.Ranks), fmt.Sprintf("is out of range; set the number of data-parallel ranks, at most %d, or 0 if it is unknown", MaxRanks))
		}
	}
	return nil
}

func checkURL(raw string) string {
	const want = "; write it as http://HOST:PORT"
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return "is not a URL" + want
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with http:// or https://" + want
	case u.Hostname() == "":
		return "names no host" + want
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "must not hold credentials, a query or a fragment" + want
	case u.Path != "" && u.Path != "/":
		return "must not hold a path, because requests keep their own" + want
	}
	return ""
}
