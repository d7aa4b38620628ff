package worker

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/mockers/openai"
)

// rankHeader names the data-parallel rank that a request is for. Header names
// have no case; this is how net/http writes it.
const rankHeader = "X-Data-Parallel-Rank"

// hearRank records what the header says, whatever becomes of the request.
func hearRank(h http.Header, a *ledger.Attempt) {
	a.Rank = ledger.NoRank
	if values := h[rankHeader]; len(values) > 0 {
		a.HasRank, a.RankAsked = true, values[0]
	}
}

// takeRank gives an acceptable request to one of the worker's ranks, or refuses
// it. vLLM refuses a rank out of range, and takes what is no number for no rank
// at all; here that is refused too, so that no router can be wrong unseen.
func (x *exchange) takeRank(a *ledger.Attempt) {
	ranks := x.w.shape.Ranks
	switch {
	case ranks == 0 && a.HasRank:
		a.RankChoice = ledger.RankIgnored
	case ranks == 0:
	case !a.HasRank:
		x.rank, a.RankChoice = x.life.nextRank(), ledger.RankEngine
	default:
		n, err := strconv.ParseUint(a.RankAsked, 10, 31)
		if err != nil || int(n) >= ranks {
			a.RankChoice = ledger.RankRefused
			x.refusal = &openai.Error{Status: http.StatusBadRequest, Param: "data_parallel_rank",
				Message: fmt.Sprintf("header X-data-parallel-rank is %q; this worker has ranks 0 to %d: send one of them, or no such header", a.RankAsked, ranks-1)}
			return
		}
		x.rank, a.RankChoice = int(n), ledger.RankRequested
	}
	a.Rank = x.rank
}
