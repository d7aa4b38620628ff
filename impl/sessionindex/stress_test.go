package sessionindex

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Two ranks whose sources store under one incarnation and then under the next, while the
// worker is removed and registered again at any moment: what is left at the end is what
// the second incarnation has stored, and all of it. Tickets that were admitted under
// the first are applied at any time.
func TestTheNextIncarnationHasWhatItStoredAndNothingElse(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	seed := rand.Uint64()
	for round := range rounds {
		r := newRig(t, Config{})
		r.register(whole("w"), "first")
		var work sync.WaitGroup
		var gone atomic.Bool // the removal was begun
		again := make(chan struct{})
		stored := make(chan struct{}, 2)
		for rank := range 2 {
			at := smallRanks[rank]
			work.Go(func() {
				dice := rand.New(rand.NewPCG(seed, uint64(round*4+rank)))
				var late []Ticket
				for n := Hash(0); !gone.Load(); n++ {
					ticket := r.admit([]string{"s", "t"}[dice.IntN(2)], at, "first", 100+n%50)
					if dice.IntN(4) == 0 && len(late) < 100 {
						late = append(late, ticket)
					} else if _, err := ticket.Apply(t.Context()); err != nil {
						t.Error(err)
					}
					if n == 10 {
						stored <- struct{}{}
					}
				}
				if n := dice.IntN(3); n > 0 { // some before the registration
					for _, ticket := range late[:len(late)/n] {
						if got, err := ticket.Apply(t.Context()); err != nil || !got.Discarded {
							t.Errorf("late: %+v, %v", got, err)
						}
					}
					late = late[len(late)/n:]
				}
				<-again
				for n := range Hash(20) {
					if got, err := r.admit([]string{"s", "t"}[n%2], at, "second", 200+n).Apply(t.Context()); err != nil || got != counts {
						t.Errorf("new: %+v, %v", got, err)
					}
				}
				for _, ticket := range late {
					if got, err := ticket.Apply(t.Context()); err != nil || !got.Discarded {
						t.Errorf("very late: %+v, %v", got, err)
					}
				}
			})
		}
		work.Go(func() {
			<-stored
			<-stored
			removal := r.BeginRemoval(whole("w"))
			gone.Store(true)
			if round%2 == 0 {
				r.register(whole("w"), "second")
				close(again)
			}
			if _, err := removal.Await(t.Context()); err != nil {
				t.Error(err)
			}
			if round%2 != 0 {
				for _, session := range []string{"s", "t"} {
					if got := r.Frontiers(session); len(got) > 0 {
						t.Errorf("after the removal %q has %v", session, got)
					}
				}
				r.register(whole("w"), "second")
				close(again)
			}
		})
		work.Wait()
		for i, session := range []string{"s", "t"} {
			var want []Frontier
			for rank := range 2 {
				for n := i; n < 20; n += 2 {
					want = append(want, Frontier{smallRanks[rank], Hash(200 + n)})
				}
			}
			r.has(session, want...)
		}
		if t.Failed() {
			t.Fatalf("round %d, seed %d", round, seed)
		}
	}
}

