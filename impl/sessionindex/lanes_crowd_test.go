package sessionindex

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// laned is what the tests below use of an index, so that a wrong one can take its place.
type laned interface {
	EnqueueStore(Store) error
	EnqueueMatch(WorkerRank, Ticket) error
	EnqueueRemove(WorkerRank, []Hash) error
	EnqueueClear(WorkerRank) error
	AdmitMatch(Match) Ticket
	Flush(context.Context) error
}

// A forest of one tree, which all ranks share and none changes: block b is under b/2.
const treeBlocks = 31

func treePath(b Hash) (path []Hash) {
	for ; b > 0; b /= 2 {
		path = append(path, b)
	}
	slices.Reverse(path)
	return path
}

var laneRanks = []WorkerRank{{"w", 0}, {"w", 1}, {"v", 0}, {"u", 0}}

// told is an event as the tests note it down.
type told struct {
	what    string
	session string
	blocks  []Hash // of a store the chain from its root
	from    int    // the first block of it that the event holds
}

// tells lets the model do what the event says.
func (m *model) tells(at WorkerRank, e told) {
	switch e.what {
	case "store":
		m.store(0, Store{Session: e.session, At: at, Blocks: e.blocks})
	case "match":
		m.match(0, Match{Session: e.session, At: at, Block: e.blocks[0]})
	case "evict":
		m.remove(0, at, e.blocks)
	case "clear":
		m.clear(0, func(r WorkerRank) bool { return r == at })
	}
}

// source tells the index of one rank at random, and a model beforehand.
type source struct {
	at    WorkerRank
	model *model
	all   []told
	ended int // evictions and clears since the last flush

	mu     sync.Mutex
	states map[string][]string // of the sessions: all that they ever have had on the rank
}

func textOf(blocks []Hash) string { return fmt.Sprint(blocks) }

func (s *source) tell(t *testing.T, x laned, dice *rand.Rand) {
	t.Helper()
	e := told{what: "store", session: []string{"s", "t"}[dice.IntN(2)]}
	b := Hash(1 + dice.IntN(treeBlocks))
	switch n := dice.IntN(10); {
	case n < 5:
		e.blocks = treePath(b)
		e.from = dice.IntN(len(e.blocks))
	case n < 7:
		e.what, e.blocks = "match", []Hash{b}
	case n < 9:
		e.what, e.blocks = "evict", []Hash{b, Hash(1 + dice.IntN(treeBlocks))}
	default:
		e.what = "clear"
	}
	if e.what == "evict" || e.what == "clear" { // few at a time, so that no match is asked about too often
		if s.ended++; s.ended > confirmations {
			if err := x.Flush(t.Context()); err != nil {
				t.Error(err)
			}
			s.ended = 1
		}
	}
	s.model.tells(s.at, e)
	s.all = append(s.all, e)
	s.mu.Lock()
	for id, states := range s.states {
		s.states[id] = append(states, textOf(s.model.deepest(s.model.has[id][s.at])))
	}
	s.mu.Unlock()
	var err error
	switch e.what {
	case "store":
		store := Store{Session: e.session, At: s.at, Incarnation: "first", Blocks: e.blocks[e.from:]}
		if e.from > 0 {
			store.Parent = Under(e.blocks[e.from-1])
		}
		err = x.EnqueueStore(store)
	case "match":
		err = x.EnqueueMatch(s.at, x.AdmitMatch(Match{Session: e.session, At: s.at, Incarnation: "first", Block: b}))
	case "evict":
		err = x.EnqueueRemove(s.at, e.blocks)
	case "clear":
		err = x.EnqueueClear(s.at)
	}
	if err != nil {
		t.Error(err)
	}
}

// between looks for what a session has on the rank among the states from one on, and
// says which it is; -1 if none.
func (s *source) between(session string, from int, blocks []Hash) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := slices.Index(s.states[session][from:], textOf(blocks)); n >= 0 {
		return from + n
	}
	return -1
}

// onRank are the blocks of the frontiers on a rank.
func onRank(all []Frontier, at WorkerRank) (blocks []Hash) {
	for _, f := range all {
		if f.At == at {
			blocks = append(blocks, f.Block)
		}
	}
	return blocks
}

