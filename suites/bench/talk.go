package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/linear"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

// answerLimit is how long an adapter may take for one operation that need not wait.
const answerLimit = 6 * time.Second

// adapter is a component at work, shared by the cases of a pool. A fault ends it.
type adapter struct {
	*component.Client
	hello component.Hello
}

// component starts the target's adapter, or returns the one that runs.
func (p *Pool) component(ctx context.Context) (*adapter, error) {
	if p.adapter != nil {
		return p.adapter, nil
	}
	c, err := target.StartComponent(ctx, p.env.Manifest, target.ComponentOptions{Coordinator: p.env.Coordinator})
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	hello, err := c.Hello(limited)
	if err != nil {
		return nil, errors.Join(err, closeClient(c))
	}
	p.adapter = &adapter{c, hello}
	return p.adapter, nil
}

func closeClient(c *component.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*answerLimit)
	defer cancel()
	return c.Close(ctx)
}

// dropAdapter ends the pool's adapter; the next case starts another.
func (p *Pool) dropAdapter() error {
	a := p.adapter
	p.adapter = nil
	if a == nil {
		return nil
	}
	return closeClient(a.Client)
}

// converse runs a scripted case.
func (p *Pool) converse(ctx context.Context, c Case, seed uint64, save func(*history.History) error, out *Outcome) {
	a, err := p.component(ctx)
	if err != nil {
		out.spoken(ctx, err)
		return
	}
	if lacking := a.lacks(c); lacking != "" {
		out.Verdict, out.Detail = report.Declined, fmt.Sprintf("the adapter does not claim %s", lacking)
		return
	}
	limited, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	h := &history.History{Case: c.ID, Seed: seed}
	if c.Crowd != nil {
		h.Talk, h.Ops, err = a.crowd(limited, *c.Crowd, seed)
	} else {
		t := &talker{adapter: a, script: c.Script, asked: map[component.ID]asked{}, leases: map[string]string{}, waiting: map[string]component.ID{}}
		h.Talk, err = t.hold(limited)
	}
	var fault *component.Fault
	if errors.As(err, &fault) {
		short := *fault
		short.LogTail = ""
		h.Talk.Fault, out.LogTail, err = short.Error(), fault.LogTail, nil
	}
	var refused *component.Error
	if errors.As(err, &refused) && refused.Kind == component.Unsupported && c.Script != nil && c.Script.Config.AtCapacity != "" && len(h.Talk.Turns) == 0 {
		out.Verdict, out.Detail = report.Declined, fmt.Sprintf("the adapter does not know atCapacity %s", c.Script.Config.AtCapacity)
		return
	}
	if errors.As(err, &refused) { // what no script asks for, such as an instance to talk to
		h.Talk.Fault, err = err.Error(), nil
	}
	if err != nil || h.Talk.Fault != "" {
		_ = p.dropAdapter() // what was wrong with it is said already
	}
	if save != nil {
		if saved := save(h); saved != nil {
			err = errors.Join(err, fmt.Errorf("save the evidence: %w", saved))
		}
	}
	switch {
	case ctx.Err() != nil:
		out.Verdict, out.Detail = report.Error, "interrupted"
	case err != nil:
		out.Verdict, out.Detail = report.Error, err.Error()
	default:
		if err := protect(func() error { out.Finding = c.Judge(h); return nil }); err != nil {
			out.Detail = err.Error()
		}
		out.Verdict = verdict(out.Finding, out.Detail)
	}
}

// spoken classifies an adapter that did not come up.
func (out *Outcome) spoken(ctx context.Context, err error) {
	var fault *component.Fault
	var refused *component.Error
	var gone *target.UnreachableError
	switch {
	case ctx.Err() != nil:
		out.Verdict, out.Detail = report.Error, "interrupted"
	case errors.As(err, &fault) || errors.As(err, &refused) || errors.As(err, &gone):
		out.Verdict, out.Target = report.Fail, err
		out.Finding.Violations = []judge.Violation{{Expected: "an adapter that starts and answers hello", Observed: err.Error()}}
	default:
		out.Verdict, out.Detail = report.Error, err.Error()
	}
}

// lacks names the first claim that the case needs and the adapter does not make.
func (a *adapter) lacks(c Case) string {
	needs := []string{"concurrency"}
	if c.Script != nil {
		needs = c.Script.Needs()
	}
	for _, claim := range needs {
		if !a.hello.Has(component.Claim(claim)) {
			return claim
		}
	}
	return ""
}

