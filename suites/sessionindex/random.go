package sessionindex

import (
	"time"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// SPX028Random: whatever nobody has thought of.
func (Cases) SPX028Random() bench.Case {
	r := bench.RandomIndex{Conversations: 100, Steps: 70}
	return bench.Case{
		ID:          "SPX-028/random",
		Stimulus:    "100 conversations of 35 to 70 operations at random on a few sessions, ranks and blocks: chains that fit and that do not, matches, evictions, clears, lives of workers, events applied late, failures, times shortly before, at and after whatever is forgotten, small limits; after each write, everything is asked for",
		Requirement: "every answer is one that the rules allow after all that came before it, and no state contradicts itself; what is not is shown as the smallest conversation that was found",
		Claims:      []string{bench.SessionIndexClaim},
		Limit:       time.Minute, Cost: 1500 * time.Millisecond,
		Talk:  r,
		Judge: judge.IndexModelled(r.Conversations),
	}
}