// planted is a rig whose sessions find all blocks known, and a model of it.
func planted(t *testing.T) (*indexRig, func() *model) {
	t.Helper()
	c := Config{Sessions: DefaultSessions, Retention: DefaultRetention}
	r := newRig(t, c)
	tree := make([]Hash, 0, treeBlocks)
	for b := Hash(1); b <= treeBlocks; b++ {
		tree = append(tree, b)
	}
	for _, at := range laneRanks {
		if at.Rank == 0 {
			r.register(whole(at.Worker), "first")
		}
		r.physical.holds(at, tree...) // so that stale matches count
	}
	seed := WorkerRank{"seed", 0}
	r.register(whole("seed"), "first")
	for leaf := Hash((treeBlocks + 1) / 2); leaf <= treeBlocks; leaf++ {
		r.apply("the tree", r.admit("seed", seed, "first", treePath(leaf)...), counts)
	}
	r.clock.looked = runtime.Gosched
	return r, func() *model {
		m := newModel(c)
		for leaf := Hash((treeBlocks + 1) / 2); leaf <= treeBlocks; leaf++ {
			m.store(0, Store{Session: "seed", At: seed, Blocks: treePath(leaf)})
		}
		return m
	}
}

// laneCrowd lets one source for each rank tell an index, beside flushes and readers, and
// says what was wrong.
func laneCrowd(t *testing.T, around func(*Index) laned, seed, round uint64) error {
	t.Helper()
	const events = 150
	r, seeded := planted(t)
	x := around(r.Index)
	sources := map[WorkerRank]*source{}
	for _, at := range laneRanks {
		sources[at] = &source{at: at, model: seeded(), states: map[string][]string{"s": {textOf(nil)}, "t": {textOf(nil)}}}
	}
	var telling, reading sync.WaitGroup
	var over atomic.Bool
	var once sync.Once
	var wrong error
	fault := func(format string, args ...any) {
		once.Do(func() { wrong = fmt.Errorf(format, args...) })
		over.Store(true)
	}
	for n, at := range laneRanks {
		telling.Go(func() {
			dice, s := rand.New(rand.NewPCG(seed, round<<8+uint64(n))), sources[at]
			for i := range events {
				s.tell(t, x, dice)
				if i%50 == 49 {
					if err := x.Flush(t.Context()); err != nil {
						t.Error(err)
					}
					for id, states := range s.states {
						if got, want := textOf(onRank(r.Frontiers(id), at)), states[len(states)-1]; got != want {
							fault("after a flush %q has %s on %v, want %s", id, got, at, want)
						}
					}
				}
			}
		})
	}
	for n := range 2 {
		reading.Go(func() {
			dice := rand.New(rand.NewPCG(seed, round<<8+100+uint64(n)))
			seen := map[string]map[WorkerRank]int{"s": {}, "t": {}}
			for !over.Load() {
				id := []string{"s", "t"}[dice.IntN(2)]
				all := r.Frontiers(id)
				at := laneRanks[dice.IntN(len(laneRanks))]
				for _, chain := range r.Lineages(id, at) {
					if !slices.Equal(chain, treePath(chain[len(chain)-1])) {
						fault("%q has the chain %v on %v", id, chain, at)
					}
				}
				for _, at := range laneRanks {
					state := sources[at].between(id, seen[id][at], onRank(all, at))
					if state < 0 {
						fault("%q has %v on %v: it never had, or no more", id, onRank(all, at), at)
						return
					}
					seen[id][at] = state
				}
				runtime.Gosched()
			}
		})
	}
	telling.Wait()
	flushed := x.Flush(t.Context())
	got := r.Dump()
	over.Store(true)
	reading.Wait()
	if err := r.Close(t.Context()); err != nil || flushed != nil {
		t.Error(err, flushed)
	}
	if wrong != nil {
		return wrong
	}
	one := seeded()
	for _, at := range laneRanks { // in any order of the lanes: they share no claim
		for _, e := range sources[at].all {
			one.tells(at, e)
		}
	}
	want := one.dump()
	for _, s := range []*State{&got, &want} {
		slices.SortFunc(s.Sessions, func(a, b SessionState) int { return cmp.Compare(a.ID, b.ID) })
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("the index holds\n%s\nwant\n%s", dumpText(got), dumpText(want))
	}
	return audit(r.core)
}

func TestLanesBesideEachOtherHoldWhatOneAfterAnotherWould(t *testing.T) {
	rounds, seed := uint64(30), rand.Uint64()
	if raceDetector || testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		if err := laneCrowd(t, func(x *Index) laned { return x }, seed, round); err != nil || t.Failed() {
			t.Fatalf("seed %d, round %d: %v", seed, round, err)
		}
	}
}
