package model

import (
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/script"
)

const ttl = 10 * time.Second

var (
	w1, w2   = script.At("w1"), script.At("w2")
	w1r0     = script.On("w1", 0)
	w1r1     = script.On("w1", 1)
	two      = []script.Worker{{ID: "w1", Ranks: 2}, {ID: "w2", Ranks: 2}}
	plainly  = script.Config{IdleTTL: ttl}
	noRoom   = script.Fails(script.ResourceExhausted)
	left     = script.Fails(script.Cancelled)
	tooLate  = script.Fails(script.Unavailable)
	initial  = script.Initializes
	done     = script.Done
	unbound  = script.Unbound
	s, other = script.S("s"), script.S("t")
)

func small(places int, full string) script.Config {
	return script.Config{IdleTTL: ttl, Capacity: places, AtCapacity: full}
}

// conversation is a script whose first wants are how its steps went.
type conversation struct{ *script.Script }

func begin(c script.Config) conversation {
	t := conversation{script.New(c, two...)}
	return t
}

// bind adds a session that is bound and idle.
func (t conversation) bind(name string, a script.Ask, at script.Where) {
	t.Acquire(name, a).Is(initial)
	t.Commit(name, at).Is(done)
	t.Release(name).Is(done)
}

// follow says what is different, and in which step.
func (t conversation) follow() (*Difference, int) {
	m := New(t.Config)
	waiting := map[string]bool{}
	at := 0
	for _, group := range script.Groups(t.Steps) {
		var turns []script.Turn
		for _, st := range group {
			turn := script.Turn{Step: st.Name}
			for _, w := range st.Wants {
				delete(waiting, w.Name)
				if len(w.AnyOf) == 0 {
					waiting[w.Name] = true
					continue
				}
				turn.Answers = append(turn.Answers, script.Answer{Name: w.Name, Outcome: w.AnyOf[0]})
			}
			for name := range waiting {
				turn.Waiting = append(turn.Waiting, name)
			}
			turns = append(turns, turn)
		}
		if d := m.Follow(group, turns); d != nil {
			return d, at + d.At
		}
		at += len(group)
	}
	return nil, 0
}

