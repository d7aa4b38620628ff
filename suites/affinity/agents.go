package affinity

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// The headers by which agents name their sessions, in order of precedence (clause
// AFF-017). A sub-agent counts beside its session alone.
const (
	canonical     = "X-Dynamo-Session-ID"
	claudeAgent   = "x-claude-code-agent-id"
	claudeSession = "x-claude-code-session-id"
	threadID      = "thread-id"
	sessionID     = "session-id"
	xSessionID    = "x-session-id"
)

// named is a request whose headers name sessions: pairs of header and id. Headers go
// out as they are spelled here.
func named(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
	}
	return h
}

// rule is one way in which the headers of a request may compete. win and lose are
// ids of bound sessions.
type rule struct {
	name   string
	header func(win, lose string) http.Header
}

// competes says whether the loser is named at all.
func (x rule) competes() bool {
	for _, ids := range x.header("win", "lose") {
		if slices.Contains(ids, "lose") {
			return true
		}
	}
	return false
}

func over(winner, loser string) rule {
	return rule{winner + " over " + loser, func(win, lose string) http.Header { return named(loser, lose, winner, win) }}
}

func rules() []rule {
	const agentsToo = "the agent over its session and "
	all := []rule{
		over(canonical, claudeSession), over(canonical, threadID), over(canonical, sessionID), over(canonical, xSessionID),
		over(claudeSession, threadID), over(claudeSession, sessionID), over(claudeSession, xSessionID),
		over(threadID, sessionID), over(threadID, xSessionID), over(sessionID, xSessionID),
		{agentsToo + "the rest", func(win, lose string) http.Header {
			return named(claudeSession, lose, claudeAgent, win, threadID, lose, sessionID, lose, xSessionID, lose)
		}},
		{"the canonical one over an agent", func(win, lose string) http.Header {
			return named(claudeAgent, lose, claudeSession, lose, canonical, win)
		}},
		{"an agent without its session does not count", func(win, lose string) http.Header { return named(claudeAgent, lose, threadID, win) }},
		{"nor one beside a blank session", func(win, lose string) http.Header { return named(claudeAgent, lose, claudeSession, " ", threadID, win) }},
		{"of a repeated header the first value counts", func(win, lose string) http.Header { return named(canonical, win, canonical, lose) }},
		{"a repeated header whose first value is blank counts as absent", func(win, lose string) http.Header {
			return named(canonical, "", canonical, lose, threadID, win)
		}},
	}
	for _, x := range []struct{ what, blank string }{{"empty", ""}, {"not visible ASCII", "s\xe9ance"}} {
		all = append(all,
			rule{"a canonical header that is " + x.what + " counts as absent", func(win, _ string) http.Header { return named(canonical, x.blank, xSessionID, win) }},
			rule{"an agent that is " + x.what + " leaves its session", func(win, _ string) http.Header { return named(claudeAgent, x.blank, claudeSession, win) }})
	}
	return all
}

// sessions is how many sessions show the rule: without a competitor, a turn that
// counts for nobody may be where its session is by chance.
func (x rule) sessions() int {
	if x.competes() {
		return 1
	}
	return 8
}

// AFF017Precedence: requests that name several sessions.
func (Cases) AFF017Precedence() bench.Case {
	all := rules()
	competing := 0
	for _, x := range all {
		if x.competes() {
			competing++
		}
	}
	return bench.Case{
		ID:          "AFF-017/precedence",
		Stimulus:    "for each rule of precedence two sessions that are bound to different workers, then requests whose headers name both",
		Requirement: "they count for the session that the rule says",
		Cost:        300 * time.Millisecond,
		Drive: func(ctx context.Context, r *bench.Run) error {
			n := 0
			bound := func() (id, home string) {
				n++
				id = r.SessionID(n)
				q := bench.Req{Key: r.Key(), Counts: id, Header: named(canonical, id), Phase: "bind", Tokens: 1}
				r.Do(ctx, q)
				return id, r.Served(q.Key)
			}
			for i, x := range all {
				for s := range x.sessions() {
					win, home := bound()
					lose, other := bound()
					for tries := 0; home == other && tries < 20; tries++ {
						lose, other = bound()
					}
					for t, shape := range bench.Shapes() {
						if t%4 == (i+s)%4 {
							r.Do(ctx, bench.Req{Counts: win, Turn: 1 + t, Header: x.header(win, lose), Phase: x.name, Tokens: 1}.In(shape))
						}
					}
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(4*len(all)), judge.Sticks(len(all)), judge.Competed(competing, "bind")),
	}
}

// spelled is one of the ways in which a header's name may be written.
func spelled(name string, way int) string {
	switch way % 4 {
	case 1:
		return strings.ToLower(name)
	case 2:
		return strings.ToUpper(name)
	case 3:
		return http.CanonicalHeaderKey(name)
	}
	return name
}

// agentHeaders are the headers that name a session alone.
func agentHeaders() []string {
	return []string{canonical, claudeSession, threadID, sessionID, xSessionID}
}

// The sessions of AFF-017/each-header, those of sub-agents included, and their turns.
const (
	eachSessions = 6 * 8
	eachTurns    = 4 * eachSessions
)

// AFF017Each: each header by itself.
func (Cases) AFF017Each() bench.Case {
	headers := agentHeaders()
	const each, turns = 8, 4
	return bench.Case{
		ID:          "AFF-017/each-header",
		Stimulus:    "sessions of four turns named by each header alone, in lower case, in capitals, as in the clause and with capital initials, in every shape; a sub-agent beside its session",
		Requirement: "each session's turns are at one worker",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, h := range headers {
				for s := range each {
					id := r.SessionID(each*i + s)
					for t := range turns {
						r.Do(ctx, bench.Req{Counts: id, Turn: t, Header: named(spelled(h, s+t), id), Tokens: 1}.In(bench.Shapes()[(s+3*t)%8]))
						keyless(ctx, r)
					}
				}
			}
			root := r.SessionID(-1)
			for s := range each {
				id := r.SessionID(1000 + s)
				for t := range turns {
					r.Do(ctx, bench.Req{Counts: id, Turn: t, Header: named(spelled(claudeSession, s+t), root, spelled(claudeAgent, t), id), Tokens: 1}.In(bench.Shapes()[(s+3*t)%8]))
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(eachTurns), judge.Sticks(eachSessions), judge.Placed(placed(eachSessions))),
	}
}
