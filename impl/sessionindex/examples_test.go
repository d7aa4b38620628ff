package sessionindex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	fixtures "github.com/routeproof/routeproof/fixtures/sessionindex"
)

type exampleEvent struct {
	Op, Session, Worker string
	Rank                uint32
	Parent              string
	Blocks              []string
}

type exampleFrontier struct {
	Session, Worker string
	Rank            uint32
	Block           string
}

type exampleFile struct {
	About    string
	Hashes   map[string]Hash
	Forest   []exampleEvent
	Examples []struct {
		ID, Name string
		Events   []exampleEvent
		Expect   struct {
			Accepted, Changed bool
			Kind              string
			KindLevel         string `json:"kind_level"`
			Block             string
			Known             int
			Frontiers         []exampleFrontier
		}
	}
}

var kinds = map[string]error{
	"cyclic_parent": ErrCyclicParent, "conflicting_parent": ErrConflictingParent, "unknown_parent": ErrUnknownParent,
}

func readExamples(t *testing.T) (f exampleFile) {
	d := json.NewDecoder(bytes.NewReader(fixtures.Examples))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatal(err)
	}
	if len(f.Examples) != 28 {
		t.Fatalf("%d examples, want 28", len(f.Examples))
	}
	return f
}

func (f *exampleFile) hash(t *testing.T, name string) Hash {
	h, ok := f.Hashes[name]
	if !ok {
		t.Fatalf("block %q has no hash", name)
	}
	return h
}

// apply lets the core have an event.
func (f *exampleFile) apply(t *testing.T, c *Core, e exampleEvent) (changed bool, err error) {
	at := WorkerRank{e.Worker, e.Rank}
	var blocks []Hash
	for _, b := range e.Blocks {
		blocks = append(blocks, f.hash(t, b))
	}
	switch {
	case e.Op == "match" && e.Parent == "" && len(blocks) == 1:
		return c.Match(0, Match{Session: e.Session, At: at, Block: blocks[0]}), nil
	case e.Op == "store":
		s := Store{Session: e.Session, At: at, Blocks: blocks}
		if e.Parent != "" {
			s.Parent = Under(f.hash(t, e.Parent))
		}
		return c.Store(0, s)
	}
	t.Fatalf("no such event: %+v", e)
	return false, nil
}

func TestTheExamplesOfWhatIsAcceptedAndRefused(t *testing.T) {
	f := readExamples(t)
	for _, ex := range f.Examples {
		t.Run(ex.ID+" "+ex.Name, func(t *testing.T) {
			c := newCore(t, Config{})
			events := slices.Concat(f.Forest, ex.Events)
			last := events[len(events)-1]
			for _, e := range events[:len(events)-1] {
				if _, err := f.apply(t, c, e); err != nil {
					t.Fatal(err)
				}
			}
			before := dumpText(clone(c).Dump())
			changed, err := f.apply(t, c, last)
			if changed != ex.Expect.Changed || (err == nil) != ex.Expect.Accepted {
				t.Errorf("%+v: %v, %v; want accepted %v, changed %v", last, changed, err, ex.Expect.Accepted, ex.Expect.Changed)
			}
			if !ex.Expect.Accepted {
				var fault *BlockError
				if !errors.As(err, &fault) || fault.Kind != kinds[ex.Expect.Kind] || fault.Block != f.hash(t, ex.Expect.Block) {
					t.Errorf("refused with %v, want %s %s", err, ex.Expect.Kind, ex.Expect.Block)
				}
				if after := dumpText(c.Dump()); after != before {
					t.Errorf("a refused event made\n%s\nof\n%s", after, before)
				}
			}
			if got := c.Counts().Blocks; got != ex.Expect.Known {
				t.Errorf("%d blocks are known, want %d", got, ex.Expect.Known)
			}
			var got, want []exampleFrontier
			for _, s := range c.Dump().Sessions {
				for _, fr := range s.Frontiers {
					got = append(got, exampleFrontier{s.ID, fr.At.Worker, fr.At.Rank, fr.Block.String()})
				}
			}
			for _, fr := range ex.Expect.Frontiers {
				fr.Block = f.hash(t, fr.Block).String()
				want = append(want, fr)
			}
			order := func(a, b exampleFrontier) int {
				return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Block, b.Block))
			}
			slices.SortFunc(got, order)
			slices.SortFunc(want, order)
			if !slices.Equal(got, want) {
				t.Errorf("the frontiers are %v, want %v", got, want)
			}
		})
	}
}
