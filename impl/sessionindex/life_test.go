package sessionindex

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func frontiers(t *testing.T, c *Core, session string, want ...Frontier) {
	t.Helper()
	if got := c.Frontiers(session); !reflect.DeepEqual(got, want) {
		t.Errorf("the frontiers of %q are %v, want %v", session, got, want)
	}
}

func lineages(t *testing.T, c *Core, session string, at WorkerRank, want ...[]Hash) {
	t.Helper()
	if got := c.Lineages(session, at); !reflect.DeepEqual(got, want) {
		t.Errorf("the lineages of %q on %v are %v, want %v", session, at, got, want)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func match(c *Core, session string, at WorkerRank, h Hash) bool {
	return c.Match(0, Match{Session: session, At: at, Block: h})
}

func TestLife(t *testing.T) {
	for name, run := range map[string]func(t *testing.T, c *Core){
		"a second match of a block changes nothing": func(t *testing.T, c *Core) {
			equal(t, "first", match(c, "s", w0, 1), true)
			equal(t, "second", match(c, "s", w0, 1), false)
			equal(t, "counts", c.Counts(), Counts{1, 1})
			lineages(t, c, "s", w0, []Hash{1})
		},
		"a match above a frontier changes nothing for that session only": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2, 3)
			equal(t, "own", match(c, "s", w0, 2), false)
			equal(t, "another session's", match(c, "t", w0, 2), true)
			lineages(t, c, "s", w0, []Hash{1, 2, 3})
			lineages(t, c, "t", w0, []Hash{1, 2})
		},
		"branches are frontiers beside each other": func(t *testing.T, c *Core) {
			match(c, "s", w0, 1)
			store(t, c, "s", w0, Under(1), 2)
			store(t, c, "s", w0, Under(1), 3)
			lineages(t, c, "s", w0, []Hash{1, 2}, []Hash{1, 3})
		},
		"an unknown parent is a phantom until somebody stores or matches it": func(t *testing.T, c *Core) {
			match(c, "s", w0, 2)
			equal(t, "store", store(t, c, "s", w0, Under(1), 2), false)
			equal(t, "blocks", c.Counts().Blocks, 2)
			lineages(t, c, "s", w0, []Hash{1, 2})
			equal(t, "hit", c.Remove(0, w0, []Hash{2}), 1)
			frontiers(t, c, "s")
			match(c, "s", w0, 2)
			match(c, "t", w1, 1)
			equal(t, "hit again", c.Remove(0, w0, []Hash{2}), 1)
			frontiers(t, c, "s", Frontier{w0, 1})
		},
		"a graft by somebody else leaves no frontier above another": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2, 3)
			store(t, c, "s", w0, Parent{}, 7, 8)
			store(t, c, "t", v0, Under(3), 7)
			equal(t, "removed blocks hit", c.Remove(0, w0, []Hash{2}), 1)
			frontiers(t, c, "s", Frontier{w0, 1})
		},
		"a graft by somebody else is no change of the next call": func(t *testing.T, c *Core) {
			for _, id := range []string{"s", "m", "z"} {
				store(t, c, id, w0, Parent{}, 1, 2)
				store(t, c, id, w0, Parent{}, 7, 8)
			}
			store(t, c, "t", v0, Under(2), 7)
			equal(t, "store", store(t, c, "s", w0, Under(7), 8), false)
			equal(t, "match", match(c, "m", w0, 2), false)
			equal(t, "dropped", c.ClearRank(0, w0), 3)
		},
		"a phantom that somebody stores is a block for all": func(t *testing.T, c *Core) {
			match(c, "s", w0, 2)
			store(t, c, "s", w0, Under(1), 2)
			store(t, c, "t", v0, Parent{}, 1)
			equal(t, "hit", c.Remove(0, w0, []Hash{2}), 1)
			frontiers(t, c, "s", Frontier{w0, 1})
		},
		"a graft that puts an own frontier under another is a change": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2, 3)
			store(t, c, "s", w0, Parent{}, 7, 8)
			equal(t, "changed", store(t, c, "s", w0, Under(3), 7), true)
			frontiers(t, c, "s", Frontier{w0, 8})
			equal(t, "dropped", c.ClearRank(0, w0), 1)
		},
		"a graft that only explains an own frontier is no change": func(t *testing.T, c *Core) {
			store(t, c, "t", w0, Parent{}, 1, 2)
			store(t, c, "s", w0, Parent{}, 7, 8)
			equal(t, "changed", store(t, c, "s", w0, Under(2), 7), false)
			lineages(t, c, "s", w0, []Hash{1, 2, 7, 8})
		},
		"removal takes what is below, on its rank only, and a replay finds nothing": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2, 3)
			store(t, c, "s", w1, Parent{}, 1, 2, 3)
			equal(t, "hit", c.Remove(0, w1, []Hash{99, 3, 2}), 1)
			frontiers(t, c, "s", Frontier{w0, 3}, Frontier{w1, 1})
			equal(t, "replay", c.Remove(0, w1, []Hash{2, 3}), 0)
			equal(t, "no hashes", c.Remove(0, w1, nil), 0)
		},
		"a store under a removed parent claims it again": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2, 3)
			c.Remove(0, w0, []Hash{2})
			equal(t, "changed", store(t, c, "s", w0, Under(3), 4), true)
			frontiers(t, c, "s", Frontier{w0, 4})
			equal(t, "hit", c.Remove(0, w0, []Hash{4}), 1)
			frontiers(t, c, "s", Frontier{w0, 3})
		},
		"two branches that are hit count two, and meet where they part": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2, 3)
			store(t, c, "s", w0, Under(2), 4)
			equal(t, "hit", c.Remove(0, w0, []Hash{3, 4}), 2)
			frontiers(t, c, "s", Frontier{w0, 2})
		},
		"a branch that recedes onto a longer one is gone": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2, 3)
			store(t, c, "s", w0, Under(2), 4)
			equal(t, "hit", c.Remove(0, w0, []Hash{4}), 1)
			frontiers(t, c, "s", Frontier{w0, 3})
		},
		"a removed root ends the claim, and with the last claim the session": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2)
			equal(t, "hit", c.Remove(0, w0, []Hash{1}), 1)
			equal(t, "counts", c.Counts(), Counts{2, 0})
		},
		"clears are of one rank, or of all ranks of one worker": func(t *testing.T, c *Core) {
			for _, at := range []WorkerRank{w0, w1, v0} {
				store(t, c, "s", at, Parent{}, 1, 2)
			}
			equal(t, "rank", c.ClearRank(0, w1), 1)
			frontiers(t, c, "s", Frontier{v0, 2}, Frontier{w0, 2})
			store(t, c, "s", w1, Parent{}, 1, 2)
			equal(t, "worker", c.ClearWorker(0, "w"), 2)
			frontiers(t, c, "s", Frontier{v0, 2})
			equal(t, "blocks", c.Counts().Blocks, 2)
		},
		"lineages from an anchor are those through it, from there on": func(t *testing.T, c *Core) {
			store(t, c, "s", w0, Parent{}, 1, 2, 3)
			match(c, "s", w0, 4)
			got, err := c.LineagesFrom("s", w0, 2)
			if err != nil || !reflect.DeepEqual(got, [][]Hash{{2, 3}}) {
				t.Errorf("LineagesFrom = %v, %v", got, err)
			}
			if _, err := c.LineagesFrom("nobody", w0, 5); !errors.Is(err, ErrUnknownAnchor) {
				t.Errorf("an unknown anchor of an unknown session: %v", err)
			}
			if got, err := c.LineagesFrom("nobody", w0, 1); got != nil || err != nil {
				t.Errorf("a known anchor of an unknown session: %v, %v", got, err)
			}
		},
		"a session id counts in bytes, and one that is too long leaves no trace": func(t *testing.T, c *Core) {
			long := strings.Repeat("é", 128)
			equal(t, "256 bytes", match(c, long, w0, 1), true)
			equal(t, "no bytes", match(c, "", w0, 1), true)
			equal(t, "257 bytes", match(c, long+"x", w0, 2), false)
			equal(t, "258 bytes in 129 characters", match(c, long+"é", w0, 2), false)
			if changed, err := c.Store(0, Store{Session: long + "x", At: w0, Parent: Under(1), Blocks: []Hash{2, 2}}); changed || err != nil {
				t.Errorf("a cyclic store under 257 bytes: %v, %v, want it ignored", changed, err)
			}
			equal(t, "counts", c.Counts(), Counts{1, 2})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCore(t, Config{})
			run(t, c)
			if err := audit(c); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheSessionThatWasUsedLongestAgoGoesFirst(t *testing.T) {
	c := newCore(t, Config{Sessions: 2})
	match(c, "s", w0, 1)
	match(c, "t", w0, 1)
	match(c, "s", w0, 1)       // changes nothing, yet is a use
	c.Frontiers("t")           // is none
	c.Lineages("t", w0)        // is none
	match(c, "s", w1, 2)       // so that a removal meets s, too
	c.Remove(0, w0, []Hash{9}) // is none
	match(c, "u", w0, 1)
	frontiers(t, c, "t")
	frontiers(t, c, "s", Frontier{w0, 1}, Frontier{w1, 2})
	store(t, c, "s", w0, Under(1), 3)
	match(c, "u", w0, 1)
	equal(t, "a removal that hits s", c.Remove(0, w0, []Hash{3}), 1)
	match(c, "v", w0, 1)
	frontiers(t, c, "s")
	equal(t, "counts", c.Counts(), Counts{3, 2})
}

func TestBlocksWithoutReferencesGoAfterTheRetentionTime(t *testing.T) {
	c := newCore(t, Config{Retention: time.Minute})
	store(t, c, "s", w0, Parent{}, 1, 2, 3)
	c.Match(0, Match{Session: "t", At: w1, Block: 1})
	c.Remove(time.Second, w0, []Hash{3, 2})
	c.Advance(time.Minute + time.Second - 1)
	equal(t, "a moment before", c.Counts().Blocks, 3)
	if _, err := c.Store(2*time.Minute, Store{Session: "u", At: w0, Parent: Under(3), Blocks: []Hash{4, 4}}); !errors.Is(err, ErrCyclicParent) {
		t.Fatalf("a repeat: %v", err)
	}
	equal(t, "after a refused store, which is no write", c.Counts().Blocks, 3)
	c.Advance(0) // a time that goes back stands still
	equal(t, "at an earlier time", c.Counts().Blocks, 3)
	c.Advance(time.Minute + time.Second)
	equal(t, "at the retention time", c.Counts().Blocks, 1)
	if _, err := c.Store(2*time.Minute, Store{Session: "u", At: w0, Parent: Under(3), Blocks: []Hash{4}}); !errors.Is(err, ErrUnknownParent) {
		t.Errorf("a store under a reclaimed block: %v", err)
	}
	store(t, c, "u", w0, Under(1), 3, 2) // a reclaimed hash is a new block, and may go elsewhere
	lineages(t, c, "u", w0, []Hash{1, 3, 2})
	if err := audit(c); err != nil {
		t.Error(err)
	}
}

func TestReclamationStopsWhereSomebodyElseBegins(t *testing.T) {
	c := newCore(t, Config{Retention: time.Minute})
	store(t, c, "s", w0, Parent{}, 1, 2, 3, 4)
	store(t, c, "t", w1, Under(2), 5, 6)
	c.ClearRank(0, w0)
	equal(t, "a removal that names nothing, an hour later", c.Remove(time.Hour, w0, nil), 0)
	equal(t, "after what is no write", c.Counts().Blocks, 6)
	equal(t, "a removal that hits nothing", c.Remove(time.Hour, w0, []Hash{99}), 0)
	equal(t, "after a write", c.Counts().Blocks, 4)
	lineages(t, c, "t", w1, []Hash{1, 2, 5, 6})
	c.ClearRank(time.Hour, w1)
	c.Advance(2 * time.Hour)
	equal(t, "at the end", c.Counts(), Counts{})
	equal(t, "runs at the end", c.runs.used(), 0)
}

func TestABlockThatIsNeededAgainStays(t *testing.T) {
	c := newCore(t, Config{Retention: time.Minute})
	store(t, c, "s", w0, Parent{}, 1, 2)
	c.ClearRank(0, w0)
	if changed, err := c.Store(time.Hour, Store{Session: "t", At: w0, Parent: Under(2), Blocks: []Hash{3}}); !changed || err != nil {
		t.Fatalf("a store under a block that is overdue but known: %v, %v", changed, err)
	}
	lineages(t, c, "t", w0, []Hash{1, 2, 3})
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{{Config{Sessions: -1}, "sessions -1"}, {Config{Retention: -1}, "retention -1ns"}} {
		if _, err := New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v): %v, want %q in it", c.config, err, c.want)
		}
	}
	_, err := newCore(t, Config{}).Store(0, Store{Session: "s", At: w0, Parent: Under(0xabc), Blocks: []Hash{1}})
	if want := "unknown parent: block 0000000000000abc: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want it to begin with %q", err, want)
	}
	var h Hash
	for _, text := range []string{"", "abc", "000000000000000g", "+00000000000000a", "00000000000000001"} {
		if err := h.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("hash %q was read as %v", text, h)
		}
	}
}
