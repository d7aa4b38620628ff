package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// verifyInRow is how many answers in a row must show the new generation, and
	// handOver for how long they must do so after a reload: until then, a proxy's old
	// and new processes may share the port (nginx lets them do so for 100 ms).
	verifyInRow = 5
	handOver    = 250 * time.Millisecond
	// A signal that stays without any effect for a quarter of the convergence time, at
	// least minResignal and at most maxResignal, is sent again: some targets lose one
	// that arrives while they are busy with the last. One that was only slow to take
	// effect then has its effect twice: see apply.
	minResignal = 500 * time.Millisecond
	maxResignal = 2500 * time.Millisecond
	// impatience is for how many such times a target may be seen to do something, without
	// getting there, before the signal is sent again. A signal in the middle of a
	// hand-over can spoil it.
	impatience = 4
	// maxWhen is how long wiring.apply.when may take to hold. It is not part of the
	// convergence: the target has not been asked for anything yet.
	maxWhen = 10 * time.Second
)

func (p *process) apply(ctx context.Context, workers []Worker) error {
	a := p.m.Wiring.Apply
	if a == nil {
		return ErrNoApply
	}
	p.applying.Lock()
	defer p.applying.Unlock()
	if err := p.awaitWhen(ctx); err != nil {
		return err
	}
	p.data.Workers = workers
	p.data.Generation++ // spent even if this fails: no generation means two sets
	if err := p.writeFiles(&p.data); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.m.Timeouts.Convergence)
	defer cancel()
	limited, done := alive(limited, p.g.Exited())
	defer done()
	resignal := min(max(p.m.Timeouts.Convergence/4, minResignal), maxResignal)
	before := p.lookOnce(limited, resignal)
	failed := &ApplyError{Generation: p.data.Generation, Last: before}
	began := time.Now()
	for signalled := (time.Time{}); limited.Err() == nil; {
		if failed.Last == before || time.Since(signalled) >= impatience*resignal {
			if err := p.g.Signal(unix.SignalNum(a.Signal)); err != nil {
				return err
			}
			signalled = time.Now()
			failed.Signals++
		}
		round, stop := context.WithTimeoutCause(limited, resignal, errRound)
		err := p.verify(round, a.Verify, &p.data, handOver)
		stop()
		var u *unseen
		switch {
		case err == nil && failed.Signals == 1:
			return nil
		case err == nil:
			return p.outlast(ctx, failed, time.Since(began))
		case !errors.As(err, &u):
			return err
		case u.last != "":
			failed.Last = u.last
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed.Waited = time.Since(began)
	p.whyNot(failed, limited)
	return failed
}

// outlast waits for what signals that were sent again may still do to a target that follows
// already. Such a reload begins, at the latest, when the one before it ends, and shows
// within about as long as that took; what is seen must then hold on. All this is of our
// making, and so no part of the convergence time.
func (p *process) outlast(ctx context.Context, failed *ApplyError, took time.Duration) error {
	patience := 4*took + maxWhen
	failed.Waited = took + patience
	return p.await(ctx, p.m.Wiring.Apply.Verify, took+handOver, patience, failed)
}

// awaitWhen waits until the target may be signalled.
func (p *process) awaitWhen(ctx context.Context) error {
	w := p.m.Wiring.Apply.When
	if w == nil {
		return nil
	}
	return p.await(ctx, *w, 0, maxWhen, &ApplyError{Generation: p.data.Generation + 1, Waited: maxWhen})
}

// await is verify for at most so long; failed is the error if that was not enough.
func (p *process) await(ctx context.Context, v Verify, hold, max time.Duration, failed *ApplyError) error {
	limited, cancel := context.WithTimeoutCause(ctx, max, fmt.Errorf("not so within %v", max))
	defer cancel()
	limited, done := alive(limited, p.g.Exited())
	defer done()
	err := p.verify(limited, v, &p.data, hold)
	var u *unseen
	if ctx.Err() != nil || err == nil || !errors.As(err, &u) {
		return errors.Join(context.Cause(ctx), err)
	}
	failed.Last = u.Error()
	p.whyNot(failed, limited)
	return failed
}

// whyNot adds what the process itself has to say.
func (p *process) whyNot(e *ApplyError, ctx context.Context) {
	if errors.Is(context.Cause(ctx), errEnded) {
		e.Exit = p.how()
	}
	e.Log = p.log.Excerpt()
}

// lookOnce asks the still unchanged target what it says now.
func (p *process) lookOnce(ctx context.Context, max time.Duration) string {
	url, err := p.m.Wiring.Apply.Verify.HTTP.renderURL(&p.data)
	if err != nil {
		return err.Error()
	}
	return describe(probe(ctx, url, max))
}

var errRound = errors.New("not yet")

// unseen says why verify gave up, and what it saw last.
type unseen struct {
	why  error
	key  string
	url  string
	last string // empty: no probe came to its end
}

func (u *unseen) Error() string {
	last := u.last
	if last == "" {
		last = "no answer"
	}
	return fmt.Sprintf("%v; GET %s (%s) last saw: %s", u.why, u.url, u.key, last)
}

func (u *unseen) Unwrap() error { return u.why }

// verify polls until v is seen verifyInRow times in a row and for the given time, or
// ctx ends: then the error is an *unseen.
func (p *process) verify(ctx context.Context, v Verify, d *Data, hold time.Duration) error {
	url, want, err := v.render(d)
	if err != nil {
		return err
	}
	u := &unseen{url: url, key: v.HTTP.key}
	row, since := 0, time.Time{}
	for {
		a, err := probe(ctx, url, probeDeadline)
		seen := err == nil && bytes.Contains(a.body, []byte(want))
		switch {
		case seen && row == 0:
			row, since = 1, time.Now()
		case seen:
			row++
		default:
			row = 0
		}
		if row >= verifyInRow && time.Since(since) >= hold {
			return nil
		}
		if ctx.Err() == nil && !seen {
			u.last = describe(a, err)
		}
		if row > 0 && row < verifyInRow {
			continue
		}
		if !pause(ctx, probeEvery) {
			u.why = context.Cause(ctx)
			return u
		}
	}
}

func (v Verify) render(d *Data) (url, text string, err error) {
	if url, err = v.HTTP.renderURL(d); err != nil {
		return "", "", err
	}
	text, err = v.Contains.render(d)
	return url, text, err
}
