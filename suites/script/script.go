// Package script holds conversations with a component, as plain data: what is
// asked, and what may be answered. It knows no adapter and no protocol line; the
// bench holds the conversation and a judge compares.
//
// After each step everything that was asked is either answered or waiting, which
// the protocol's sync tells (suites/target/component.md). So a step says what
// becomes of its own operation and of earlier ones that waited; whatever it does
// not name must go on waiting.
package script

import (
	"fmt"
	"slices"
	"time"
)

// Script is one conversation. Its methods add steps.
type Script struct {
	Config Config  `json:"config"`
	Steps  []*Step `json:"steps"`

	whole    *Script // of one made by Another: where its steps go
	instance string  // of one made by Another
	when     []Was   // of the steps that are added now
	batch    int     // of the steps that are added now
	batches  int     // so far
}

// Config is what the instance is made with. Zero values leave a setting to the
// component's default.
type Config struct {
	IdleTTL    time.Duration `json:"idleTTL"`
	Capacity   int           `json:"capacity,omitempty"`
	AtCapacity string        `json:"atCapacity,omitempty"` // refuse, unpinned or evict
	InitWait   time.Duration `json:"initWait,omitempty"`
}

// New begins a conversation with an instance of the affinity component, in which
// the given workers live.
func New(c Config, workers ...Worker) *Script {
	s := &Script{Config: c}
	if len(workers) > 0 {
		s.Live(workers...)
	}
	return s
}

// Worker is a live worker and how many data-parallel ranks it has; 0 means one.
type Worker struct {
	ID    string `json:"id"`
	Ranks int    `json:"ranks,omitempty"`
}

// Where is a worker and perhaps one of its data-parallel ranks: a pin, or a target.
type Where struct {
	Worker string `json:"worker,omitempty"`
	Rank   *int   `json:"rank,omitempty"` // nil is none; 0 is a rank
}

// At is a worker without a rank.
func At(worker string) Where { return Where{Worker: worker} }

// On is a worker's rank.
func On(worker string, rank int) Where { return Where{Worker: worker, Rank: &rank} }

func (w Where) String() string {
	switch {
	case w.Rank == nil:
		return w.Worker
	case w.Worker == "":
		return fmt.Sprintf("rank %d of no worker", *w.Rank)
	}
	return fmt.Sprintf("%s rank %d", w.Worker, *w.Rank)
}

// Same says whether both mean the same target.
func (w Where) Same(o Where) bool {
	return w.Worker == o.Worker && (w.Rank == nil) == (o.Rank == nil) && (w.Rank == nil || *w.Rank == *o.Rank)
}