// crowd lets many callers talk at once. Their lines are too many to keep; the
// operations say it all.
func (a *adapter) crowd(ctx context.Context, c Crowd, seed uint64) (*script.Talk, []linear.Op, error) {
	talk := a.talk()
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	made, err := a.NewAffinity(limited, configOf(script.Config{IdleTTL: time.Hour}), true)
	cancel()
	if err != nil {
		return talk, nil, fmt.Errorf("make an instance: %w", err)
	}
	ops, err := c.hold(ctx, made, seed)
	if err != nil {
		return talk, ops, err
	}
	limited, cancel = context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return talk, ops, made.CloseInstance(limited)
}

// talk begins the evidence of a conversation.
func (a *adapter) talk() *script.Talk {
	talk := &script.Talk{Adapter: strings.TrimSpace(a.hello.Name + " " + a.hello.Version), Turns: []script.Turn{}, Lines: []script.Line{}}
	for _, c := range a.hello.Claims {
		talk.Claims = append(talk.Claims, string(c))
	}
	return talk
}

// asked is an operation that was sent.
type asked struct {
	name string
	op   string
	n    int // of the conversation's operations, from 0
}

// talker holds one conversation.
type talker struct {
	*adapter
	script   *script.Script
	instance string
	sent     int
	asked    map[component.ID]asked  // not yet answered
	leases   map[string]string       // by the name of their acquire
	waiting  map[string]component.ID // acquires that are not answered, by name
}

// hold goes through the script. The talk is what was said so far, with every error:
// a *component.Fault, ctx's, or ours.
func (t *talker) hold(ctx context.Context) (*script.Talk, error) {
	talk := t.talk()
	from := len(t.Transcript())
	defer func() {
		for _, l := range t.Transcript()[from:] {
			talk.Lines = append(talk.Lines, script.Line{At: l.At, Sent: l.Sent, Text: l.Text})
		}
	}()
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	made, err := t.NewAffinity(limited, configOf(t.script.Config), false)
	cancel()
	if err != nil {
		return talk, fmt.Errorf("make an instance: %w", err)
	}
	t.instance = made.Instance
	for _, st := range t.script.Steps {
		limited, cancel := context.WithTimeout(ctx, answerLimit)
		turn, err := t.take(limited, st)
		cancel()
		if err != nil {
			return talk, err
		}
		talk.Turns = append(talk.Turns, turn)
		if turn.Left != "" && !turn.Unable {
			return talk, nil // nothing after it means anything
		}
	}
	limited, cancel = context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return talk, made.CloseInstance(limited)
}

// take asks one step and gathers what it has brought about.
func (t *talker) take(ctx context.Context, st *script.Step) (script.Turn, error) {
	turn := script.Turn{Step: st.Name, Answers: []script.Answer{}, Waiting: []string{}}
	if st.Needs != "" && !t.hello.Has(component.Claim(st.Needs)) {
		turn.Left, turn.Unable = "the adapter does not claim "+st.Needs, true
		return turn, nil
	}
	args, left := t.args(st)
	if left != "" {
		turn.Left = left
		return turn, nil
	}
	id, err := t.Start(ctx, st.Op, args)
	if err != nil {
		return turn, err
	}
	t.asked[id] = asked{st.Name, st.Op, t.sent}
	t.sent++
	if st.Op == script.Acquire {
		delete(t.leases, st.Name)
		t.waiting[st.Name] = id
	}
	parked, err := t.Sync(ctx)
	if err != nil {
		return turn, err
	}
	waits := map[component.ID]bool{}
	for _, id := range parked {
		waits[id] = true
	}
	for _, id := range t.inOrder() {
		a := t.asked[id]
		if waits[id] {
			turn.Waiting = append(turn.Waiting, a.name)
			continue
		}
		answer, err := t.Await(ctx, id)
		if err != nil {
			return turn, err
		}
		delete(t.asked, id)
		got, err := t.answered(a, answer)
		if err != nil {
			return turn, err
		}
		turn.Answers = append(turn.Answers, got)
	}
	t.inherit(st, turn)
	return turn, nil
}

// inOrder are the operations that are not known to be answered, as they were sent.
func (t *talker) inOrder() []component.ID {
	return slices.SortedFunc(maps.Keys(t.asked), func(a, b component.ID) int { return t.asked[a].n - t.asked[b].n })
}

// inherit gives the one that was picked among several its other name.
func (t *talker) inherit(st *script.Step, turn script.Turn) {
	if st.Passes == nil {
		return
	}
	for _, a := range turn.Answers {
		for _, n := range st.Passes.Among {
			if a.Name == n && st.Passes.Outcome.Meets(a.Outcome) {
				t.leases[st.Passes.As] = t.leases[n]
			}
		}
	}
}
