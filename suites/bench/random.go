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
	Steps         int // of each
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

func (Random) needs() []string { return nil }

func (r Random) hold(ctx context.Context, a *adapter, seed uint64, h *history.History) error {
	for i := range r.Conversations {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		g := model.NewGenerator(rnd, h.Talk.Claims)
		steps := r.Steps/2 + rnd.IntN(r.Steps/2+1)
		p := a.player()
		err := p.hold(ctx, g.Config(), func(m *model.Model) *script.Step {
			if steps--; steps < 0 {
				return nil
			}
			return g.Next(m)
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
	model.Shrink(found.held.Script, func(s *script.Script) (*script.Script, bool) {
		p, at := a.player(), 0
		err = p.hold(ctx, s.Config, func(*model.Model) *script.Step {
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
	h.Held = append(h.Held, found.held)
	return err
}

// player holds one conversation in step with the model.
type player struct {
	*talker
	model *model.Model
	held  script.Held
	wrong *model.Difference // nil as long as nothing did
	from  int               // its first line
	to    int               // behind its last, the end of the instance left out
}

func (a *adapter) player() *player { return &player{talker: a.talker()} }

// hold takes steps until there are no more, or one goes wrong. Those that cannot be
// asked are left out. The error is a *component.Fault, ctx's, or ours.
func (p *player) hold(ctx context.Context, c script.Config, next func(*model.Model) *script.Step) error {
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
	for st := next(p.model); st != nil; st = next(p.model) {
		if _, left := p.args(st); left != "" {
			continue
		}
		turn, err := p.take(ctx, st)
		if err != nil {
			p.held.Script.Steps = append(p.held.Script.Steps, st)
			return err
		}
		if turn.Unable {
			continue
		}
		p.held.Script.Steps, p.held.Turns = append(p.held.Script.Steps, st), append(p.held.Turns, turn)
		if p.wrong = p.model.Follow(st, turn); p.wrong != nil {
			break
		}
	}
	p.to = p.Said()
	return p.finish(ctx)
}
