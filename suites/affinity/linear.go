package affinity

import (
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

var living = []string{"w1", "w2", "w3"}

func crowded(id, stimulus string, c bench.Crowd) bench.Case {
	c.Workers = living
	return bench.Case{
		ID:          id,
		Stimulus:    stimulus,
		Requirement: "for each session some order of the operations explains what every caller saw",
		Claims:      []string{bench.ComponentClaim},
		Limit:       2 * time.Minute, Cost: 2 * time.Second,
		Talk:  c,
		Judge: judge.Linear(living, c.Ops()/2),
	}
}

// AFF019Linear: many callers, few sessions.
func (Cases) AFF019Linear() bench.Case {
	return crowded("AFF-019/linearizable", "ten callers at each of ten sessions, 24 turns each, that acquire, commit, fail, leave while they wait, pin, ask, and end their leases twice",
		bench.Crowd{Callers: 10, Sessions: 10, Turns: 24})
}

// AFF019Deaths: the same, while workers come and go.
func (Cases) AFF019Deaths() bench.Case {
	return crowded("AFF-019/deaths", "eight callers at each of ten sessions, 24 turns each, while workers leave and come back",
		bench.Crowd{Callers: 8, Sessions: 10, Turns: 24, Deaths: true})
}
