// Package lineage holds conversations with a session index, as plain data: what is
// asked, and what may be answered. It knows no adapter and no protocol line; the bench
// holds the conversation and a judge compares. Its operations are those of
// suites/target/sessionindex.md; none of them ever waits.
package lineage

import (
	"fmt"
	"slices"
	"time"

	"github.com/routeproof/routeproof/suites/script"
)

// Script is one conversation. Its methods add steps.
type Script struct {
	Config Config  `json:"config"`
	Steps  []*Step `json:"steps"`
	// Demands are claims that it needs beside those that its operations need.
	Demands []string `json:"demands,omitempty"`
}

// Config is what the instance is made with. What is nil is left to the index.
type Config struct {
	Sessions  *int           `json:"sessions,omitempty"`
	Retention *time.Duration `json:"retention,omitempty"`
}

// Defaults of the specification.
const (
	DefaultSessions  = 16384
	DefaultRetention = 5 * time.Minute
)

// MaxSessionBytes is the limit of a session id.
const MaxSessionBytes = 256

// Holding is a configuration for at most so many sessions.
func Holding(sessions int) Config { return Config{Sessions: &sessions} }

// Keeping adds how long a block without frontier and child stays known.
func (c Config) Keeping(d time.Duration) Config { c.Retention = &d; return c }

func (c Config) String() string {
	s := "the index's own settings"
	if c.Sessions != nil {
		s = fmt.Sprintf("%d sessions", *c.Sessions)
	}
	if c.Retention != nil {
		s += fmt.Sprintf(", retention %v", *c.Retention)
	}
	return s
}

// B is the block with this number, in the protocol's spelling.
func B(n uint64) string { return fmt.Sprintf("%016x", n) }

// Operations.
const (
	Store        = "store"
	Match        = "match"
	Remove       = "remove"
	Clear        = "clear"
	Frontiers    = "frontiers"
	Lineages     = "lineages"
	Size         = "size"
	Dump         = "dump"
	Advance      = "clock.advance"
	Create       = "new" // another instance, with a configuration of its own
	Register     = "register"
	WorkerRemove = "worker.remove"
	StoreAdmit   = "store.admit"
	StoreApply   = "store.apply"
	MatchAdmit   = "match.admit"
	MatchApply   = "match.apply"
	RemoveBegin  = "remove.begin"
	RemoveAwait  = "remove.await"
	PhysicalSet  = "physical.set"
	PhysicalFail = "physical.fail"
	Flush        = "flush"
	Fill         = "batch" // many sessions match a block
)

// needed lists the claims that operations hang on.
var needed = map[string][]string{
	Advance: {"clock"}, Dump: {"dump"}, Register: {"lifecycle"}, WorkerRemove: {"lifecycle"},
	StoreAdmit: {"lifecycle", "admission"}, StoreApply: {"lifecycle", "admission"}, MatchAdmit: {"lifecycle", "admission"}, MatchApply: {"lifecycle", "admission"},
	RemoveBegin: {"lifecycle", "admission"}, RemoveAwait: {"lifecycle", "admission"},
	Fill: {"batch"}, PhysicalSet: {"physical"}, PhysicalFail: {"barrier"}, Flush: {"barrier"},
}

// Step is one operation and what may be answered.
type Step struct {
	Name string `json:"name,omitempty"` // under which later steps know what this one has begun, or answered
	Op   string `json:"op"`

	Session     string        `json:"session,omitempty"`
	At          *script.Where `json:"at,omitempty"` // a worker's rank; of register and removals perhaps all of a worker's
	Incarnation string        `json:"incarnation,omitempty"`
	Parent      string        `json:"parent,omitempty"` // of the first block; empty is none
	Blocks      []string      `json:"blocks,omitempty"`
	Block       string        `json:"block,omitempty"` // of match; the anchor of lineages
	Ref         string        `json:"ref,omitempty"`   // the step that began what this one finishes
	By          time.Duration `json:"by,omitempty"`
	From        int           `json:"from,omitempty"`  // the first of Fill's sessions
	Times       int           `json:"times,omitempty"` // how many they are
	Barrier     bool          `json:"barrier,omitempty"`
	LowerTier   bool          `json:"lowerTier,omitempty"`
	Config      *Config       `json:"config,omitempty"`

	Wants []Answer `json:"wants,omitempty"` // one of these; none: what the model says
	Same  string   `json:"same,omitempty"`  // the earlier step whose answer this one's must equal
}

