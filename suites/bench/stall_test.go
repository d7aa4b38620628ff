package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
)

func TestAStallIsATickThatComesMuchTooLate(t *testing.T) {
	s := &stalls{}
	s.note(0, stallTick)
	s.note(time.Second, time.Second+stallTick+stallLate-1)
	s.note(2*time.Second, 3*time.Second)
	if len(s.seen) != 1 || s.seen[0].At != 2*time.Second || s.seen[0].For != time.Second-stallTick {
		t.Errorf("seen %+v", s.seen)
	}
}

func TestAWatchOfStallsEndsWhenItIsStopped(t *testing.T) {
	began := time.Now()
	s := watchStalls(func() time.Duration { return time.Since(began) })
	s.stop() // goleak says whether it has ended
}

func TestAFailureSaysThatTheMachineStoodStill(t *testing.T) {
	h := &history.History{}
	if text := stalled(h); text != "" {
		t.Errorf("without a stall: %q", text)
	}
	h.Stalls = []history.Stall{{At: time.Second, For: 300 * time.Millisecond}, {At: 2 * time.Second, For: 612 * time.Millisecond}, {At: 4 * time.Second, For: 250 * time.Millisecond}}
	if text := stalled(h); !strings.Contains(text, "612ms") {
		t.Errorf("with stalls: %q", text)
	}
}