func TestFollowTellsWhatTheRulesAllow(t *testing.T) {
	for name, c := range map[string]struct {
		config script.Config
		went   func(t conversation)
		good   bool // else its last step goes wrong
	}{
		"a first turn initializes":            {plainly, func(t conversation) { t.Acquire("a", s).Is(initial) }, true},
		"a first turn is bound":               {plainly, func(t conversation) { t.Acquire("a", s).Is(script.Bound(w1)) }, false},
		"a later turn follows":                {plainly, func(t conversation) { t.bind("a", s, w1); t.Acquire("b", s).Is(script.Bound(w1)) }, true},
		"a later turn goes elsewhere":         {plainly, func(t conversation) { t.bind("a", s, w1); t.Acquire("b", s).Is(script.Bound(w2)) }, false},
		"a second first turn waits":           {plainly, func(t conversation) { t.Acquire("a", s).Is(initial); t.Acquire("b", s).Waits() }, true},
		"a second initializer":                {plainly, func(t conversation) { t.Acquire("a", s).Is(initial); t.Acquire("b", s).Is(initial) }, false},
		"the first of two inherits":           {plainly, heirs("b"), true},
		"the second of two inherits":          {plainly, heirs("c"), true},
		"nobody inherits":                     {plainly, heirs(""), false},
		"both inherit":                        {plainly, heirs("b", "c"), false},
		"it lapses at its deadline":           {plainly, after(ttl, unbound), true},
		"it holds at its deadline":            {plainly, after(ttl, script.Bound(w1)), false},
		"it holds before its deadline":        {plainly, after(ttl-time.Millisecond, script.Bound(w1)), true},
		"it lapses before its deadline":       {plainly, after(ttl-time.Millisecond, unbound), false},
		"a full table refuses":                {small(1, "refuse"), full(noRoom), true},
		"a full table that should evict":      {small(1, "evict"), full(noRoom), false},
		"a full table evicts":                 {small(1, "evict"), full(initial), true},
		"a full table lets pass":              {small(1, "unpinned"), full(script.Unpinned), true},
		"a full table takes one more":         {small(1, "refuse"), full(initial), false},
		"either of two equals goes":           {small(2, "evict"), evicted("a", "b"), true},
		"the other of two equals goes":        {small(2, "evict"), evicted("b", "a"), true},
		"both of two equals go":               {small(2, "evict"), func(t conversation) { evicted("a", "b")(t); t.Query(script.S("b")).Is(unbound) }, false},
		"a contradicting pin is refused":      {plainly, func(t conversation) { t.bind("a", s, w1); t.Acquire("b", s.Pinned(w2)).Is(invalid) }, true},
		"a contradicting pin is ignored":      {plainly, func(t conversation) { t.bind("a", s, w1); t.Acquire("b", s.Pinned(w2)).Is(script.Bound(w1)) }, false},
		"a pin gets the bound rank":           {plainly, func(t conversation) { t.bind("a", s, w1r0); t.Acquire("b", s.Pinned(w1)).Is(script.Bound(w1r0)) }, true},
		"a pin loses the bound rank":          {plainly, func(t conversation) { t.bind("a", s, w1r0); t.Acquire("b", s.Pinned(w1)).Is(script.Bound(w1)) }, false},
		"a rank where none is bound, served":  {plainly, func(t conversation) { t.bind("a", s, w1); t.Acquire("b", s.Pinned(w1r1)).Is(script.Bound(w1r1)) }, true},
		"a rank where none is bound, refused": {plainly, func(t conversation) { t.bind("a", s, w1); t.Acquire("b", s.Pinned(w1r1)).Is(invalid) }, true},
		"and then it is bound to it": {plainly, func(t conversation) {
			t.bind("a", s, w1)
			t.Acquire("b", s.Pinned(w1r1)).Is(script.Bound(w1r1))
			t.Query(s).Is(script.Bound(w1r1))
		}, false},
		"a client that leaves": {plainly, func(t conversation) {
			t.Acquire("a", s).Is(initial)
			t.Acquire("b", s).Waits()
			t.Cancel("b").And("b", left)
		}, true},
		"a client that leaves and stays": {plainly, func(t conversation) { t.Acquire("a", s).Is(initial); t.Acquire("b", s).Waits(); t.Cancel("b") }, false},
		"a wait that is too long": {plainly, func(t conversation) {
			t.Acquire("a", s).Is(initial)
			t.Acquire("b", s).Waits()
			t.Advance(defaultWait).And("b", tooLate)
		}, true},
		"a wait that goes on":       {plainly, func(t conversation) { t.Acquire("a", s).Is(initial); t.Acquire("b", s).Waits(); t.Advance(defaultWait) }, false},
		"a dead worker's session":   {plainly, func(t conversation) { t.bind("a", s, w1); t.Live(two[1]); t.Acquire("b", s).Is(initial) }, true},
		"a dead worker is followed": {plainly, func(t conversation) { t.bind("a", s, w1); t.Live(two[1]); t.Acquire("b", s).Is(script.Bound(w1)) }, false},
		"a worker that is back": {plainly, func(t conversation) {
			t.bind("a", s, w1)
			t.Live(two[1])
			t.Live(two...)
			t.Query(s).Is(script.Bound(w1))
		}, true},
		"an exact count":              {plainly, func(t conversation) { t.Acquire("a", s).Is(initial); t.Count().Is(script.Holds(1, 1)) }, true},
		"a leaking count":             {plainly, func(t conversation) { t.bind("a", s, w1); t.Count().Is(script.Holds(1, 1)) }, false},
		"an id that is too long":      {plainly, func(t conversation) { t.Acquire("a", script.S(strings.Repeat("é", 129))).Is(invalid) }, true},
		"a rank of no worker":         {plainly, func(t conversation) { t.Query(s.Pinned(script.On("", 0))).Is(invalid) }, true},
		"an old lease's failure":      {plainly, func(t conversation) { replaced(t); t.Invalidate("b").Is(done); t.Query(s).Is(script.Bound(w2)) }, true},
		"an old lease's failure hits": {plainly, func(t conversation) { replaced(t); t.Invalidate("b").Is(done); t.Query(s).Is(unbound) }, false},
		"a setting out of range":      {plainly, func(t conversation) { t.Create(script.Config{IdleTTL: time.Millisecond}).Is(invalid) }, true},
		"a setting that is clamped":   {plainly, func(t conversation) { t.Create(script.Config{IdleTTL: time.Millisecond}).Is(done) }, false},
		"a lease that there is not":   {plainly, func(t conversation) { t.Release("nobody's").Is(done) }, false},
		"another session":             {plainly, func(t conversation) { t.bind("a", s, w1); t.Query(other).Is(unbound) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			v := begin(c.config)
			c.went(v)
			d, at := v.follow()
			if (d == nil) != c.good {
				t.Fatalf("difference %+v", d)
			}
			if d != nil && (at != len(v.Steps)-1 || d.Expected == "" || d.Observed == "") {
				t.Errorf("step %d of %d: %+v", at+1, len(v.Steps), d)
			}
		})
	}
}

func heirs(names ...string) func(conversation) {
	return func(t conversation) {
		t.Acquire("a", s).Is(initial)
		t.Acquire("b", s).Waits()
		t.Acquire("c", s).Waits()
		st := t.Release("a").Is(done)
		for _, n := range names {
			if n != "" {
				st.And(n, initial)
			}
		}
	}
}

func after(by time.Duration, then script.Outcome) func(conversation) {
	return func(t conversation) { t.bind("a", s, w1); t.Advance(by); t.Query(s).Is(then) }
}

func full(then script.Outcome) func(conversation) {
	return func(t conversation) { t.bind("a", s, w1); t.Acquire("b", other).Is(then) }
}

func evicted(gone, stays string) func(conversation) {
	return func(t conversation) {
		t.bind("1", script.S("a"), w1)
		t.bind("2", script.S("b"), w1)
		t.Acquire("3", script.S("c")).Is(initial)
		t.Query(script.S(gone)).Is(unbound)
		if stays != "b" || gone != "a" {
			t.Query(script.S(stays)).Is(script.Bound(w1))
		}
	}
}

// replaced leaves lease b of a binding that was ended, and a newer binding to w2.
func replaced(t conversation) {
	t.Acquire("a", s).Is(initial)
	t.Commit("a", w1).Is(done)
	t.Acquire("b", s).Is(script.Bound(w1))
	t.Invalidate("a").Is(done)
	t.bind("c", s, w2)
}
