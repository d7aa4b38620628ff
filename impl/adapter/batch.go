package adapter

import (
	"context"
	"encoding/json"
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
	NS      int64     `json:"ns"` // spent on the operations
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
	for n, p := range a.Ops {
		actions[n] = s.prepare(p)
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
		began := time.Now()
		hasty, leave := impatient(c.ctx)
		for n, do := range actions {
			answers[n] = result(do(caller{ctx: hasty, lease: lease}))
			if hasty.Err() != nil {
				hasty, leave = impatient(c.ctx)
			}
		}
		leave()
		return batched{answers, time.Since(began).Nanoseconds()}, nil
	}, nil
}

// prepare reads the args of one operation. What is wrong with them is its answer.
func (s *server) prepare(p part) action {
	call, ok := calls()[p.Op]
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
