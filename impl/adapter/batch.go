package adapter

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// part is one operation of a batch.
type part struct {
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

// batched is the answer to a batch.
type batched struct {
	Answers []outcome `json:"answers"`
	NS      int64     `json:"ns"`    // spent on the operations
	Steps   uint64    `json:"steps"` // what the libraries have visited meanwhile
}

// batch runs operations of libraries one after another and measures them alone: their
// args are read before.
func (s *server) batch(args json.RawMessage) (action, error) {
	a, err := decode[struct {
		Ops []part `json:"ops"`
	}](args)
	if err != nil {
		return nil, err
	}
	if len(a.Ops) == 0 {
		return nil, failf(invalidArgument, "ops is empty")
	}
	actions := make([]action, len(a.Ops))
	known := calls()
	for n, p := range a.Ops {
		actions[n] = s.prepare(known, p)
	}
	return func(c caller) (any, error) {
		answers := make([]outcome, len(actions))
		lease := func(index int) (string, error) {
			if index >= 0 && index < len(answers) {
				if got, ok := answers[index].OK.(acquired); ok && got.Lease != "" {
					return got.Lease, nil
				}
			}
			return "", failf(invalidArgument, "operation %d of the batch has given no lease", index)
		}
		steps := s.steps()
		began := time.Now()
		hasty, leave := impatient(c.ctx)
		for n, do := range actions {
			answers[n] = result(do(caller{ctx: hasty, lease: lease}))
			if hasty.Err() != nil {
				hasty, leave = impatient(c.ctx)
			}
		}
		spent := time.Since(began)
		leave()
		return batched{answers, spent.Nanoseconds(), steps()}, nil
	}, nil
}

// prepare reads the args of one operation. What is wrong with them is its answer.
func (s *server) prepare(known map[string]call, p part) action {
	call, ok := known[p.Op]
	err := unknown(p.Op)
	if ok && p.Op != "batch" {
		var do action
		if do, err = call(s, p.Args); err == nil {
			return do
		}
	}
	return func(caller) (any, error) { return nil, err }
}

// impatient is the context of a client that leaves when it would have to wait.
func impatient(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, leave := context.WithCancel(ctx)
	return context.WithValue(ctx, waitKey{}, func(waits bool) {
		if waits {
			leave()
		}
	}), leave
}

// steps begins to count what all open instances visit.
func (s *server) steps() (since func() uint64) {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.instances))
	s.mu.Unlock()
	sum := func() (sum uint64) {
		for _, i := range open {
			sum += i.steps()
		}
		return sum
	}
	before := sum()
	return func() uint64 { return sum() - before }
}
