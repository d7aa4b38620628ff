package affinity

import (
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// AFF020Random: whatever nobody has thought of.
func (Cases) AFF020Random() bench.Case {
	r := bench.Random{Conversations: 150, Steps: 60}
	return bench.Case{
		ID:          "AFF-020/random",
		Stimulus:    "150 conversations of 30 to 60 operations at random on a few sessions, workers and ranks: turns, commits, ends, questions, clients that leave, deaths, full tables, times shortly before, at and after whatever comes due",
		Requirement: "every answer is one that the rules allow after all that came before it; what is not is shown as the smallest conversation that was found",
		Limit:       time.Minute, Cost: 4 * time.Second,
		Talk:  r,
		Judge: judge.Modelled(r.Conversations),
	}
}

// AFF020Batches: the same, much of it in batches.
func (Cases) AFF020Batches() bench.Case {
	r := bench.Random{Conversations: 60, Steps: 80, Batches: true}
	return bench.Case{
		ID:          "AFF-020/batches",
		Stimulus:    "60 conversations of 40 to 80 operations at random, most of them in batches of up to 8 with leases from the same batch, from before it, and of operations that give none or come later",
		Requirement: "every answer is one that the rules allow after all that came before it: a batch is its operations, one after another, of which none waits",
		Limit:       time.Minute, Cost: 2500 * time.Millisecond,
		Talk:  r,
		Judge: judge.Modelled(r.Conversations),
	}
}
