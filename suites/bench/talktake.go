package bench

import (
	"context"
	"slices"

	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target/component"
)

// take asks one step, or several in one batch, and gathers what they have brought
// about. What became of operations that waited is in the turn of the step that says so,
// else in the last one's.
func (t *talker) take(ctx context.Context, steps []*script.Step) ([]script.Turn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	turns := make([]script.Turn, len(steps))
	b := batch{}
	for i, st := range steps {
		turns[i] = script.Turn{Step: st.Name, Answers: []script.Answer{}, Waiting: []string{}}
		turn := &turns[i]
		switch {
		case st.Needs != "" && !t.hello.Has(component.Claim(st.Needs)):
			turn.Left, turn.Unable = "the adapter does not claim "+st.Needs, true
		case !st.Meant(t.passed):
			turn.Left, turn.Unable = "what it depends on is not so", true
		default:
			b.now = len(b.turns)
			if turn.Left = b.add(t, st, turn, steps[i+1:]); turn.Left != "" && st.Batch == 0 {
				return turns, nil
			}
		}
	}
	if len(b.turns) == 0 {
		return turns, nil
	}
	id, err := b.start(ctx, t)
	if err != nil {
		return turns, err
	}
	parked, err := t.Sync(ctx)
	if err != nil {
		return turns, err
	}
	waiting := []string{}
	for _, id := range parked {
		if a, ok := t.asked[id]; ok { // else it is another conversation's
			waiting = append(waiting, a.name)
		}
	}
	came, err := t.came(ctx, parked)
	if err != nil {
		return turns, err
	}
	for _, answer := range came {
		if answer.ID == id && b.whole {
			err = b.answered(t, answer)
		} else {
			err = b.noted(t, answer)
		}
		if err != nil {
			return turns, err
		}
		delete(t.asked, answer.ID)
	}
	for i, turn := range b.turns {
		turn.Waiting = waiting
		t.inherit(b.steps[i], *turn)
	}
	return turns, nil
}

// came are the answers to what is not parked, in the order of their lines.
func (t *talker) came(ctx context.Context, parked []component.ID) (came []component.Answer, err error) {
	for id := range t.asked {
		if slices.Contains(parked, id) {
			continue
		}
		answer, err := t.Await(ctx, id)
		if err != nil {
			return nil, err
		}
		came = append(came, answer)
	}
	slices.SortFunc(came, func(a, b component.Answer) int { return a.Arrived - b.Arrived })
	return came, nil
}

// batch is what is asked at once: one step, or several.
type batch struct {
	whole bool // an operation of its own, made of several
	steps []*script.Step
	turns []*script.Turn
	parts []component.Part
	now   int // the place of the step that is added
	later []*script.Step
}

// add adds a step, or says why it cannot be asked.
func (b *batch) add(t *talker, st *script.Step, turn *script.Turn, later []*script.Step) (left string) {
	b.whole, b.later = st.Batch != 0, later
	if st.Op == script.Acquire {
		delete(t.leases, st.Name)
	}
	args, left := t.args(st, b)
	if left == "" {
		b.steps, b.turns, b.parts = append(b.steps, st), append(b.turns, turn), append(b.parts, component.Part{Op: st.Op, Args: args})
	}
	return left
}

// index is the place in the batch of an operation that a lease is named after; -1 if it
// has none. One that comes later is meant if there was none before.
func (b *batch) index(name string, before bool) int {
	if !b.whole {
		return -1
	}
	for i := len(b.steps) - 1; i >= 0 && before; i-- {
		if b.steps[i].Name == name {
			return i
		}
	}
	for i, st := range b.later {
		if !before && st.Batch != 0 && st.Name == name {
			return b.now + 1 + i
		}
	}
	return -1
}

func (b *batch) start(ctx context.Context, t *talker) (component.ID, error) {
	if b.whole {
		id, err := t.Start(ctx, component.OpBatch, component.BatchArgs{Ops: b.parts})
		t.asked[id] = asked{"the batch", component.OpBatch}
		return id, err
	}
	st := b.steps[0]
	id, err := t.Start(ctx, st.Op, b.parts[0].Args)
	t.asked[id], t.ids[st.Name] = asked{st.Name, st.Op}, id
	return id, err
}

// answered notes the answer to a batch: each part's, or the same for all if it was
// refused as a whole.
func (b *batch) answered(t *talker, answer component.Answer) error {
	var all component.Batched
	if answer.Err != nil {
		all.Answers = slices.Repeat([]component.Outcome{answer.Outcome}, len(b.steps))
	} else if err := answer.Into(&all); err != nil {
		return err
	}
	for i, st := range b.steps {
		got, err := t.answered(asked{st.Name, st.Op}, all.Answers[i])
		if err != nil {
			return err
		}
		b.turns[i].Answers = append(b.turns[i].Answers, got)
	}
	return nil
}

// noted notes an answer that came by itself, in the turn of the step that speaks of it.
func (b *batch) noted(t *talker, answer component.Answer) error {
	got, err := t.answered(t.asked[answer.ID], answer.Outcome)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(b.steps, func(st *script.Step) bool {
		return slices.ContainsFunc(st.Wants, func(w script.Want) bool { return w.Name == got.Name }) || st.Passes != nil && slices.Contains(st.Passes.Among, got.Name)
	})
	if at < 0 {
		at = len(b.steps) - 1
	}
	b.turns[at].Answers = append(b.turns[at].Answers, got)
	return nil
}

// inherit gives the one that was picked among several its other name.
func (t *talker) inherit(st *script.Step, turn script.Turn) {
	if st.Passes == nil {
		return
	}
	for _, a := range turn.Answers {
		for _, n := range st.Passes.Among {
			if a.Name == n && st.Passes.Outcome.Meets(a.Outcome) {
				t.leases[st.Passes.As], t.ids[st.Passes.As], t.passed[st.Passes.As] = t.leases[n], t.ids[n], n
			}
		}
	}
}
