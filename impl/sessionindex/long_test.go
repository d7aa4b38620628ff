package sessionindex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestManyRandomOperations runs indexes that are so small that everything meets
// everything, one after another beside the model in bits, and compares every answer and
// after every operation the whole state. ROUTEPROOF_INDEX_OPS is how many operations
// (two million, if it is not set), ROUTEPROOF_INDEX_SEED the seed of a run to repeat.
func TestManyRandomOperations(t *testing.T) {
	total, seed := uint64(2_000_000), rand.Uint64()
	if raceDetector || testing.Short() {
		total = 100_000
	}
	for name, into := range map[string]*uint64{"ROUTEPROOF_INDEX_OPS": &total, "ROUTEPROOF_INDEX_SEED": &seed} {
		if text := os.Getenv(name); text != "" {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatalf("%s=%q: want a whole number", name, text)
			}
			*into = n
		}
	}
	t.Logf("ROUTEPROOF_INDEX_SEED=%d", seed)
	begin := time.Now()
	var next, done atomic.Uint64
	var failed atomic.Bool
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			for !failed.Load() && done.Load() < total {
				nth := next.Add(1)
				if n, err := newSmall(seed, nth).run(nil); err != nil {
					failed.Store(true)
					var log []string
					_, _ = newSmall(seed, nth).run(&log)
					t.Errorf("index %d, operation %d: %v\n%s", nth, n, err, strings.Join(log, "\n"))
				}
				if now, was := done.Add(smallOps), done.Load(); now/100_000_000 != (now-smallOps)/100_000_000 && was > 0 {
					t.Logf("%d operations so far, %v", now, time.Since(begin).Round(time.Second))
				}
			}
		})
	}
	work.Wait()
	t.Logf("%d operations on %d indexes, %.0f a second, no difference: %v", done.Load(), next.Load(), float64(done.Load())/time.Since(begin).Seconds(), !failed.Load())
}

// smallOps is how many operations one index sees.
const smallOps = 1000

var (
	smallSessions = [bitSessions]string{"", "s", "t", strings.Repeat("é", 128), strings.Repeat("é", 128) + "x"}
	smallRanks    = [bitRanks]WorkerRank{{"w", 0}, {"w", 1}, {"v", 0}}
)

// small is a core beside a model, and the choices of what happens to them.
type small struct {
	*rand.Rand
	core   *Core
	model  *bitModel
	blocks int // that there are
	now    time.Duration
	buffer [6]Hash
	what   string // the operation, if somebody wants to know
	tell   bool
}

func newSmall(seed, nth uint64) *small {
	r := rand.New(rand.NewPCG(seed, nth))
	c := Config{Sessions: 1 + r.IntN(4), Retention: time.Duration(1 + r.IntN(8))}
	core, err := New(c)
	if err != nil {
		panic(err)
	}
	blocks := 3 + r.IntN(9)
	if r.IntN(16) == 0 {
		blocks = 64
	}
	return &small{Rand: r, core: core, model: &bitModel{limit: c.Sessions, retention: c.Retention}, blocks: blocks}
}

func (s *small) run(log *[]string) (n int, err error) {
	s.tell = log != nil
	for n := range smallOps {
		err := s.step()
		if log != nil {
			*log = append(*log, s.what)
		}
		if err == nil {
			err = s.compare()
		}
		if err == nil && n%256 == 255 {
			err = audit(s.core)
		}
		if err != nil {
			return n, err
		}
	}
	return smallOps, nil
}

func (s *small) note(format string, args ...any) {
	if s.tell {
		s.what = fmt.Sprintf(format, args...)
	}
}

func (s *small) hash() Hash { return Hash(s.IntN(s.blocks)) }

func (s *small) hashes(most int) []Hash {
	b := s.buffer[:s.IntN(most+1)]
	for i := range b {
		b[i] = s.hash()
	}
	return b
}

// step does one thing to both.
func (s *small) step() error {
	session, rank := s.IntN(bitSessions), s.IntN(bitRanks)
	if session == bitSessions-1 { // seldom, for nothing comes of it
		session = s.IntN(bitSessions)
	}
	id, at := smallSessions[session], smallRanks[rank]
	switch dice := s.IntN(100); {
	case dice < 25:
		var parent Parent
		if s.IntN(4) > 0 {
			parent = Under(s.hash())
		}
		return s.store(session, rank, parent, s.hashes(4))
	case dice < 55: // where it is likely to be accepted
		blocks := s.buffer[:0]
		var taken set
		for range 1 + s.IntN(4) {
			if h := s.hash(); !taken.holds(h) && !(s.model.known.holds(h) && s.model.parent[h].given) {
				blocks, taken = append(blocks, h), taken|one(h)
			}
		}
		var parent Parent
		if from := s.hash(); s.model.known != 0 && s.IntN(8) > 0 {
			for !s.model.known.holds(from) {
				from = (from + 1) % 64
			}
			parent = Under(from)
		}
		return s.store(session, rank, parent, blocks)
	case dice < 67:
		b := s.hash()
		s.note("match %q %v %v at %d", id, at, b, s.now)
		return differ("changed", s.core.Match(s.now, Match{Session: id, At: at, Block: b}), s.model.match(s.now, session, rank, b))
	case dice < 77:
		gone := s.hashes(3)
		s.note("remove %v %v at %d", at, gone, s.now)
		return differ("hit", s.core.Remove(s.now, at, gone), s.model.remove(s.now, rank, gone))
	case dice < 81:
		s.note("clear %v at %d", at, s.now)
		return differ("dropped", s.core.ClearRank(s.now, at), s.model.clear(s.now, rank))
	case dice < 82:
		s.note("clear worker %q at %d", at.Worker, s.now)
		ranks := []int{0, 1}
		if at.Worker == "v" {
			ranks = []int{2}
		}
		return differ("dropped", s.core.ClearWorker(s.now, at.Worker), s.model.clear(s.now, ranks...))
	case dice < 90:
		s.now += time.Duration(s.IntN(5) - 1)
		if s.IntN(2) == 0 {
			s.note("advance to %d", s.now)
			s.core.Advance(s.now)
			s.model.end(s.now)
		} else {
			s.note("time is %d", s.now)
		}
		return nil
	}
	return s.read(session, rank)
}

