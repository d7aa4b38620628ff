package routing

import (
	"context"
	"net/http"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/judge"
)

// RTE004Encodings: clients that would take another encoding than the worker's.
func (Cases) RTE004Encodings() bench.Case {
	tokens := []int{4, 1500} // compression commonly spares small answers
	n := len(tokens) * len(bench.Shapes())
	return bench.Case{
		ID:          "RTE-004/encodings",
		Stimulus:    "short and long answers, which the worker does not compress, to clients that accept gzip and others, keyless and in new sessions, in every shape",
		Requirement: "the client has the worker's status, headers and body bytes",
		Drive: func(ctx context.Context, r *bench.Run) error {
			for i, s := range bench.Shapes() {
				for j, size := range tokens {
					q := bench.Req{Tokens: size, Phase: "accepts", Header: http.Header{"Accept-Encoding": {[]string{"gzip", "gzip, deflate, br, zstd"}[i/4]}}}.In(s)
					if (i+j)%2 == 1 {
						q.Session = r.SessionID(i)
					}
					r.Do(ctx, q)
				}
			}
			return nil
		},
		Judge: judge.All(judge.Served(n, "accepts"), judge.ResponseKept(n, "accepts")),
	}
}
