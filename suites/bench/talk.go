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
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Talk is how a case speaks to a component: by a script, in a Crowd, or at random.
type Talk interface {
	// component names the component.
	component() string
	// needs are the adapter's claims without which it proves nothing.
	needs() []string
	// hold has the conversation and adds what was said to h. Its error is a
	// *component.Fault, ctx's, or ours.
	hold(ctx context.Context, a *adapter, seed uint64, h *history.History) error
}

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
	c, err := target.StartComponent(ctx, p.env.Manifest, p.env.Component)
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
	h := &history.History{Case: c.ID, Seed: seed, Talk: a.talk()}
	err = c.Talk.hold(limited, a, seed, h)
	var fault *component.Fault
	if errors.As(err, &fault) {
		short := *fault
		short.Log = ""
		h.Talk.Fault, out.LogTail, err = short.Error(), fault.Log, nil
	}
	var refused *component.Error
	if errors.As(err, &refused) && refused.Kind == component.Unsupported && c.policy() != "" && len(h.Talk.Turns) == 0 {
		out.Verdict, out.Detail = report.Declined, fmt.Sprintf("the adapter does not know atCapacity %s", c.policy())
		return
	}
	if errors.As(err, &refused) { // what no script asks for, such as an instance to talk to
		h.Talk.Fault, err = err.Error(), nil
	}
	out.Faulty = fault != nil
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
	for _, claim := range c.Talk.needs() {
		if !a.hello.Has(component.Claim(claim)) {
			return claim
		}
	}
	return ""
}

// talk begins the evidence of a conversation.
func (a *adapter) talk() *script.Talk {
	talk := &script.Talk{Adapter: strings.TrimSpace(a.hello.Name + " " + a.hello.Version), Turns: []script.Turn{}, Lines: []script.Line{}}
	for _, c := range a.hello.Claims {
		talk.Claims = append(talk.Claims, string(c))
	}
	return talk
}

// scripted is a talk by a script.
type scripted struct{ *script.Script }

func (scripted) component() string { return component.AffinityComponent }

func (s scripted) needs() []string { return s.Needs() }

func (s scripted) hold(ctx context.Context, a *adapter, _ uint64, h *history.History) error {
	t := a.talker()
	return t.hold(ctx, s.Script, h.Talk)
}

// asked is an operation that was sent.
type asked struct {
	name string
	op   string
}

// talker holds one conversation.
type talker struct {
	*adapter
	instance string
	others   map[string]string       // further instances, by the name of the step that made them
	asked    map[component.ID]asked  // not yet answered
	leases   map[string]string       // by the name of their acquire
	ids      map[string]component.ID // all that was asked, by name
	passed   map[string]string       // what passes have named
}

func (a *adapter) talker() *talker {
	return &talker{adapter: a, others: map[string]string{}, asked: map[component.ID]asked{}, leases: map[string]string{}, ids: map[string]component.ID{}, passed: map[string]string{}}
}

// begin makes the instance that the conversation is about.
func (t *talker) begin(ctx context.Context, c script.Config) error {
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	made, err := t.NewAffinity(limited, configOf(c), false)
	if err != nil {
		return fmt.Errorf("make an instance: %w", err)
	}
	t.instance = made.Instance
	return nil
}

// finish ends the instances.
func (t *talker) finish(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for _, name := range append(slices.Collect(maps.Values(t.others)), t.instance) {
		if err := (&component.Affinity{Client: t.Client, Instance: name}).CloseInstance(limited); err != nil {
			return err
		}
	}
	return nil
}

// hold goes through a script and writes down what was said, up to an error.
func (t *talker) hold(ctx context.Context, s *script.Script, talk *script.Talk) error {
	from := t.Said()
	defer func() { talk.Lines = t.lines(from) }()
	if err := t.begin(ctx, s.Config); err != nil {
		return err
	}
	for _, group := range script.Groups(s.Steps) {
		turns, err := t.take(ctx, group)
		if err != nil {
			return err
		}
		talk.Turns = append(talk.Turns, turns...)
		if slices.ContainsFunc(turns, func(x script.Turn) bool { return x.Left != "" && !x.Unable }) {
			return nil // nothing after it means anything
		}
	}
	return t.finish(ctx)
}

// lines are those of the conversation from one on.
func (a *adapter) lines(from int) (all []script.Line) {
	for _, l := range a.Transcript(from) {
		all = append(all, script.Line{At: l.At, Sent: l.Sent, Text: l.Text})
	}
	return all
}
