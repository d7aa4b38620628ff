package suites

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
)

func clean(f judge.Finding) bool { return len(f.Violations) == 0 && f.Inconclusive == "" }

// declarations are the ways in which a manifest may declare its sessions: a
// case may judge differently by each.
func declarations() []history.Session {
	return []history.Session{
		{Kind: "table", IdleTTL: time.Second, Capacity: 8, AtCapacity: "refuse"},
		{Kind: "table", IdleTTL: time.Second, Capacity: 8, AtCapacity: "unpinned"},
		{Kind: "table", IdleTTL: time.Second, Capacity: 8, AtCapacity: "evict"},
		{Kind: "table", IdleTTL: time.Second, Capacity: 8, AtCapacity: "refuse", Final: "release"},
		{Kind: "hash"},
		{Kind: "none"},
	}
}

func loaded(t *testing.T) *Catalogue {
	t.Helper()
	cat, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func TestNoCasePassesOnAnEmptyHistory(t *testing.T) {
	for _, c := range loaded(t).Cases {
		for _, s := range append(declarations(), history.Session{}, history.Session{Kind: "table", IdleTTL: time.Second, Capacity: 1, AtCapacity: "evict"}) {
			if clean(c.Judge(&history.History{Case: c.ID, Session: s})) {
				t.Errorf("%s passes on a history in which nothing happened (session %+v)", c.ID, s)
			}
		}
	}
}

// failure is one way in which every request of a history fails.
type failure struct {
	name    string
	reached bool // workers had it, and broke off
	end     history.End
	status  int
}

var failures = []failure{
	{"cannot connect", false, history.Failed, 0},
	{"is answered 400", false, history.Complete, 400},
	{"is answered 404", false, history.Complete, 404},
	{"is answered 429", false, history.Complete, 429},
	{"is answered 500", false, history.Complete, 500},
	{"is answered 502", false, history.Complete, 502},
	{"is answered 503", false, history.Complete, 503},
	{"gets no answer in time", false, history.Timeout, 0},
	{"gets half an answer", false, history.Truncated, 200},
	{"gets something that is not HTTP", false, history.Malformed, 0},
	{"is cut off for its length", false, history.Oversize, 200},
	{"leaves", false, history.Cancelled, 0},
	{"is answered 502 after its worker broke off", true, history.Complete, 502},
	{"is cut off after its worker broke off", true, history.Failed, 0},
	{"gets no answer in time from a worker that broke off", true, history.Timeout, 0},
}

// sound lists what a case demands of a client's failure, so that it may pass.
var sound = map[string][]string{
	"RES-001/bounded": {"is answered 502 after its worker broke off", "is cut off after its worker broke off"},
	"PDS-004/bounded": {"is answered 502 after its worker broke off", "is cut off after its worker broke off"},
}

func TestNoCasePassesWhenEveryClientFails(t *testing.T) {
	cases := 0
	for _, family := range families {
		words := literals(t, family)
		for _, c := range methods[bench.Case](family) {
			cases++
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				for _, s := range declarations() {
					phases, n := phasesOf(c, s, words)
					for _, f := range failures {
						got, want := clean(c.Judge(allFail(f, s, phases, n))), slices.Contains(sound[c.ID], f.name)
						if got && !want {
							t.Errorf("passes although every request %s (phases %q, session %+v)", f.name, phases, s)
						}
						if !got && want {
							t.Errorf("is listed as sound where every request %s, and does not pass; take it off the list", f.name)
						}
					}
				}
			})
		}
	}
	cat := loaded(t)
	if cases != len(cat.Cases) {
		t.Errorf("judged %d cases of %d", cases, len(cat.Cases))
	}
	for id := range sound {
		if _, ok := cat.Case(id); !ok {
			t.Errorf("%s is listed as sound and is no case", id)
		}
	}
}

// phasesOf finds which of the words are phases that the case's judge looks at:
// those whose requests change what it finds. One judge's doubt may hide the
// next one's, so it asks again until no word changes anything. The number is how
// many requests of each phase are enough to prove that something was sent; a few are
// enough to see that a judge looks at them.
func phasesOf(c bench.Case, s history.Session, words []string) (phases []string, each int) {
	const one, of, few = 96, 16, 8 // of one phase, of each where all phases count, to ask with
	found := func(p []string) string { return fmt.Sprintf("%+v", c.Judge(allFail(failures[0], s, p, few))) }
	if found(nil) != found([]string{"no case names this phase"}) {
		return words, of // it looks at every phase
	}
	for now, grown := found(nil), true; grown; {
		grown = false
		for _, w := range words {
			if slices.Contains(phases, w) {
				continue
			}
			if then := found(append(phases, w)); then != now {
				phases, now, grown = append(phases, w), then, true
			}
		}
	}
	return phases, one
}

// allFail is a history in which every phase was driven with n requests, in every
// shape, keyless and in sessions, and everything failed. Every phase is a mark's
// text, too.
func allFail(f failure, session history.Session, phases []string, n int) *history.History {
	h := &history.History{Workers: []string{"w0", "w1", "w2", "w3"}, Convergence: time.Second, Session: session,
		Requests: make([]history.Request, 0, n*len(phases))}
	now := time.Duration(0)
	for _, what := range []string{"fault", "crash", "join", "leave", "restart", "apply"} {
		h.Marks = append(h.Marks, history.Mark{At: now, What: what, Worker: "w0"})
	}
	shapes := bench.Shapes()
	for _, phase := range phases {
		h.Marks = append(h.Marks, history.Mark{At: now, What: "note", Worker: "w0", Text: phase})
		for i := range n {
			now += 10 * time.Millisecond
			s := shapes[i%len(shapes)]
			r := history.Request{
				Key: "k-" + strconv.Itoa(len(h.Requests)), Turn: i / 4, Phase: phase, Endpoint: s.Endpoint, Stream: s.Stream, Kept: s.Kept,
				Sent: now, HeadersAt: history.Unset, Ended: now + 5*time.Millisecond, Status: f.status, End: f.end,
			}
			if i%4 < 2 {
				r.Session = "s-" + strconv.Itoa(i)
			}
			if f.status != 0 {
				r.HeadersAt = now + 4*time.Millisecond
			}
			if f.end == history.Timeout {
				r.Ended = now + 10*time.Second
			}
			if f.reached {
				h.Attempts = append(h.Attempts, ledger.Attempt{
					Seq: len(h.Attempts), Key: r.Key, Worker: h.Workers[i/8%4], Incarnation: 1, Method: "POST", Arrived: now + time.Millisecond,
					HeadersAt: ledger.Unset, AbortSeen: ledger.Unset, Ended: now + 2*time.Millisecond, End: ledger.Reset,
				})
			}
			h.Requests = append(h.Requests, r)
		}
	}
	return h
}

// literals are the short texts in a case family's sources: whatever phases its
// cases name are among them.
func literals(t *testing.T, family any) []string {
	t.Helper()
	dir, _, _ := strings.Cut(fmt.Sprintf("%T", family), ".") // affinity.Cases
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of the family %T in %s: %v", family, dir, err)
	}
	seen := map[string]bool{"": true}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if _, ok := n.(*ast.ImportSpec); ok {
				return false
			}
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && len(s) <= 32 {
					seen[s] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(seen))
}
