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
	// verifyInRow is how many answers in a row must show the new generation: while
	// a proxy reloads, its old and new processes share the port.
	verifyInRow = 5
	// resignal is how long a signal may stay without effect before it is sent again:
	// some targets lose one that arrives while they are busy with the last.
	resignal = 500 * time.Millisecond
)

func (p *process) apply(ctx context.Context, workers []Worker) error {
	a := p.m.Wiring.Apply
	if a == nil {
		return ErrNoApply
	}
	p.applying.Lock()
	defer p.applying.Unlock()
	p.data.Workers = workers
	p.data.Generation++ // spent even if this fails: no generation means two sets
	if err := p.writeFiles(&p.data); err != nil {
		return err
	}
	began := time.Now()
	limit := p.m.Timeouts.Convergence
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	limited, done := alive(limited, p.g.Exited())
	defer done()

	failed := &ApplyError{Generation: p.data.Generation, Last: "nothing yet"}
	p.lookOnce(limited)
	for limited.Err() == nil {
		if err := p.g.Signal(unix.SignalNum(a.Signal)); err != nil {
			return err
		}
		failed.Signals++
		round, stop := context.WithTimeoutCause(limited, resignal, errRound)
		err := p.verify(round, &p.data)
		stop()
		var u *unverified
		switch {
		case err == nil:
			return nil
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
	if errors.Is(context.Cause(limited), errEnded) {
		failed.Exit = p.how()
	}
	failed.LogTail = p.log.tail(tailLines)
	return failed
}

// lookOnce asks the still unchanged target for its generation: a manifest may use
// that to mark what the target must hand on (see fixtures/targets/haproxy.yaml).
// What it answers does not matter.
func (p *process) lookOnce(ctx context.Context) {
	if url, err := p.m.Wiring.Apply.Verify.HTTP.renderURL(&p.data); err == nil {
		_, _ = probe(ctx, url, resignal)
	}
}

var errRound = errors.New("not yet")

// unverified says why verify gave up, and what it saw last.
type unverified struct {
	why  error
	url  string
	last string // empty: no probe came to its end
}

func (u *unverified) Error() string {
	last := u.last
	if last == "" {
		last = "no answer"
	}
	return fmt.Sprintf("%v; GET %s (wiring.apply.verify) last saw: %s", u.why, u.url, last)
}

func (u *unverified) Unwrap() error { return u.why }

// verify polls until the target shows the generation verifyInRow times in a row,
// or ctx ends: then the error is an *unverified.
func (p *process) verify(ctx context.Context, d *Data) error {
	v := p.m.Wiring.Apply.Verify
	url, err := v.HTTP.renderURL(d)
	if err != nil {
		return err
	}
	want, err := v.Contains.render(d)
	if err != nil {
		return err
	}
	u := &unverified{url: url}
	row := 0
	for {
		a, err := probe(ctx, url, probeDeadline)
		if err == nil && bytes.Contains(a.body, []byte(want)) {
			if row++; row == verifyInRow {
				return nil
			}
			continue
		}
		row = 0
		if ctx.Err() == nil {
			u.last = describe(a, err)
		}
		if !pause(ctx, probeEvery) {
			u.why = context.Cause(ctx)
			return u
		}
	}
}