func (s *small) store(session, rank int, parent Parent, blocks []Hash) error {
	e := Store{Session: smallSessions[session], At: smallRanks[rank], Parent: parent, Blocks: blocks}
	s.note("store %+v at %d", e, s.now)
	changed, err := s.core.Store(s.now, e)
	want, refused := s.model.store(s.now, session, rank, parent, blocks)
	var got *BlockError
	if err != nil && !errors.As(err, &got) || (got == nil) != (refused == nil) || got != nil && *got != *refused {
		return fmt.Errorf("the error is %v, want %v", err, refused)
	}
	return differ("changed", changed, want)
}

func (s *small) read(session, rank int) error {
	id, at, anchor := smallSessions[session], smallRanks[rank], s.hash()
	s.note("read %q %v %v", id, at, anchor)
	var want []Frontier
	for _, r := range []int{2, 0, 1} {
		for h := range s.model.deepest(s.model.has[session][r]).all() {
			want = append(want, Frontier{smallRanks[r], h})
		}
	}
	if got := s.core.Frontiers(id); !slices.Equal(got, want) {
		return fmt.Errorf("the frontiers are %v, want %v", got, want)
	}
	var chains, from [][]Hash
	for h := range s.model.deepest(s.model.has[session][rank]).all() {
		var chain []Hash
		for at := Under(h); at.given; at = s.model.parent[at.hash] {
			chain = append(chain, at.hash)
		}
		slices.Reverse(chain)
		chains = append(chains, chain)
		if i := slices.Index(chain, anchor); i >= 0 {
			from = append(from, chain[i:])
		}
	}
	if got := s.core.Lineages(id, at); !reflect.DeepEqual(got, chains) {
		return fmt.Errorf("the lineages are %v, want %v", got, chains)
	}
	got, err := s.core.LineagesFrom(id, at, anchor)
	if (err == nil) != s.model.known.holds(anchor) || !reflect.DeepEqual(got, from) {
		return fmt.Errorf("the lineages from %v are %v, %v; want %v", anchor, got, err, from)
	}
	return nil
}

func differ[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v, want %v", what, got, want)
	}
	return nil
}

// compare looks at the core's own records, so that what it has left for later stays so.
func (s *small) compare() error {
	c, m := s.core, s.model
	if err := differ("the number of blocks", c.Counts(), Counts{m.known.size(), len(m.used)}); err != nil {
		return err
	}
	for h := range m.known.all() {
		n := c.byHash[h]
		if n == 0 {
			return fmt.Errorf("block %v is not known", h)
		}
		nd := c.nodes.at(n)
		var parent Parent
		if nd.parent != 0 {
			parent = Under(c.nodes.at(nd.parent).hash)
		}
		if parent != m.parent[h] || nd.phantom != m.phantom.holds(h) || nd.idle != m.idle.holds(h) || nd.idle && nd.idleSince != m.idleSince[h] {
			return fmt.Errorf("block %v is %+v under %v; want parent %v, phantom %v, idle %v since %v", h, *nd, parent,
				m.parent[h], m.phantom.holds(h), m.idle.holds(h), m.idleSince[h])
		}
	}
	at := c.oldest
	for _, session := range m.used {
		if at == 0 || c.sessions.at(at).id != smallSessions[session] {
			return fmt.Errorf("the sessions are not, by use, %v", m.used)
		}
		have := [bitRanks]set{}
		for id := c.sessions.at(at).claims; id != 0; id = c.claims.at(id).sessionNext {
			cl := c.claims.at(id)
			rank := slices.Index(smallRanks[:], c.ranks.at(cl.rank).at)
			var above set
			for _, n := range cl.frontiers {
				h := c.nodes.at(n).hash
				have[rank] |= one(h)
				above |= m.path(h) &^ one(h)
			}
			if above&have[rank] != 0 && cl.grafts == c.grafts {
				return fmt.Errorf("the frontiers of %q are no antichain, and nobody knows", smallSessions[session])
			}
			have[rank] &^= above
		}
		for r := range have {
			if want := m.deepest(m.has[session][r]); have[r] != want {
				return fmt.Errorf("the frontiers of %q on %v are %b, want %b", smallSessions[session], smallRanks[r], have[r], want)
			}
		}
		at = c.sessions.at(at).newer
	}
	return nil
}
