package bench

import (
	"fmt"
	"sync"
	"time"

	"github.com/routeproof/routeproof/suites/history"
)

// What the watch of stalls looks at: a tick that comes this much late is one.
const (
	stallTick = 20 * time.Millisecond
	stallLate = 200 * time.Millisecond
)

// stalls watches whether this process, and so its workers and clients, gets on at all.
// A machine that stops for half a second makes workers look dead to a router that asks
// after them: whoever reads a failure should know.
type stalls struct {
	over chan struct{}
	done sync.WaitGroup
	seen []history.Stall // read it after stop
}

// watchStalls begins to watch; call stop.
func watchStalls(now func() time.Duration) *stalls {
	s := &stalls{over: make(chan struct{})}
	s.done.Go(func() {
		t := time.NewTicker(stallTick)
		defer t.Stop()
		for last := now(); ; {
			select {
			case <-s.over:
				return
			case <-t.C:
			}
			at := now()
			s.note(last, at)
			last = at
		}
	})
	return s
}

// note is a tick after the last one.
func (s *stalls) note(last, at time.Duration) {
	if late := at - last - stallTick; late >= stallLate {
		s.seen = append(s.seen, history.Stall{At: last, For: late})
	}
}

// stop ends the watch and returns what it saw.
func (s *stalls) stop() []history.Stall {
	close(s.over)
	s.done.Wait()
	return s.seen
}

// stalled is what to say of a failure that stalls went along with, "" without one.
func stalled(h *history.History) string {
	_, longest := longestStall(h)
	if longest == 0 {
		return ""
	}
	return fmt.Sprintf("meanwhile the harness itself, its workers included, stood still for up to %v (see stalls in the evidence): the machine was too busy, or stopped", longest.Round(time.Millisecond))
}
