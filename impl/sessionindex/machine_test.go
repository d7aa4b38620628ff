package sessionindex

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// machine drives the core and the model side by side over so few blocks, sessions and
// ranks that chains meet, conflict, close cycles and are grafted all the time.
type machine struct {
	core  *Core
	model *model
	now   time.Duration
	text  string // the core's dump after the latest step
}

const (
	retention = 5
	blocks    = 9
)

func newMachine(t interface{ Fatal(...any) }, sessions int) *machine {
	c := Config{Sessions: sessions, Retention: retention}
	core, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{core: core, model: newModel(c)}
	m.text = dumpText(core.Dump())
	return m
}

func dumpText(s State) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// check compares whole states and audits the core's own books. It reads a copy, so that
// what the core has left for later stays so.
func (m *machine) check(t *rapid.T) {
	m.text = dumpText(clone(m.core).Dump())
	if want := dumpText(m.model.dump()); m.text != want {
		t.Fatalf("the index holds\n%s\nwant\n%s", m.text, want)
	}
	if want := (Counts{len(m.model.known), len(m.model.has)}); m.core.Counts() != want {
		t.Fatalf("Counts() = %+v, want %+v", m.core.Counts(), want)
	}
	if err := audit(m.core); err != nil {
		t.Fatal(err)
	}
}

var (
	genHash    = rapid.Map(rapid.IntRange(1, blocks), func(n int) Hash { return Hash(n) })
	genSession = rapid.SampledFrom([]string{"", "s", "t", "u", strings.Repeat("é", 128), strings.Repeat("é", 128) + "x"})
	genRank    = rapid.SampledFrom([]WorkerRank{{"w", 0}, {"w", 1}, {"v", 0}})
	genWorker  = rapid.SampledFrom([]string{"w", "v"})
)

func (m *machine) store(t *rapid.T) {
	s := Store{Session: genSession.Draw(t, "session"), At: genRank.Draw(t, "at"), Blocks: rapid.SliceOfN(genHash, 0, 4).Draw(t, "blocks")}
	if rapid.IntRange(0, 3).Draw(t, "parent given") > 0 {
		s.Parent = Under(genHash.Draw(t, "parent"))
	}
	changed, err := m.core.Store(m.now, s)
	want, refused := m.model.store(m.now, s)
	var got *BlockError
	errors.As(err, &got)
	if changed != want || !reflect.DeepEqual(got, refused) {
		t.Fatalf("Store(%+v) = %v, %v; want %v, %v", s, changed, err, want, refused)
	}
	if refused != nil || len(s.Blocks) == 0 || len(s.Session) > MaxSessionBytes {
		if now := dumpText(clone(m.core).Dump()); now != m.text {
			t.Fatalf("Store(%+v), which changes nothing, made\n%s\nof\n%s", s, now, m.text)
		}
	}
}

// grow stores at a place where the store is likely to be accepted.
func (m *machine) grow(t *rapid.T) {
	s := Store{Session: genSession.Draw(t, "session"), At: genRank.Draw(t, "at")}
	for _, h := range rapid.SliceOfNDistinct(genHash, 1, 3, rapid.ID).Draw(t, "blocks") {
		if p, ok := m.model.known[h]; !ok || !p.given {
			s.Blocks = append(s.Blocks, h)
		}
	}
	if len(m.model.known) > 0 {
		var known []Hash
		for _, b := range m.model.dump().Blocks {
			known = append(known, b.Hash)
		}
		s.Parent = Under(rapid.SampledFrom(known).Draw(t, "parent"))
	}
	changed, err := m.core.Store(m.now, s)
	if want, refused := m.model.store(m.now, s); changed != want || (err != nil) != (refused != nil) {
		t.Fatalf("Store(%+v) = %v, %v; want %v, %v", s, changed, err, want, refused)
	}
}

func (m *machine) match(t *rapid.T) {
	a := Match{Session: genSession.Draw(t, "session"), At: genRank.Draw(t, "at"), Block: genHash.Draw(t, "block")}
	if got, want := m.core.Match(m.now, a), m.model.match(m.now, a); got != want {
		t.Fatalf("Match(%+v) = %v, want %v", a, got, want)
	}
}

func (m *machine) remove(t *rapid.T) {
	at, gone := genRank.Draw(t, "at"), rapid.SliceOfN(genHash, 0, 3).Draw(t, "blocks")
	if got, want := m.core.Remove(m.now, at, gone), m.model.remove(m.now, at, gone); got != want {
		t.Fatalf("Remove(%v, %v) = %d, want %d", at, gone, got, want)
	}
}

func (m *machine) clearRank(t *rapid.T) {
	at := genRank.Draw(t, "at")
	want := m.model.clear(m.now, func(w WorkerRank) bool { return w == at })
	if got := m.core.ClearRank(m.now, at); got != want {
		t.Fatalf("ClearRank(%v) = %d, want %d", at, got, want)
	}
}

func (m *machine) clearWorker(t *rapid.T) {
	worker := genWorker.Draw(t, "worker")
	want := m.model.clear(m.now, func(w WorkerRank) bool { return w.Worker == worker })
	if got := m.core.ClearWorker(m.now, worker); got != want {
		t.Fatalf("ClearWorker(%q) = %d, want %d", worker, got, want)
	}
}

// pass lets time go on, or back, and sometimes tells nobody until the next write.
func (m *machine) pass(t *rapid.T) {
	m.now += time.Duration(rapid.IntRange(-1, retention).Draw(t, "ticks"))
	if rapid.Bool().Draw(t, "tell") {
		m.core.Advance(m.now)
		m.model.end(m.now)
	}
}

func (m *machine) read(t *rapid.T) {
	id, at, anchor := genSession.Draw(t, "session"), genRank.Draw(t, "at"), genHash.Draw(t, "anchor")
	if got, want := m.core.Frontiers(id), m.model.frontiers(id); !slices.Equal(got, want) {
		t.Fatalf("Frontiers(%q) = %v, want %v", id, got, want)
	}
	want := m.model.lineages(id, at)
	if got := m.core.Lineages(id, at); !reflect.DeepEqual(got, want) {
		t.Fatalf("Lineages(%q, %v) = %v, want %v", id, at, got, want)
	}
	var from [][]Hash
	for _, chain := range want {
		if i := slices.Index(chain, anchor); i >= 0 {
			from = append(from, chain[i:])
		}
	}
	got, err := m.core.LineagesFrom(id, at, anchor)
	if _, known := m.model.known[anchor]; known != (err == nil) || !known && !errors.Is(err, ErrUnknownAnchor) || !reflect.DeepEqual(got, from) {
		t.Fatalf("LineagesFrom(%q, %v, %v) = %v, %v; want %v", id, at, anchor, got, err, from)
	}
}

func TestTheIndexIsAlwaysWhatTheDecisionSays(t *testing.T) {
	for range 8 { // a hundred runs each, unless a flag says otherwise
		rapid.Check(t, sideBySide)
	}
}

func sideBySide(t *rapid.T) {
	m := newMachine(t, rapid.IntRange(1, 4).Draw(t, "sessions"))
	t.Repeat(map[string]func(*rapid.T){
		"":             m.check,
		"store":        m.store,
		"store more":   m.store,
		"grow":         m.grow,
		"grow more":    m.grow,
		"match":        m.match,
		"remove":       m.remove,
		"clear rank":   m.clearRank,
		"clear worker": m.clearWorker,
		"pass":         m.pass,
		"read":         m.read,
	})
}
