package sessionindex

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// What many goroutines at once ask of an index, and are answered, must be what it would
// have answered had they asked one after another, in some order in which nobody is before
// whoever was done already. A store or a match counts as two operations, for what happens
// between its admission and its application matters; everything else is one.

// asked is an operation.
type asked struct {
	what        string // admit, apply, evict, clear, retire, open, frontiers, lineages, counts, discarded
	id          int    // of a ticket
	match       bool
	session     string
	at          WorkerRank
	member      Member
	incarnation string
	parent      Parent
	blocks      []Hash
}

// answered is what came of it.
type answered struct {
	Result
	Refused   BlockError
	Lost      int
	Frontiers []Frontier
	Chains    [][]Hash
	Counts    Counts
	Discarded uint64
}

// admitted is a ticket in the model.
type admitted struct {
	asked
	late, doubtful bool
}

// world is the state of the model: the sets of decision 25, and the incarnations.
type world struct {
	*model
	open      map[WorkerRank]string
	tickets   map[int]admitted
	discarded uint64
}

// isHeld says what the physical index holds, all the time.
func isHeld(at WorkerRank, b Hash) bool { return (uint32(b)+at.Rank)%2 == 0 }

func (w world) clone() world {
	m := *w.model
	m.known, m.phantoms, m.idle, m.used = maps.Clone(m.known), maps.Clone(m.phantoms), maps.Clone(m.idle), slices.Clone(m.used)
	m.has = map[string]map[WorkerRank]map[Hash]bool{}
	for id, ranks := range w.has {
		m.has[id] = map[WorkerRank]map[Hash]bool{}
		for at, set := range ranks {
			m.has[id][at] = maps.Clone(set)
		}
	}
	return world{&m, maps.Clone(w.open), maps.Clone(w.tickets), w.discarded}
}

// bar marks the tickets that what happens to a rank bars.
func (w *world) bar(which func(WorkerRank) bool, stores, matches, retired bool) {
	for id, t := range w.tickets {
		if which(t.at) {
			t.late = t.late || retired || stores && !t.match
			t.doubtful = t.doubtful || matches && t.match
			w.tickets[id] = t
		}
	}
}

// step is what a sequential index does.
func (w *world) step(a asked) (o answered) {
	here := func(at WorkerRank) bool { return at == a.at }
	theirs := func(at WorkerRank) bool { return (happening{member: a.member}).covers(at) }
	switch a.what {
	case "admit":
		w.tickets[a.id] = admitted{asked: a, late: w.open[a.at] != a.incarnation}
	case "apply":
		t := w.tickets[a.id]
		delete(w.tickets, a.id)
		switch {
		case t.late, t.doubtful && !isHeld(t.at, t.blocks[0]):
			o.Result = tooLate
			w.discarded++
		case t.match:
			o.Changed = w.match(0, Match{Session: t.session, At: t.at, Block: t.blocks[0]})
		default:
			var refused *BlockError
			if o.Changed, refused = w.store(0, Store{Session: t.session, At: t.at, Parent: t.parent, Blocks: t.blocks}); refused != nil {
				o.Refused = *refused
			}
		}
	case "evict":
		w.bar(here, false, true, false)
		o.Lost = w.remove(0, a.at, a.blocks)
	case "clear":
		w.bar(here, true, true, false)
		o.Lost = w.clear(0, here)
	case "retire":
		w.bar(theirs, true, true, true)
		for at := range w.open {
			if theirs(at) {
				delete(w.open, at)
			}
		}
		o.Lost = w.clear(0, theirs)
	case "open":
		for _, at := range smallRanks {
			if theirs(at) {
				w.open[at] = a.incarnation
			}
		}
	case "frontiers":
		o.Frontiers = w.frontiers(a.session)
	case "lineages":
		o.Chains = w.lineages(a.session, a.at)
	case "counts":
		o.Counts = Counts{len(w.known), len(w.has)}
	case "discarded":
		o.Discarded = w.discarded
	}
	return o
}