// Needs lists the adapter's claims without which the script proves nothing. Dumps are
// left out instead, unless the script demands them.
func (s *Script) Needs() []string {
	all := slices.Clone(s.Demands)
	for _, st := range s.Steps {
		if st.Op != Dump {
			all = append(all, needed[st.Op]...)
		}
		if st.Incarnation != "" {
			all = append(all, "lifecycle")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *Script) add(st Step) *Step {
	s.Steps = append(s.Steps, &st)
	return &st
}

// Store says that the rank has stored a chain that begins at a root.
func (s *Script) Store(session string, at script.Where, blocks ...string) *Step {
	return s.Under(session, at, "", blocks...)
}

// Under says that the rank has stored a chain below a parent.
func (s *Script) Under(session string, at script.Where, parent string, blocks ...string) *Step {
	return s.add(Step{Op: Store, Session: session, At: &at, Parent: parent, Blocks: blocks})
}

// Match says that a request of the session met the block on the rank.
func (s *Script) Match(session string, at script.Where, block string) *Step {
	return s.add(Step{Op: Match, Session: session, At: &at, Block: block})
}

// Fill says, in one batch, that requests of so many sessions met the block on the rank, one
// after another, from the session of that number on. It is answered by how many of them that
// changed something for. It comes first in a conversation, or after another Fill which it
// goes on from: a batch has to be answered in the time of any other call, so many sessions
// take several.
func (s *Script) Fill(from, sessions int, at script.Where, block string) *Step {
	return s.add(Step{Op: Fill, From: from, Times: sessions, At: &at, Block: block})
}

// Numbered is the name of one of Fill's sessions, counted from 0.
func Numbered(i int) string { return fmt.Sprintf("session %d", i) }

// Remove says that the rank has evicted the blocks.
func (s *Script) Remove(at script.Where, blocks ...string) *Step {
	return s.add(Step{Op: Remove, At: &at, Blocks: blocks})
}

// Clear says that the rank has cleared its cache.
func (s *Script) Clear(at script.Where) *Step { return s.add(Step{Op: Clear, At: &at}) }

// Frontiers asks for a session's frontiers.
func (s *Script) Frontiers(session string) *Step {
	return s.add(Step{Op: Frontiers, Session: session})
}

// Lineages asks for a session's chains on a rank.
func (s *Script) Lineages(session string, at script.Where) *Step {
	return s.LineagesFrom(session, at, "")
}

// LineagesFrom asks for the chains that go through an anchor.
func (s *Script) LineagesFrom(session string, at script.Where, anchor string) *Step {
	return s.add(Step{Op: Lineages, Session: session, At: &at, Block: anchor})
}

// Size asks how much is held.
func (s *Script) Size() *Step { return s.add(Step{Op: Size}) }

// Dump asks for everything; an adapter may be unable to tell. Later steps can compare
// with it by the name.
func (s *Script) Dump(name string) *Step { return s.add(Step{Name: name, Op: Dump}) }

// Advance moves the clock.
func (s *Script) Advance(by time.Duration) *Step {
	return s.add(Step{Op: Advance, By: by}).Is(Done)
}

// Create asks for another instance with a configuration that may be refused.
func (s *Script) Create(c Config) *Step { return s.add(Step{Op: Create, Config: &c}) }

// Register opens an incarnation of a worker, or of one of its ranks.
func (s *Script) Register(who script.Where, incarnation string) *Step {
	return s.add(Step{Op: Register, At: &who, Incarnation: incarnation}).Is(Done)
}

// RemoveWorker removes a worker, or one of its ranks, and waits for it.
func (s *Script) RemoveWorker(who script.Where) *Step {
	return s.add(Step{Op: WorkerRemove, At: &who})
}

// AdmitStore takes a store in, as new as this moment. The name is what Apply knows it by.
func (s *Script) AdmitStore(name, session string, at script.Where, parent string, blocks ...string) *Step {
	return s.add(Step{Name: name, Op: StoreAdmit, Session: session, At: &at, Parent: parent, Blocks: blocks}).Is(Taken)
}

// AdmitMatch takes a match in.
func (s *Script) AdmitMatch(name, session string, at script.Where, block string) *Step {
	return s.add(Step{Name: name, Op: MatchAdmit, Session: session, At: &at, Block: block}).Is(Taken)
}

// Apply lets what was taken in take effect.
func (s *Script) Apply(name string) *Step {
	op := StoreApply
	if st := s.Step(name); st != nil && st.Op == MatchAdmit {
		op = MatchApply
	}
	return s.add(Step{Op: op, Ref: name})
}

// BeginRemoval retires a worker, or one of its ranks.
func (s *Script) BeginRemoval(name string, who script.Where) *Step {
	return s.add(Step{Name: name, Op: RemoveBegin, At: &who}).Is(Taken)
}

// AwaitRemoval waits until its claims are gone.
func (s *Script) AwaitRemoval(name string) *Step { return s.add(Step{Op: RemoveAwait, Ref: name}) }

// Holds says what the rank physically holds, nothing else.
func (s *Script) Holds(at script.Where, blocks ...string) *Step {
	return s.add(Step{Op: PhysicalSet, At: &at, Blocks: blocks}).Is(Done)
}

// Fail says what of the physical index fails from here on.
func (s *Script) Fail(barrier, lowerTier bool) *Step {
	return s.add(Step{Op: PhysicalFail, Barrier: barrier, LowerTier: lowerTier}).Is(Done)
}

// Flush waits for all that was taken in.
func (s *Script) Flush() *Step { return s.add(Step{Op: Flush}) }

// Step finds the step of a name, nil if there is none.
func (s *Script) Step(name string) *Step {
	for _, st := range s.Steps {
		if st.Name == name && name != "" {
			return st
		}
	}
	return nil
}

// As says under which incarnation a store or match comes.
func (st *Step) As(incarnation string) *Step { st.Incarnation = incarnation; return st }

// Is says what may be answered: one of these.
func (st *Step) Is(anyOf ...Answer) *Step { st.Wants = anyOf; return st }

// SameAs says that the answer must equal that of an earlier step.
func (st *Step) SameAs(name string) *Step { st.Same = name; return st }
