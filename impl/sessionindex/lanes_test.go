package sessionindex

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"testing"
)

// stuck makes the lane of w0 wait for the physical index until let go.
func stuck(r *indexRig) (letGo func()) {
	r.t.Helper()
	entered, gate := make(chan struct{}), make(chan struct{})
	r.physical.asked = func() {
		close(entered)
		<-gate
	}
	m := r.admitMatch("stuck", w0, "first", 99)
	r.evict(w0, 0, 98)
	r.must(r.EnqueueMatch(w0, m))
	<-entered
	return func() { close(gate) }
}

func (r *indexRig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func taken(session string, at WorkerRank, blocks ...Hash) Store {
	return Store{Session: session, At: at, Incarnation: "first", Blocks: blocks}
}

func TestEventsOfARankTakeEffectInTheirOrder(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	r.physical.holds(w0, 3)
	r.must(r.EnqueueStore(taken("s", w0, 1, 2)))
	r.must(r.EnqueueClear(w0))
	r.must(r.EnqueueStore(taken("s", w0, 3, 4))) // survives the clear
	r.must(r.EnqueueRemove(w0, []Hash{4}))
	r.must(r.EnqueueStore(taken("t", w0, 3, 4))) // survives the eviction
	r.must(r.EnqueueMatch(w0, r.admitMatch("u", w0, "first", 3)))
	m := r.admitMatch("v", w0, "first", 4)
	r.must(r.EnqueueRemove(w0, []Hash{4}))
	r.must(r.EnqueueMatch(w0, m)) // whoever looked it up may have been too early
	r.must(r.EnqueueStore(taken("v", w0, 5, 5)))
	r.must(r.EnqueueRemove(w0, nil))
	r.must(r.Flush(t.Context()))
	r.has("s", Frontier{w0, 3})
	r.has("t", Frontier{w0, 3})
	r.has("u", Frontier{w0, 3})
	r.has("v")
	equal(t, "stats", r.Lanes(), LaneStats{Taken: 9, Refused: 1})
	equal(t, "discarded", r.Discarded(), 1)
	r.must(r.Close(t.Context()))
	for what, err := range map[string]error{"store": r.EnqueueStore(taken("s", w0, 1)), "match": r.EnqueueMatch(w0, Ticket{}), "remove": r.EnqueueRemove(w0, []Hash{1}), "clear": r.EnqueueClear(w0)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
	equal(t, "lanes", r.Lanes().Busy, 0)
}

func TestTakingInDoesNotWaitForTheIndex(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	r.mu.Lock() // a write that takes for ever
	r.must(r.EnqueueStore(taken("s", w0, 1)))
	r.must(r.EnqueueClear(w1))
	r.must(r.EnqueueStore(taken("s", w1, 1)))
	r.mu.Unlock()
	r.must(r.Close(t.Context()))
	r.has("s", Frontier{w0, 1}, Frontier{w1, 1})
}

func TestARemovalOvertakesLanes(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	letGo := stuck(r)
	r.must(r.EnqueueStore(taken("s", w0, 1)))
	r.must(r.EnqueueStore(taken("s", w1, 1))) // not behind what is stuck
	r.remove(part(w0), 0)
	r.register(part(w0), "second")
	r.must(r.EnqueueStore(Store{Session: "s", At: w0, Incarnation: "second", Blocks: []Hash{2}}))
	letGo()
	r.must(r.Flush(t.Context()))
	r.has("s", Frontier{w0, 2}, Frontier{w1, 1})
	r.must(r.Close(t.Context()))
}

// An eviction that overtook the store of its block would leave a claim that nothing ends.
func TestEvictionsAndClearsThatAreWaitedForTakeTheirTurn(t *testing.T) {
	var asked sync.WaitGroup
	turn := func(r *indexRig, n int, ask func()) { // asks when n stand in the lane, and waits until that is one more
		asked.Go(ask)
		for waits := 0; waits != n+1; runtime.Gosched() {
			r.lanes.mu.Lock()
			waits = len(r.lanes.busy[w0].waiting)
			r.lanes.mu.Unlock()
		}
	}
	begin := func() (r *indexRig, letGo func()) {
		r = newRig(t, Config{Lane: 2})
		r.register(whole("w"), "first")
		letGo = stuck(r)
		r.must(r.EnqueueStore(taken("s", w0, 1, 2)))
		r.must(r.EnqueueStore(taken("s", w0, 3)))
		return r, letGo
	}
	end := func(r *indexRig) {
		r.must(r.Flush(t.Context()))
		asked.Wait()
		r.has("s")
		r.must(r.Close(t.Context()))
	}
	r, letGo := begin()
	turn(r, 2, func() { r.evict(w0, 1, 2) }) // although the lane is full
	turn(r, 3, func() { r.clear(w0, 2) })
	r.evict(w1, 0, 2) // whose lane is not stuck
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	turn(r, 4, func() {
		_, err := r.Clear(ctx, w0)
		left <- err
	})
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("a clear whose client left: %v", err)
	}
	letGo()
	end(r)

	r, letGo = begin()
	turn(r, 2, func() { r.evict(w0, 0, 2) })
	r.must(r.EnqueueRemove(w0, []Hash{9})) // has no room: all that waits becomes a clear
	equal(t, "dropped", r.Lanes().Dropped, 3)
	letGo()
	end(r)
	equal(t, "clears of the lower tiers for that", r.physical.cleared, 0)
}

func TestAFullLaneLosesCreditAndBelievesNothingFalse(t *testing.T) {
	r := newRig(t, Config{Lane: 3})
	r.register(whole("w"), "first")
	r.apply("before", r.admit("s", w0, "first", 1, 2), counts)
	letGo := stuck(r)
	for b := range Hash(3) {
		r.must(r.EnqueueStore(taken("s", w0, 10+b)))
	}
	if err := r.EnqueueStore(taken("s", w0, 20)); !errors.Is(err, ErrLaneFull) {
		t.Errorf("a store too many: %v", err)
	}
	r.must(r.EnqueueStore(taken("s", w1, 1))) // another lane
	flushed := make(chan error, 1)
	go func() { flushed <- r.Flush(t.Context()) }()
	for waits := false; !waits; runtime.Gosched() { // until it stands in the lane
		r.lanes.mu.Lock()
		waits = len(r.lanes.busy[w0].waiting) == 4
		r.lanes.mu.Unlock()
	}
	r.must(r.EnqueueRemove(w0, []Hash{2})) // has no room, and must not be lost
	r.must(r.EnqueueStore(taken("s", w0, 30)))
	letGo()
	r.must(<-flushed)
	r.must(r.Flush(t.Context()))
	r.has("s", Frontier{w0, 30}, Frontier{w1, 1})
	equal(t, "dropped", r.Lanes().Dropped, 1+3)
	r.must(r.Close(t.Context()))
}

func TestAFlushThatCannotKnowSaysSo(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	r.must(r.EnqueueStore(taken("s", w0, 1)))
	r.physical.fail(false, true)
	r.must(r.EnqueueClear(w0))
	for _, want := range []error{errPhysical, nil} { // each failure is told once
		if err := r.Flush(t.Context()); !errors.Is(err, want) {
			t.Errorf("Flush: %v, want %v", err, want)
		}
		r.has("s")
	}
	r.must(r.EnqueueStore(taken("s", w0, 1)))
	r.physical.fail(true, false)
	for range 2 {
		if err := r.Flush(t.Context()); !errors.Is(err, errPhysical) {
			t.Errorf("Flush over a barrier that fails: %v", err)
		}
		r.has("s", Frontier{w0, 1}) // nothing is lost by that
	}
	r.physical.fail(false, false)
	r.must(r.Flush(t.Context()))
	r.must(r.Close(t.Context()))

	r = newRig(t, Config{})
	r.register(whole("w"), "first")
	letGo := stuck(r)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := r.Flush(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Flush with an ended context: %v", err)
	}
	r.must(r.EnqueueStore(taken("s", w0, 7)))
	go letGo()
	err := r.Close(ended)
	if got := r.Lanes(); err != nil && (!errors.Is(err, context.Canceled) || got.Failed > 2) {
		t.Errorf("Close with an ended context: %v, %+v", err, got)
	}
}

// Each rank's source says something at random; what is left is what a core holds that
// was told the same in the same order.
func TestLanesComeToWhatASequentialIndexHolds(t *testing.T) {
	seed := rand.Uint64()
	for round := range uint64(30) {
		r := newRig(t, Config{Lane: 1 << 20})
		r.register(whole("w"), "first")
		r.register(whole("v"), "first")
		var work sync.WaitGroup
		want := [bitRanks]*Core{}
		for rank, at := range smallRanks {
			want[rank] = newCore(t, Config{})
			work.Go(func() {
				dice := rand.New(rand.NewPCG(seed, round*bitRanks+uint64(rank)))
				session := fmt.Sprint("session ", rank)
				for range 500 {
					b := Hash(rank*100 + dice.IntN(20))
					switch dice.IntN(12) {
					default:
						e := taken(session, at, b)
						if p := Hash(rank*100 + dice.IntN(20)); dice.IntN(2) == 0 {
							e.Parent = Under(p)
						}
						_ = r.EnqueueStore(e)
						_, _ = want[rank].Store(0, e)
					case 0, 1, 2:
						_ = r.EnqueueRemove(at, []Hash{b})
						want[rank].Remove(0, at, []Hash{b})
					case 3:
						_ = r.EnqueueClear(at)
						want[rank].ClearRank(0, at)
					}
					if dice.IntN(100) == 0 {
						if err := r.Flush(t.Context()); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		work.Wait()
		r.must(r.Close(t.Context()))
		for rank, at := range smallRanks {
			session := fmt.Sprint("session ", rank)
			if got, want := r.Lineages(session, at), want[rank].Lineages(session, at); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, round %d: %q has %v, want %v", seed, round, session, got, want)
			}
		}
		equal(t, "dropped", r.Lanes().Dropped, 0)
	}
}
