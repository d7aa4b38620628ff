// Package pins reads from request headers which worker and which data-parallel
// rank a client asks for by name. It knows names and numbers only: whether there
// is such a worker is for others to say.
package pins

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/routeproof/routeproof/impl/affinity"
)

// Pins is what a client asks for, phase by phase. Workers are named as the
// client names them. A zero target is no wish; none has a rank without a worker.
type Pins struct {
	Serve   affinity.Target // for decode, or for both phases where one worker does them
	Prefill affinity.Target
}

// Headers reads pins from headers:
//
//	phase                 worker                                         rank
//	decode or aggregated  x-dynamo-worker-instance-id                    x-dynamo-dp-rank
//	                      alias x-worker-instance-id                     aliases x-dp-rank, x-data-parallel-rank
//	prefill               x-dynamo-prefill-instance-id                   x-dynamo-prefill-dp-rank
//	                      alias x-prefill-instance-id                    alias x-prefill-dp-rank
//
// The names are those of Dynamo's frontend, where the plain worker header names a
// backend for every phase and the plain rank goes with it into prefill. Here each
// phase reads its own fields alone: the plain worker and the plain rank say nothing of
// prefill, and a prefill rank without a prefill worker is an error, also beside a plain
// worker, and where nothing is prefilled.
//
// Names are case-insensitive. Of a repeated header the first value counts, without
// outer blanks; an empty one counts as absent, and the alias is read. A value that is
// there counts, even if it is wrong and an alias has a good one.
type Headers struct{}

var (
	serveWorker   = []string{"X-Dynamo-Worker-Instance-Id", "X-Worker-Instance-Id"}
	serveRank     = []string{"X-Dynamo-Dp-Rank", "X-Dp-Rank", RankHeader}
	prefillWorker = []string{"X-Dynamo-Prefill-Instance-Id", "X-Prefill-Instance-Id"}
	prefillRank   = []string{"X-Dynamo-Prefill-Dp-Rank", "X-Prefill-Dp-Rank"}
)

// RankHeader is the header that tells a worker which of its ranks is meant; vLLM
// reads it.
const RankHeader = "X-Data-Parallel-Rank"

// Pins returns the request's pins. The error names the header that is wrong: a
// rank that is no number from 0 to 4294967295, or one without a worker.
func (Headers) Pins(h http.Header) (p Pins, err error) {
	if p.Serve, err = read(h, serveWorker, serveRank); err != nil {
		return Pins{}, err
	}
	if p.Prefill, err = read(h, prefillWorker, prefillRank); err != nil {
		return Pins{}, err
	}
	return p, nil
}

// read returns one phase's pin.
func read(h http.Header, worker, rank []string) (t affinity.Target, err error) {
	_, t.Worker = first(h, worker)
	name, value := first(h, rank)
	if value == "" {
		return t, nil
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return t, fmt.Errorf("%s: %.100q is no data-parallel rank: send a whole number from 0, or drop the header", name, value)
	}
	if t.Worker == "" {
		return t, fmt.Errorf("%s: rank %d is asked for without a worker: name it in %s, or drop the rank", name, n, worker[0])
	}
	t.Rank = affinity.RankOf(uint32(n))
	return t, nil
}

// first returns the first of the headers that is there.
func first(h http.Header, names []string) (name, value string) {
	for _, name := range names {
		if values := h[name]; len(values) > 0 {
			if v := strings.Trim(values[0], " \t"); v != "" {
				return name, v
			}
		}
	}
	return "", ""
}

// Strip removes every header that Headers reads: they are meant for the router, and a
// worker that is a router itself must not read them again.
func Strip(h http.Header) {
	for _, names := range [...][]string{serveWorker, serveRank, prefillWorker, prefillRank} {
		for _, name := range names {
			delete(h, name)
		}
	}
}
