package sessionindex

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// leaving is what the test below uses of an index.
type leaving interface {
	Register(context.Context, Member, string) error
	EnqueueStore(Store) error
	BeginRemoval(Member) Removal
	Flush(context.Context) error
	Frontiers(string) []Frontier
}

// ghosts lets the sources of a worker's two ranks go on under its first incarnation while
// it is removed, and on. It says who had anything on it from the moment on at which the
// removal was awaited, and what of the next incarnation's is missing.
func ghosts(t *testing.T, around func(*Index) leaving) error {
	t.Helper()
	const each = 20
	r := newRig(t, Config{})
	r.clock.looked = runtime.Gosched
	x := around(r.Index)
	if err := x.Register(t.Context(), whole("w"), "first"); err != nil {
		return err
	}
	var work sync.WaitGroup
	var over atomic.Bool
	store := func(at WorkerRank, incarnation string, b Hash) {
		if err := x.EnqueueStore(Store{Session: "s", At: at, Incarnation: incarnation, Blocks: []Hash{b}}); err != nil {
			t.Error(err)
		}
	}
	began := make(chan struct{}, 2)
	for _, at := range []WorkerRank{w0, w1} {
		work.Go(func() {
			for n := Hash(0); n < each || !over.Load(); n++ {
				store(at, "first", n%50)
				if n == each {
					began <- struct{}{}
				}
				runtime.Gosched()
			}
		})
	}
	<-began
	<-began
	if _, err := x.BeginRemoval(whole("w")).Await(t.Context()); err != nil {
		return err
	}
	for range 200 {
		if got := x.Frontiers("s"); len(got) > 0 {
			over.Store(true)
			work.Wait()
			_ = r.Close(t.Context())
			return fmt.Errorf("after the removal there are %v", got)
		}
		runtime.Gosched()
	}
	if err := x.Register(t.Context(), whole("w"), "second"); err != nil {
		return err
	}
	var next sync.WaitGroup
	for _, at := range []WorkerRank{w0, w1} { // beside those that are still not told
		next.Go(func() {
			for n := range Hash(each) {
				store(at, "second", 100+n)
			}
		})
	}
	next.Wait()
	over.Store(true)
	work.Wait()
	if err := x.Flush(t.Context()); err != nil {
		return err
	}
	if err := r.Close(t.Context()); err != nil {
		return err
	}
	if r.Discarded() == 0 {
		t.Error("nothing came too late: this proves nothing")
	}
	got := x.Frontiers("s")
	for n, f := range got {
		if want := Hash(100 + n%each); f.Block != want {
			return fmt.Errorf("%v is there, want block %v", f, want)
		}
	}
	if len(got) != 2*each {
		return fmt.Errorf("the next incarnation has %d frontiers, want %d", len(got), 2*each)
	}
	return nil
}

func TestNoGhostComesBackThroughALane(t *testing.T) {
	rounds := 50
	if raceDetector || testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		if err := ghosts(t, func(x *Index) leaving { return x }); err != nil || t.Failed() {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}
