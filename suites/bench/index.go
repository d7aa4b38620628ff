package bench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/lineage/model"
	"github.com/routeproof/routeproof/suites/target/component"
)

// SessionIndexClaim is the claim that a target is certified as a session index, too.
const SessionIndexClaim = "component.sessionindex"

// Indexed is a case on a session index: one conversation, exact, on the component's
// injected clock.
func Indexed(id, stimulus, requirement string, s *lineage.Script) Case {
	return Case{ID: id, Stimulus: stimulus, Requirement: requirement, Talk: indexed{s}, Judge: judge.Indexes(s)}
}

// indexed is a talk with a session index by a script.
type indexed struct{ *lineage.Script }

func (indexed) component() string { return component.SessionIndexComponent }

func (x indexed) needs() []string { return x.Needs() }

func (x indexed) hold(ctx context.Context, a *adapter, _ uint64, h *history.History) error {
	t := a.indexer()
	from := t.Said()
	held := lineage.Held{Script: x.Script}
	defer func() {
		h.Talk.Lines = a.lines(from)
		h.Lineages = append(h.Lineages, held)
	}()
	if err := t.begin(ctx, x.Config); err != nil {
		return err
	}
	for _, st := range x.Steps {
		turn, err := t.take(ctx, st)
		if err != nil {
			return err
		}
		held.Turns = append(held.Turns, turn)
		if turn.Left != "" && !turn.Unable {
			return nil // nothing after it means anything
		}
	}
	return t.finish(ctx)
}

// RandomIndex is a talk of many short conversations with a session index that are made
// up as they go, each on an instance of its own, in step with the model of the rules. The
// first that goes wrong is shrunk, and ends it.
type RandomIndex struct {
	Conversations int
	Steps         int // of each, dumps included
}

func (RandomIndex) component() string { return component.SessionIndexComponent }

func (RandomIndex) needs() []string { return nil }

func (r RandomIndex) hold(ctx context.Context, a *adapter, seed uint64, h *history.History) error {
	for i := range r.Conversations {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		g := model.NewGenerator(rnd, h.Talk.Claims)
		steps := r.Steps/2 + rnd.IntN(r.Steps/2+1)
		p := &indexPlayer{claims: h.Talk.Claims}
		err := p.hold(ctx, a, g.Config(), func(m *model.Model) *lineage.Step {
			if steps--; steps < 0 {
				return nil
			}
			return g.Next(m)
		})
		h.Lineages = append(h.Lineages, p.held)
		if err != nil {
			return err
		}
		if p.wrong != nil {
			return p.shrink(ctx, a, h)
		}
	}
	return nil
}

// shrink looks for a smaller conversation that goes wrong as well, and adds it.
func (p *indexPlayer) shrink(ctx context.Context, a *adapter, h *history.History) error {
	var err error
	found, search := p, newSearch()
	model.Shrink(p.held.Script, func(s *lineage.Script) (*lineage.Script, bool) {
		p, at := &indexPlayer{claims: p.claims}, 0
		err = p.hold(ctx, a, s.Config, func(*model.Model) *lineage.Step {
			if at++; at > len(s.Steps) {
				return nil
			}
			return s.Steps[at-1]
		})
		goOn := search.more() && err == nil
		if err != nil || p.wrong == nil {
			return nil, goOn
		}
		found = p
		return p.held.Script, goOn
	})
	found.held.Replay = found.replay()
	h.Lineages = append(h.Lineages, found.held)
	return err
}

// indexPlayer holds one conversation in step with the model.
type indexPlayer struct {
	*indexTalker
	claims []string
	held   lineage.Held
	wrong  *model.Difference // nil as long as nothing was
	lines  []component.Line  // up to the answer that was wrong
}