// text tells states apart.
func (w world) text() string {
	text, err := json.Marshal(struct {
		State     State
		Tickets   map[int][2]bool
		Open      map[string]string
		Discarded uint64
	}{w.dump(), func() map[int][2]bool {
		out := map[int][2]bool{}
		for id, t := range w.tickets {
			out[id] = [2]bool{t.late, t.doubtful}
		}
		return out
	}(), func() map[string]string {
		out := map[string]string{}
		for at, name := range w.open {
			out[at.String()] = name
		}
		return out
	}(), w.discarded})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// crowd is some goroutines that ask one index, and what they were answered.
type crowd struct {
	Indexer
	ctx     context.Context
	mu      sync.Mutex
	history []porcupine.Operation
	clock   atomic.Int64
	tickets atomic.Int64
	names   map[string]*atomic.Int64 // of workers' latest incarnations
}

func (c *crowd) note(client int, a asked, ask func() (answered, error)) {
	called := c.clock.Add(1)
	o, err := ask()
	c.keep(client, a, called, c.clock.Add(1), o, err)
}

func (c *crowd) keep(client int, a asked, called, returned int64, o answered, err error) {
	if err != nil {
		panic(err) // nothing fails here
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, porcupine.Operation{ClientId: client, Input: a, Call: called, Output: o, Return: returned})
}

// tell admits an event and applies it.
func (c *crowd) tell(client int, a asked, pause bool) {
	a.id = int(c.tickets.Add(1))
	a.what = "admit"
	var t Ticket
	c.note(client, a, func() (answered, error) {
		if a.match {
			t = c.AdmitMatch(Match{Session: a.session, At: a.at, Block: a.blocks[0], Incarnation: a.incarnation})
		} else {
			t = c.AdmitStore(Store{Session: a.session, At: a.at, Parent: a.parent, Blocks: a.blocks, Incarnation: a.incarnation})
		}
		return answered{}, nil
	})
	if pause {
		runtime.Gosched()
	}
	c.note(client, asked{what: "apply", id: a.id}, func() (o answered, err error) {
		o.Result, err = t.Apply(c.ctx)
		if refused, ok := err.(*BlockError); ok { //nolint:errorlint // nothing wraps it here
			o.Refused, err = *refused, nil
		}
		return o, err
	})
}

// ask lets one goroutine ask something at random. Worker w and worker v have one client
// each that lets them go and come again, as their discovery would.
func (c *crowd) ask(client int, dice *rand.Rand, ends *int) {
	at := smallRanks[dice.IntN(bitRanks)]
	a := asked{session: smallSessions[1+dice.IntN(3)], at: at, blocks: []Hash{Hash(1 + dice.IntN(5))}}
	switch n := dice.IntN(12); {
	case n < 4:
		a.incarnation = fmt.Sprint(c.names[at.Worker].Load())
		if dice.IntN(2) == 0 {
			a.parent = Under(Hash(1 + dice.IntN(5)))
		}
		if dice.IntN(2) == 0 {
			a.blocks = append(a.blocks, Hash(1+dice.IntN(5)))
		}
		c.tell(client, a, dice.IntN(2) == 0)
	case n < 6:
		a.incarnation, a.match = fmt.Sprint(c.names[at.Worker].Load()), true
		c.tell(client, a, dice.IntN(2) == 0)
	case n == 6 && client < 2:
		worker := []string{"w", "v"}[client]
		a = asked{what: "retire", member: whole(worker)}
		called := c.clock.Add(1)
		removal := c.BeginRemoval(a.member)
		returned := c.clock.Add(1) // it has happened, although it is not known yet how many have lost something
		runtime.Gosched()
		lost, err := removal.Await(c.ctx)
		c.keep(client, a, called, returned, answered{Lost: lost}, err)
		a.what, a.incarnation = "open", fmt.Sprint(c.names[worker].Add(1))
		c.note(client, a, func() (answered, error) { return answered{}, c.Register(c.ctx, a.member, a.incarnation) })
	case n == 7 && *ends > 0: // few, so that no match is asked about too often
		*ends--
		a.what = "evict"
		c.note(client, a, func() (o answered, err error) { o.Lost, err = c.Remove(c.ctx, at, a.blocks); return o, err })
	case n == 8 && *ends > 0:
		*ends--
		a.what = "clear"
		c.note(client, a, func() (o answered, err error) { o.Lost, err = c.Clear(c.ctx, at); return o, err })
	case n == 9:
		a.what = "lineages"
		c.note(client, a, func() (answered, error) { return answered{Chains: c.Lineages(a.session, at)}, nil })
	case n == 10:
		a.what = "counts"
		c.note(client, a, func() (answered, error) { return answered{Counts: c.Counts()}, nil })
	default:
		a.what = "frontiers"
		c.note(client, a, func() (answered, error) { return answered{Frontiers: c.Frontiers(a.session)}, nil })
	}
}

// crowded lets a crowd ask an index and says whether some order explains the answers.
func crowded(t *testing.T, around func(Indexer) Indexer, seed, round uint64) porcupine.CheckResult {
	t.Helper()
	const clients, each = 4, 7
	r := newRig(t, Config{Sessions: 2})
	// Others get their turn while the index has its lock, and while it has none.
	r.clock.looked, r.physical.asked = runtime.Gosched, runtime.Gosched
	begin := world{model: newModel(Config{Sessions: 2, Retention: DefaultRetention}), open: map[WorkerRank]string{}, tickets: map[int]admitted{}}
	for _, at := range smallRanks {
		begin.open[at] = "0"
		r.physical.holds(at, slices.DeleteFunc([]Hash{1, 2, 3, 4, 5}, func(b Hash) bool { return !isHeld(at, b) })...)
	}
	r.register(whole("w"), "0")
	r.register(whole("v"), "0")
	c := &crowd{Indexer: around(r.Index), ctx: t.Context(), names: map[string]*atomic.Int64{"w": {}, "v": {}}}
	var work sync.WaitGroup
	for client := range clients {
		work.Go(func() {
			dice, ends := rand.New(rand.NewPCG(seed, round*clients+uint64(client))), confirmations/clients
			for range each {
				c.ask(client, dice, &ends)
				if dice.IntN(3) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	work.Wait()
	if err := audit(r.core); err != nil {
		t.Errorf("seed %d, round %d: %v", seed, round, err)
	}
	c.note(0, asked{what: "counts"}, func() (answered, error) { return answered{Counts: c.Counts()}, nil })
	c.note(0, asked{what: "discarded"}, func() (answered, error) { return answered{Discarded: c.Discarded()}, nil })
	return porcupine.CheckOperationsTimeout(porcupine.Model{
		Init: func() any { return begin },
		Step: func(state, input, output any) (bool, any) {
			w := state.(world).clone()
			return reflect.DeepEqual(w.step(input.(asked)), output), w
		},
		Equal: func(a, b any) bool { return a.(world).text() == b.(world).text() },
	}, c.history, time.Minute)
}

func TestWhatManyAskAtOnceIsAnsweredAsInSomeOrder(t *testing.T) {
	rounds, seed := uint64(400), rand.Uint64()
	if raceDetector || testing.Short() {
		rounds = 60
	}
	for round := range rounds {
		if got := crowded(t, func(x Indexer) Indexer { return x }, seed, round); got != porcupine.Ok || t.Failed() {
			t.Fatalf("seed %d, round %d: no order explains what was answered (%v)", seed, round, got)
		}
	}
}
