package bench

import (
	"context"
	"time"
)

// Requests that are sent until something is seen come often at first and where it may be
// near, and seldom otherwise: often enough to see it soon, and seldom enough to leave the
// machine to others and the history short.
const (
	pace     = 3 * time.Millisecond
	slowPace = 20 * time.Millisecond
	soon     = 100 // requests
)

// Until sends keyless requests, one after another, until pred says stop or max has passed
// since its call; it waits on what the ledger shows.
func (r *Run) Until(ctx context.Context, phase string, max time.Duration, pred func(worker string) bool) {
	r.until(ctx, phase, max, func(w string) (stop, near bool) { return pred(w), false })
}

func (r *Run) until(ctx context.Context, phase string, max time.Duration, pred func(worker string) (stop, near bool)) {
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	for i := 0; ctx.Err() == nil; i++ {
		q := Req{Key: r.Key(), Phase: phase, Tokens: 1, Deadline: time.Second}.In(Shapes()[i%8])
		r.Do(ctx, q)
		stop, near := pred(r.Served(q.Key))
		if stop {
			return
		}
		if near || i < soon {
			r.Pause(ctx, pace)
		} else {
			r.Pause(ctx, slowPace)
		}
	}
}

// AwayFrom sends keyless requests until the worker gets none of them any more, for at most
// max.
func (r *Run) AwayFrom(ctx context.Context, worker string, max time.Duration) {
	quiet := 0
	r.until(ctx, "converging", max, func(w string) (stop, near bool) {
		if quiet++; w == worker {
			quiet = 0
		}
		// By chance, from a worker with its fair share of four, once in 3e7.
		return quiet >= 60, quiet >= 10
	})
}

// During keeps keyless requests coming, one after another, while change happens.
func (r *Run) During(ctx context.Context, phase string, change func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		change()
	}()
	for i := 0; ; i++ {
		r.Do(ctx, Req{Phase: phase, Tokens: 1}.In(Shapes()[i%8]))
		if i < soon/5 {
			r.Pause(ctx, pace)
		} else {
			r.Pause(ctx, slowPace)
		}
		select {
		case <-over:
			return
		default:
		}
	}
}