// Ask is who asks for which session.
type Ask struct {
	Session string `json:"session"`
	Model   string `json:"model,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	Phase   string `json:"phase,omitempty"` // prefill or decode; empty is decode
	Pin     *Where `json:"pin,omitempty"`
}

// S is the session of the given id.
func S(id string) Ask { return Ask{Session: id} }

// Pinned is the same session, asked for with a pin.
func (a Ask) Pinned(w Where) Ask { a.Pin = &w; return a }

// Of is the same session id under another model.
func (a Ask) Of(model string) Ask { a.Model = model; return a }

// By is the same session id of another tenant.
func (a Ask) By(tenant string) Ask { a.Tenant = tenant; return a }

// In is the same session in a phase.
func (a Ask) In(phase string) Ask { a.Phase = phase; return a }

// Kinds of operations.
const (
	Acquire    = "acquire"
	Commit     = "commit"
	Release    = "release"
	Invalidate = "invalidate"
	Query      = "query"
	Cancel     = "cancel"
	Advance    = "clock.advance"
	SetWorkers = "workers.set"
	Count      = "count"
	Create     = "new"   // another instance, with a configuration of its own
	Close      = "close" // the end of such an instance
)

// Step is one operation and what becomes of it.
type Step struct {
	Name string `json:"name"` // its own; an acquire's name is its lease's, too
	Op   string `json:"op"`

	Ask     *Ask          `json:"ask,omitempty"`     // acquire, query
	Ref     string        `json:"ref,omitempty"`     // the acquire whose lease (or wait) is meant
	At      *Where        `json:"at,omitempty"`      // commit
	By      time.Duration `json:"by,omitempty"`      // clock.advance
	Workers []Worker      `json:"workers,omitempty"` // workers.set
	Config  *Config       `json:"config,omitempty"`  // new

	Instance string `json:"instance,omitempty"` // the step that made it; empty is the conversation's own
	Batch    int    `json:"batch,omitempty"`    // steps in a row with one number, not 0, are sent as one batch
	When     []Was  `json:"when,omitempty"`     // what must be so, or the step is left out

	Wants  []Want `json:"wants"`            // of its own operation and of earlier ones
	Passes *Pass  `json:"passes,omitempty"` // a wait that ends for exactly one
	Needs  string `json:"needs,omitempty"`  // an adapter's claim without which the step is left out
}

// Want says what one operation's answer must be after the step: one of the
// outcomes. None means that it must wait.
type Want struct {
	Name  string    `json:"name"`
	AnyOf []Outcome `json:"anyOf,omitempty"`
}

// Pass says that exactly one of the waiting operations is answered with the
// outcome, and is known by another name from then on.
type Pass struct {
	Among   []string `json:"among"`
	Outcome Outcome  `json:"outcome"`
	As      string   `json:"as"` // no other pass's, but for an early one's and that which follows it
	// Early says that it may happen now, or with the later step that passes the same
	// name on. Without it, it happens now or has happened.
	Early bool `json:"early,omitempty"`
}

// Was says that what a pass named is a certain operation.
type Was struct {
	Name string `json:"name"` // a pass's As
	Is   string `json:"is"`
}

func (s *Script) add(st Step) *Step {
	if s.whole != nil {
		st.Instance = s.instance
		return s.whole.add(st)
	}
	st.When, st.Batch = slices.Clone(s.when), s.batch
	if st.Name == "" {
		st.Name = fmt.Sprintf("%s #%d", st.Op, len(s.Steps)+1)
	}
	s.Steps = append(s.Steps, &st)
	return &st
}

// Acquire asks for a lease. The name is the lease's in later steps.
func (s *Script) Acquire(name string, a Ask) *Step {
	return s.add(Step{Name: name, Op: Acquire, Ask: &a})
}

// Commit says that the holder's request was accepted at the target.
func (s *Script) Commit(lease string, at Where) *Step {
	return s.add(Step{Op: Commit, Ref: lease, At: &at})
}

// Release ends a lease.
func (s *Script) Release(lease string) *Step { return s.add(Step{Op: Release, Ref: lease}) }

// Invalidate ends a lease together with its binding.
func (s *Script) Invalidate(lease string) *Step { return s.add(Step{Op: Invalidate, Ref: lease}) }

// Query asks where a session is bound.
func (s *Script) Query(a Ask) *Step { return s.add(Step{Op: Query, Ask: &a}) }

// Cancel says that the client of a waiting acquire has left.
func (s *Script) Cancel(waiting string) *Step { return s.add(Step{Op: Cancel, Ref: waiting}).Is(Done) }

// Advance moves the clock.
func (s *Script) Advance(by time.Duration) *Step { return s.add(Step{Op: Advance, By: by}).Is(Done) }

// Live declares the live workers.
func (s *Script) Live(workers ...Worker) *Step {
	return s.add(Step{Op: SetWorkers, Workers: workers}).Is(Done)
}

// Count asks how much is held; an adapter may be unable to tell.
func (s *Script) Count() *Step { return s.add(Step{Op: Count, Needs: "count"}) }

// Create asks for another instance with a configuration that may be refused.
func (s *Script) Create(c Config) *Step { return s.add(Step{Op: Create, Config: &c}) }

// Another makes another instance, in which the given workers live. The steps that are
// added to the script that it returns are about that instance, and part of this one.
func (s *Script) Another(name string, c Config, workers ...Worker) *Script {
	s.add(Step{Name: name, Op: Create, Config: &c}).Is(Done)
	other := &Script{Config: c, whole: s, instance: name}
	if len(workers) > 0 {
		other.Live(workers...)
	}
	return other
}

// Close ends an instance that Another made.
func (s *Script) Close() *Step { return s.add(Step{Op: Close}).Is(Done) }

// If adds steps that are taken if what a pass named is a certain operation.
func (s *Script) If(name, is string, then func()) {
	s.when = append(s.when, Was{name, is})
	then()
	s.when = s.when[:len(s.when)-1]
}

// InBatch adds steps that are sent as one batch. What they say of operations that wait
// holds when all of them are done.
func (s *Script) InBatch(then func()) {
	s.batches++
	s.batch = s.batches
	then()
	s.batch = 0
}

// Meant says whether a step is to be taken, given what passes have named so far.
func (st *Step) Meant(passed map[string]string) bool {
	return !slices.ContainsFunc(st.When, func(w Was) bool { return passed[w.Name] != w.Is })
}

// Groups are the steps that are sent together: batches, and single ones.
func Groups(steps []*Step) (all [][]*Step) {
	for i, st := range steps {
		if last := len(all) - 1; i > 0 && st.Batch != 0 && st.Batch == steps[i-1].Batch {
			all[last] = append(all[last], st)
			continue
		}
		all = append(all, []*Step{st})
	}
	return all
}

// Needs lists the adapter's claims without which the script proves nothing: what
// its operations hang on. A step that has a claim of its own is left out instead.
func (s *Script) Needs() []string {
	need := map[string]bool{}
	where := func(w *Where) {
		if w != nil && w.Rank != nil {
			need["ranks"] = true
		}
	}
	for _, st := range s.Steps {
		where(st.At)
		need["batch"] = need["batch"] || st.Batch != 0
		need["clock"] = need["clock"] || st.Op == Advance
		if a := st.Ask; a != nil {
			where(a.Pin)
			need["tenant"] = need["tenant"] || a.Tenant != ""
			need["phases"] = need["phases"] || a.Phase == "prefill"
		}
	}
	var all []string
	for _, claim := range []string{"batch", "clock", "phases", "ranks", "tenant"} {
		if need[claim] {
			all = append(all, claim)
		}
	}
	return all
}

// Is says what the operation's own answer must be: one of these.
func (st *Step) Is(anyOf ...Outcome) *Step { return st.And(st.Name, anyOf...) }

// Waits says that the operation is not answered yet.
func (st *Step) Waits() *Step { return st.And(st.Name) }

// And says what becomes of an earlier operation that waited.
func (st *Step) And(name string, anyOf ...Outcome) *Step {
	if i := slices.IndexFunc(st.Wants, func(w Want) bool { return w.Name == name }); i >= 0 {
		st.Wants[i].AnyOf = anyOf
		return st
	}
	st.Wants = append(st.Wants, Want{name, anyOf})
	return st
}

// HandsTo says that exactly one of the waiting becomes the initializer; later steps
// know it as name.
func (st *Step) HandsTo(name string, among ...string) *Step {
	return st.One(name, Initializes, among...)
}

// MayHandTo is HandsTo, but it may also be a later step that does: the next one that
// hands to the name.
func (st *Step) MayHandTo(name string, among ...string) *Step {
	st.HandsTo(name, among...).Passes.Early = true
	return st
}

// One says that exactly one of the operations that still wait is answered, and how;
// later steps know it as name.
func (st *Step) One(name string, o Outcome, among ...string) *Step {
	st.Passes = &Pass{Among: among, Outcome: o, As: name}
	return st
}
