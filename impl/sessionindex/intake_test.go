package sessionindex

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
)

// stuck is an intake whose lane of w0 waits for the physical index until let go.
func stuck(r *indexRig, limit int) (in *Intake, letGo func()) {
	in = NewIntake(r.Index, limit)
	entered, gate := make(chan struct{}), make(chan struct{})
	r.physical.asked = func() {
		close(entered)
		<-gate
	}
	m := r.admitMatch("stuck", w0, "first", 99)
	r.evict(w0, 0, 98)
	r.must(in.Match(w0, m))
	<-entered
	return in, func() { close(gate) }
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
	in := NewIntake(r.Index, 0)
	r.must(in.Store(taken("s", w0, 1, 2)))
	r.must(in.Clear(w0))
	r.must(in.Store(taken("s", w0, 3, 4))) // survives the clear
	r.must(in.Remove(w0, []Hash{4}))
	r.must(in.Store(taken("t", w0, 3, 4))) // survives the eviction
	r.must(in.Match(w0, r.admitMatch("u", w0, "first", 3)))
	m := r.admitMatch("v", w0, "first", 4)
	r.must(in.Remove(w0, []Hash{4}))
	r.must(in.Match(w0, m)) // whoever looked it up may have been too early
	r.must(in.Store(taken("v", w0, 5, 5)))
	r.must(in.Remove(w0, nil))
	r.must(in.Flush(t.Context()))
	r.has("s", Frontier{w0, 3})
	r.has("t", Frontier{w0, 3})
	r.has("u", Frontier{w0, 3})
	r.has("v")
	equal(t, "stats", in.Stats(), IntakeStats{Taken: 9, Refused: 1})
	equal(t, "discarded", r.Discarded(), 1)
	r.must(in.Close(t.Context()))
	for what, err := range map[string]error{"store": in.Store(taken("s", w0, 1)), "match": in.Match(w0, Ticket{}), "remove": in.Remove(w0, []Hash{1}), "clear": in.Clear(w0)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
	equal(t, "lanes", in.Lanes(), 0)
}

func TestTakingInDoesNotWaitForTheIndex(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	in := NewIntake(r.Index, 0)
	r.mu.Lock() // a write that takes for ever
	r.must(in.Store(taken("s", w0, 1)))
	r.must(in.Clear(w1))
	r.must(in.Store(taken("s", w1, 1)))
	r.mu.Unlock()
	r.must(in.Close(t.Context()))
	r.has("s", Frontier{w0, 1}, Frontier{w1, 1})
}

func TestARemovalOvertakesLanes(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	in, letGo := stuck(r, 0)
	r.must(in.Store(taken("s", w0, 1)))
	r.must(in.Store(taken("s", w1, 1))) // not behind what is stuck
	r.remove(part(w0), 0)
	r.register(part(w0), "second")
	r.must(in.Store(Store{Session: "s", At: w0, Incarnation: "second", Blocks: []Hash{2}}))
	letGo()
	r.must(in.Flush(t.Context()))
	r.has("s", Frontier{w0, 2}, Frontier{w1, 1})
	r.must(in.Close(t.Context()))
}

func TestAFullLaneLosesCreditAndBelievesNothingFalse(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	r.apply("before", r.admit("s", w0, "first", 1, 2), counts)
	in, letGo := stuck(r, 3)
	for b := range Hash(3) {
		r.must(in.Store(taken("s", w0, 10+b)))
	}
	if err := in.Store(taken("s", w0, 20)); !errors.Is(err, ErrLaneFull) {
		t.Errorf("a store too many: %v", err)
	}
	r.must(in.Store(taken("s", w1, 1))) // another lane
	flushed := make(chan error, 1)
	go func() { flushed <- in.Flush(t.Context()) }()
	for waits := false; !waits; { // until it stands in the lane
		in.mu.Lock()
		waits = len(in.lanes[w0].waiting) == 4
		in.mu.Unlock()
	}
	r.must(in.Remove(w0, []Hash{2})) // has no room, and must not be lost
	r.must(in.Store(taken("s", w0, 30)))
	letGo()
	r.must(<-flushed)
	r.must(in.Flush(t.Context()))
	r.has("s", Frontier{w0, 30}, Frontier{w1, 1})
	equal(t, "dropped", in.Stats().Dropped, 1+3)
	r.must(in.Close(t.Context()))
}

func TestAFlushThatCannotKnowSaysSo(t *testing.T) {
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	in := NewIntake(r.Index, 0)
	r.must(in.Store(taken("s", w0, 1)))
	r.physical.fail(false, true)
	r.must(in.Clear(w0))
	for _, want := range []error{errPhysical, nil} { // each failure is told once
		if err := in.Flush(t.Context()); !errors.Is(err, want) {
			t.Errorf("Flush: %v, want %v", err, want)
		}
		r.has("s")
	}
	r.must(in.Store(taken("s", w0, 1)))
	r.physical.fail(true, false)
	for range 2 {
		if err := in.Flush(t.Context()); !errors.Is(err, errPhysical) {
			t.Errorf("Flush over a barrier that fails: %v", err)
		}
		r.has("s", Frontier{w0, 1}) // nothing is lost by that
	}
	r.physical.fail(false, false)
	r.must(in.Flush(t.Context()))
	r.must(in.Close(t.Context()))

	in, letGo := stuck(r, 0)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := in.Flush(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Flush with an ended context: %v", err)
	}
	r.must(in.Store(taken("s", w0, 7)))
	go letGo()
	err := in.Close(ended)
	if got := in.Stats(); err != nil && (!errors.Is(err, context.Canceled) || got.Failed > 2) {
		t.Errorf("Close with an ended context: %v, %+v", err, got)
	}
}

// Each rank's source says something at random; what is left is what a core holds that
// was told the same in the same order.
func TestLanesComeToWhatASequentialIndexHolds(t *testing.T) {
	seed := rand.Uint64()
	for round := range uint64(30) {
		r := newRig(t, Config{})
		r.register(whole("w"), "first")
		r.register(whole("v"), "first")
		in := NewIntake(r.Index, 1<<20)
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
						_ = in.Store(e)
						_, _ = want[rank].Store(0, e)
					case 0, 1, 2:
						_ = in.Remove(at, []Hash{b})
						want[rank].Remove(0, at, []Hash{b})
					case 3:
						_ = in.Clear(at)
						want[rank].ClearRank(0, at)
					}
					if dice.IntN(100) == 0 {
						if err := in.Flush(t.Context()); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		work.Wait()
		r.must(in.Close(t.Context()))
		for rank, at := range smallRanks {
			session := fmt.Sprint("session ", rank)
			if got, want := r.Lineages(session, at), want[rank].Lineages(session, at); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, round %d: %q has %v, want %v", seed, round, session, got, want)
			}
		}
		equal(t, "dropped", in.Stats().Dropped, 0)
	}
}

func TestTheSequencerLetsOneInForARankAndOneForAWorker(t *testing.T) {
	var s Sequencer
	var work sync.WaitGroup
	counts := map[WorkerRank]*int{}
	for _, at := range smallRanks {
		counts[at] = new(int)
	}
	for range 4 {
		work.Go(func() {
			for n := range 500 {
				at := smallRanks[n%bitRanks]
				s.Do(part(at), func() { *counts[at]++ })
				s.Do(whole("w"), func() {
					*counts[w0]++
					*counts[w1]++
				})
			}
		})
	}
	work.Wait()
	equal(t, "together", *counts[w0]+*counts[w1]+*counts[v0], 4*500*3)
	equal(t, "workers kept", len(s.workers), 0)
}