// Everything beside everything else: nothing to compare but the books.
func TestEverythingAtOnce(t *testing.T) {
	r := newRig(t, Config{Sessions: 3, Retention: 5})
	for _, at := range smallRanks {
		r.physical.holds(at, 1, 2, 3)
	}
	var work sync.WaitGroup
	for g := range uint64(6) {
		work.Go(func() {
			dice := rand.New(rand.NewPCG(g, g))
			for n := range 3000 {
				at, session, b := smallRanks[dice.IntN(bitRanks)], smallSessions[dice.IntN(bitSessions)], Hash(dice.IntN(8))
				incarnation := fmt.Sprint(dice.IntN(2))
				switch dice.IntN(16) {
				case 0:
					_ = r.Register(t.Context(), part(at), incarnation)
				case 1:
					_ = r.Register(t.Context(), whole(at.Worker), incarnation)
				case 2:
					_, _ = r.BeginRemoval(part(at)).Await(t.Context())
				case 3:
					_, _ = r.BeginRemoval(whole(at.Worker)).Await(t.Context())
				case 4:
					_, _ = r.Clear(t.Context(), at)
				case 5:
					_, _ = r.Remove(t.Context(), at, []Hash{b})
				case 6:
					r.clock.move(1)
					r.Tick()
				case 7:
					r.physical.fail(n%7 == 0, n%11 == 0)
				case 8:
					r.Frontiers(session)
					r.Lineages(session, at)
					_, _ = r.LineagesFrom(session, at, b)
					r.Counts()
					r.Discarded()
					r.Steps()
				case 9:
					r.Dump()
					_ = r.Flush(t.Context())
				case 10, 11:
					_, _ = r.admitMatch(session, at, incarnation, b).Apply(t.Context())
				default:
					ticket := r.AdmitStore(Store{Session: session, At: at, Incarnation: incarnation, Parent: Under(b), Blocks: []Hash{b + 1, b + 2}})
					if dice.IntN(2) == 0 {
						runtime.Gosched()
					}
					_, _ = ticket.Apply(t.Context())
				}
			}
		})
	}
	work.Wait()
	if err := audit(r.core); err != nil {
		t.Error(err)
	}
	for at, s := range r.life.stays {
		if s.over || r.life.workers[at.Worker].ranks[at.Rank] != s {
			t.Errorf("the stay on %v is over or not its worker's", at)
		}
	}
}

// Workers come and go a hundred thousand times, with tickets that are applied too late
// or never: nothing of them is left.
func TestWorkersThatComeAndGoLeaveNoMemory(t *testing.T) {
	if raceDetector {
		t.Skip("a measurement")
	}
	cycles := 100_000
	if testing.Short() {
		cycles = 10_000
	}
	r := newRig(t, Config{Sessions: 10, Retention: 1})
	cycle := func(n int) {
		name := fmt.Sprint("worker ", n)
		at := WorkerRank{name, uint32(n % 3)}
		r.register(whole(name), "first")
		late := r.admit("s", at, "first", Hash(n))
		_ = r.admit("s", at, "first", Hash(n)) // and forgotten
		r.apply("in time", r.admit("s", at, "first", Hash(n)), counts)
		if n%2 == 0 {
			r.register(part(at), "second")
		}
		r.clock.move(1)
		r.remove(whole(name), 1-(n+1)%2)
		r.apply("late", late, tooLate)
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // the pool's
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for n := range cycles / 10 {
		cycle(n)
	}
	before := heap()
	for n := range cycles {
		cycle(n)
	}
	after := heap()
	t.Logf("%d cycles: the heap has %d bytes, before %d", cycles, after, before)
	if after > before+256<<10 {
		t.Errorf("%d cycles leave %d bytes", cycles, after-before)
	}
	equal(t, "stays, workers and unfinished removals", [3]int{len(r.life.stays), len(r.life.workers), len(r.unfinished)}, [3]int{})
	r.clock.move(1)
	r.Tick()
	equal(t, "counts", r.Counts(), Counts{})
}

func TestAStoreAndAMatchCostNoMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector costs some")
	}
	r := newRig(t, Config{})
	r.register(whole("w"), "first")
	chain := hashes(1, 64)
	r.apply("the chain", r.admit("s", w0, "first", chain...), counts)
	ctx := t.Context()
	n := 0
	for what, run := range map[string]func(){
		"a store of a known block": func() {
			n = (n + 1) % 63
			_, _ = r.AdmitStore(Store{Session: "s", At: w0, Incarnation: "first", Parent: Under(chain[n]), Blocks: chain[n+1 : n+2]}).Apply(ctx)
		},
		"a match": func() { _, _ = r.admitMatch("s", w0, "first", chain[n]).Apply(ctx) },
		"a store that comes late": func() {
			_, _ = r.AdmitStore(Store{Session: "s", At: w0, Incarnation: "no", Blocks: chain[:1]}).Apply(ctx)
		},
		"an eviction of what is not there": func() { _, _ = r.Remove(ctx, w0, nil) },
	} {
		if got := testing.AllocsPerRun(1000, run); got > 0 {
			t.Errorf("%s costs %v allocations", what, got)
		}
	}
}
