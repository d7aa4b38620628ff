package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/script/model"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Random is a talk of many short conversations that are made up as they go, each on an
// instance of its own, in step with the model of the rules. The first that goes wrong is
// shrunk, and ends it.
type Random struct {
	Conversations int
	Steps         int  // of each
	Batches       bool // some of the steps are sent in batches
}

// What the search for a smaller conversation may cost.
const (
	shrinkTime  = 5 * time.Second
	shrinkTries = 2000
)

// search bounds the search for a smaller conversation.
type search struct {
	began time.Time
	tries int
}

func newSearch() *search { return &search{began: time.Now()} }

// more says, after another try, whether there may be one more.
func (s *search) more() bool {
	s.tries++
	return time.Since(s.began) < shrinkTime && s.tries < shrinkTries
}

func (Random) component() string { return component.AffinityComponent }

func (r Random) needs() []string {
	if r.Batches {
		return []string{string(component.ClaimBatch)}
	}
	return nil
}

func (r Random) hold(ctx context.Context, a *adapter, seed uint64, h *history.History) error {
	for i := range r.Conversations {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		g := model.NewGenerator(rnd, h.Talk.Claims)
		steps := r.Steps/2 + rnd.IntN(r.Steps/2+1)
		p := a.player()
		err := p.hold(ctx, g.Config(), func(m *model.Model) []*script.Step {
			if steps <= 0 {
				return nil
			}
			next := g.Next(m)
			if r.Batches {
				next = g.Batch(m, next)
			}
			steps -= len(next)
			return next
		})
		h.Held = append(h.Held, p.held)
		if err != nil {
			return err
		}
		if p.wrong != nil {
			return a.shrink(ctx, p, h)
		}
	}
	return nil
}

// shrink looks for a smaller conversation that goes wrong as well, and adds it.
func (a *adapter) shrink(ctx context.Context, found *player, h *history.History) error {
	var err error
	search := newSearch()
	model.Shrink(found.upToIt(), func(s *script.Script) (*script.Script, bool) {
		p, groups := a.player(), script.Groups(s.Steps)
		err = p.hold(ctx, s.Config, func(*model.Model) (next []*script.Step) {
			if len(groups) > 0 {
				next, groups = groups[0], groups[1:]
			}
			return next
		})
		goOn := search.more() && err == nil
		if err != nil || p.wrong == nil {
			return nil, goOn
		}
		found = p
		return p.upToIt(), goOn
	})
	found.held.Replay = found.replay()
	h.Held = append(h.Held, found.held)
	return err
}

// player holds one conversation in step with the model.
type player struct {
	*talker
	model *model.Model
	held  script.Held
	wrong *model.Difference // nil as long as nothing did
	last  []*script.Step    // those that were asked together and went wrong
	from  int               // its first line
	to    int               // behind its last, the end of the instance left out
}

// upToIt is what was asked up to the step that went wrong, if its batch is left at that.
func (p *player) upToIt() *script.Script {
	n := len(p.held.Script.Steps) - len(p.last) + p.wrong.At + 1
	return &script.Script{Config: p.held.Script.Config, Steps: p.held.Script.Steps[:n]}
}

func (a *adapter) player() *player { return &player{talker: a.talker()} }

// hold takes steps until there are no more, or one goes wrong. Those that cannot be
// asked are left out. The error is a *component.Fault, ctx's, or ours.
func (p *player) hold(ctx context.Context, c script.Config, next func(*model.Model) []*script.Step) error {
	p.from = p.Said()
	err := p.begin(ctx, c)
	var refused *component.Error
	if errors.As(err, &refused) && refused.Kind == component.Unsupported { // the policy: then it has its own, out of sight
		c.Capacity, c.AtCapacity = 0, ""
		err = p.begin(ctx, c)
	}
	p.model, p.held.Script = model.New(c), &script.Script{Config: c}
	if err != nil {
		return err
	}
	for steps := next(p.model); len(steps) > 0; steps = next(p.model) {
		turns, err := p.take(ctx, steps)
		var taken []*script.Step // those that could be asked
		var went []script.Turn
		for i, turn := range turns {
			if turn.Left == "" {
				taken, went = append(taken, steps[i]), append(went, turn)
			}
		}
		p.held.Script.Steps = append(p.held.Script.Steps, taken...)
		if err != nil {
			return err
		}
		if len(taken) == 0 {
			continue
		}
		p.held.Turns = append(p.held.Turns, went...)
		if p.wrong = p.model.Follow(taken, went); p.wrong != nil {
			p.last = taken
			break
		}
	}
	p.to = p.Said()
	return p.finish(ctx)
}
