package bench

import (
	"context"
	"time"
)

// Until sends keyless requests, one after another, until pred says stop or max has passed
// since its call; it waits on what the ledger shows.
func (r *Run) Until(ctx context.Context, phase string, max time.Duration, pred func(worker string) bool) {
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	for i := 0; ctx.Err() == nil; i++ {
		q := Req{Key: r.Key(), Phase: phase, Deadline: time.Second}.In(Shapes()[i%8])
		r.Do(ctx, q)
		if pred(r.Served(q.Key)) {
			return
		}
		r.Pause(ctx, pace)
	}
}

// pace lies between requests that are sent until something is seen: often enough to see it
// soon, and seldom enough to leave the machine to others and the history short.
const pace = 3 * time.Millisecond

// AwayFrom sends keyless requests until the worker gets none of them any more, for at most
// max.
func (r *Run) AwayFrom(ctx context.Context, worker string, max time.Duration) {
	quiet := 0
	r.Until(ctx, "converging", max, func(w string) bool {
		if quiet++; w == worker {
			quiet = 0
		}
		return quiet >= 80 // by chance, from a worker with its fair share, once in 1e10
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
		r.Do(ctx, Req{Phase: phase, Tokens: 1}.In(FreshShapes()[i%4]))
		r.Pause(ctx, pace)
		select {
		case <-over:
			return
		default:
		}
	}
}