// hold asks next for one step after another until there is none, or one went wrong. Steps
// about which the rules say nothing are left out.
func (p *indexPlayer) hold(ctx context.Context, a *adapter, c lineage.Config, next func(*model.Model) *lineage.Step) error {
	m := model.New(c, p.claims)
	p.held.Script = &lineage.Script{Config: c}
	from := a.Said()
	p.indexTalker = a.indexer()
	if err := p.begin(ctx, c); err != nil {
		return err
	}
	for st := next(m); st != nil; st = next(m) {
		if !m.Asks(st) {
			continue
		}
		turn, err := p.take(ctx, st)
		if err != nil {
			p.held.Script.Steps = append(p.held.Script.Steps, st)
			return err
		}
		if turn.Left != "" {
			continue
		}
		p.held.Script.Steps, p.held.Turns = append(p.held.Script.Steps, st), append(p.held.Turns, turn)
		if p.wrong = m.Follow(st, turn.Answer); p.wrong != nil {
			p.lines = a.Transcript(from)
			break
		}
	}
	return p.finish(ctx)
}

// indexer begins a conversation with a session index.
func (a *adapter) indexer() *indexTalker {
	return &indexTalker{adapter: a, registered: map[string]bool{}, tokens: map[string]string{}}
}

// indexTalker holds one conversation.
type indexTalker struct {
	*adapter
	instance   string
	registered map[string]bool   // workers that were, without a step of their own
	tokens     map[string]string // by the name of the step that got them
}

// begin makes the instance that the conversation is about.
func (t *indexTalker) begin(ctx context.Context, c lineage.Config) error {
	made, err := called[component.Instance](ctx, t.Client, component.OpNew, component.NewArgs{Component: component.SessionIndexComponent, Config: indexConfig(c)})
	if err != nil {
		return fmt.Errorf("make an instance: %w", err)
	}
	t.instance = made.Instance
	return nil
}

// finish ends the instance.
func (t *indexTalker) finish(ctx context.Context) error {
	_, err := called[struct{}](ctx, t.Client, component.OpClose, component.Instance{Instance: t.instance})
	return err
}

// called calls an operation that need not wait.
func called[T any](ctx context.Context, c *component.Client, op string, args any) (T, error) {
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return component.Do[T](limited, c, op, args)
}

// usual is the incarnation of workers about whose lives a conversation does not care.
const usual = "usual"

// take asks one step.
func (t *indexTalker) take(ctx context.Context, st *lineage.Step) (turn lineage.Turn, err error) {
	if st.Op == lineage.Dump && !t.hello.Has(component.ClaimDump) {
		return lineage.Turn{Left: "the adapter does not claim " + string(component.ClaimDump), Unable: true}, nil
	}
	if err := t.enlist(ctx, st); err != nil {
		return turn, err
	}
	args, left := t.args(st)
	if left != "" {
		return lineage.Turn{Left: left}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	answer, err := t.Call(ctx, st.Op, args)
	if err != nil {
		return turn, err
	}
	turn.Answer, err = t.answered(st, answer)
	return turn, err
}

// incarnation is the one that an event comes under: its own, or the usual one where the
// adapter wants to hear of one.
func (t *indexTalker) incarnation(st *lineage.Step) string {
	if st.Incarnation == "" && t.hello.Has(component.ClaimLifecycle) {
		return usual
	}
	return st.Incarnation
}

// enlist registers the worker of an event at its first use, unless the conversation does.
func (t *indexTalker) enlist(ctx context.Context, st *lineage.Step) error {
	event := st.Op == lineage.Store || st.Op == lineage.Match || st.Op == lineage.StoreAdmit || st.Op == lineage.MatchAdmit || st.Op == lineage.Fill
	if !event || st.Incarnation != "" || t.incarnation(st) == "" || t.registered[st.At.Worker] {
		return nil
	}
	t.registered[st.At.Worker] = true
	_, err := called[struct{}](ctx, t.Client, component.OpRegister, component.MemberArgs{Instance: t.instance, Worker: st.At.Worker, Incarnation: usual})
	return err
}
