package conversation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/target/component"
)

// Difference is an answer that is not the one in the file. Want and Got are JSON, ids
// too: 7 and "7" are two ids.
type Difference struct {
	File    string
	Line    int    // of the expected answer, or of the request that is to have none
	Problem string // what is different, by the member's path
	Want    string // the line in the file
	Got     string // the answer
}

func (d *Difference) Error() string {
	return fmt.Sprintf("%s:%d: %s\n  want %s\n  got  %s", d.File, d.Line, d.Problem, d.Want, d.Got)
}

// DeclinedError is a conversation that needs something which the adapter does not claim,
// or a component that it does not have.
type DeclinedError struct {
	Claim     component.Claim
	Component string // if it is that
}

func (d *DeclinedError) Error() string {
	if d.Component != "" {
		return fmt.Sprintf("declined: the adapter has no component %s", d.Component)
	}
	return fmt.Sprintf("declined: the adapter does not claim %s", d.Claim)
}

// Play has the conversation and returns the first *Difference, a *DeclinedError, or
// what the client says. It says hello first, where the conversation does not begin with
// it, and registers workers, where the adapter claims lifecycle and the conversation does
// not care. What the conversation leaves unanswered must be parked at its end. The client
// cannot be used for another conversation.
func (v *Conversation) Play(ctx context.Context, c *component.Client) error {
	p := player{v: v, c: c, vars: map[string]variable{}, registered: map[string]bool{}}
	if v.steps[0].op != component.OpHello {
		h, err := c.Hello(ctx)
		if err != nil {
			return err
		}
		for _, name := range v.Components() {
			if !slices.Contains(h.Components, name) {
				return &DeclinedError{Component: name}
			}
		}
		for _, claim := range v.Needs() {
			if !h.Has(claim) {
				return &DeclinedError{Claim: claim}
			}
		}
		p.enlists = h.Has(component.ClaimLifecycle) && !slices.Contains(v.Needs(), component.ClaimLifecycle)
	}
	for _, s := range v.steps {
		if err := p.step(ctx, s); err != nil {
			return err
		}
	}
	return p.rest(ctx)
}

type player struct {
	v    *Conversation
	c    *component.Client
	vars map[string]variable

	enlists    bool            // workers are registered at their first use
	registered map[string]bool // by instance and worker
}

// variable is a string of the adapter's own making, and the member that it first
// stood in: leases differ from leases, but may look like instances.
type variable struct{ member, value string }

func (p *player) step(ctx context.Context, s step) error {
	var args any
	if s.args != nil {
		args = p.substitute(s.args)
	}
	if p.enlists {
		if err := p.enlist(ctx, s.op, args); err != nil {
			return fmt.Errorf("%s:%d: %w", p.v.file, s.line, err)
		}
	}
	if err := p.c.StartAs(ctx, s.id, s.op, args); err != nil {
		return fmt.Errorf("%s:%d: %w", p.v.file, s.line, err)
	}
	var before []component.Answer // what came of this request, its own answer excepted
	for _, w := range s.wants {
		a, err := p.c.Await(ctx, w.id)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", p.v.file, w.line, err)
		}
		if problem := p.compare("", w.doc, document(a)); problem != "" {
			return p.different(w, a, problem)
		}
		if w.id != s.id {
			before = append(before, a)
			continue
		}
		if problem := order(s.op, a, before); problem != "" {
			return p.different(w, a, problem)
		}
	}
	return nil
}

// usual is the incarnation of workers about whose lives a conversation does not care.
const usual = "usual"

// enlist registers the worker of a store or a match at its first use, and has the event come
// under that incarnation. args were made for this step.
func (p *player) enlist(ctx context.Context, op string, args any) error {
	a, _ := args.(map[string]any)
	switch op {
	case component.OpBatch:
		ops, _ := a["ops"].([]any)
		for _, o := range ops {
			part, _ := o.(map[string]any)
			name, _ := part["op"].(string)
			if err := p.enlist(ctx, name, part["args"]); err != nil {
				return err
			}
		}
	case component.OpStore, component.OpMatch:
		instance, _ := a["instance"].(string)
		worker, _ := a["worker"].(string)
		a["incarnation"] = usual
		if key := instance + " " + worker; !p.registered[key] {
			p.registered[key] = true
			id := component.StringID(fmt.Sprintf("register %d", len(p.registered))) // numbers are the file's
			if err := p.c.StartAs(ctx, id, component.OpRegister, component.MemberArgs{Instance: instance, Worker: worker, Incarnation: usual}); err != nil {
				return err
			}
			answer, err := p.c.Await(ctx, id)
			if err == nil {
				err = answer.Into(&struct{}{})
			}
			return err
		}
	}
	return nil
}

func (p *player) different(w want, a component.Answer, problem string) error {
	return &Difference{File: p.v.file, Line: w.line, Problem: problem, Want: w.text, Got: answered(a)}
}

// order checks that answers come no earlier than what brings them and, where the
// protocol demands it, before the operation's own.
func order(op string, own component.Answer, others []component.Answer) string {
	for _, o := range others {
		switch {
		case o.Arrived < own.Asked:
			return fmt.Sprintf("the answer to %s came before %s was asked for", o.ID, op)
		case o.Arrived > own.Arrived && slices.Contains([]string{component.OpAdvance, component.OpCancel, component.OpClose}, op):
			return fmt.Sprintf("the answer to %s came after that of %s, which promises to be the last", o.ID, op)
		}
	}
	return ""
}

// rest checks that what is unanswered at the end is parked: the client itself holds
// the list against what it knows.
func (p *player) rest(ctx context.Context) error {
	asked := map[component.ID]int{} // -> its line
	for _, s := range p.v.steps {
		asked[s.id] = s.line
		for _, w := range s.wants {
			delete(asked, w.id)
		}
	}
	parked, err := p.c.Sync(ctx)
	if err != nil {
		return fmt.Errorf("%s: at its end: %w", p.v.file, err)
	}
	for _, id := range slices.SortedFunc(maps.Keys(asked), func(a, b component.ID) int { return cmp.Compare(asked[a], asked[b]) }) {
		if slices.Contains(parked, id) {
			continue
		}
		a, err := p.c.Await(ctx, id)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", p.v.file, asked[id], err)
		}
		return &Difference{File: p.v.file, Line: asked[id], Problem: fmt.Sprintf("operation %s was answered, and should be parked at the end", id),
			Want: "no answer", Got: answered(a)}
	}
	return nil
}

// answered is an answer's line as the file would have it.
func answered(a component.Answer) string {
	outcome := fmt.Sprintf(`"ok":%s`, a.OK)
	if a.Err != nil {
		outcome = `"error":` + text(document(a)["error"])
	}
	return fmt.Sprintf(`{"id":%s,%s}`, a.ID, outcome)
}

// document is the answer as the file would have it.
func document(a component.Answer) map[string]any {
	doc := map[string]any{"id": a.ID}
	if a.Err != nil {
		e := map[string]any{"kind": string(a.Err.Kind), "message": a.Err.Message}
		if a.Err.Block != "" {
			e["block"] = a.Err.Block
		}
		doc["error"] = e
		return doc
	}
	var ok any
	_ = decode(a.OK, &ok) // it was decoded before
	doc["ok"] = ok
	return doc
}

// free are the members that may be anything.
var free = map[string]bool{"id": true, "message": true, "version": true, "ns": true} // the id was found by itself

// compare says how what came differs from what is expected, and binds variables.
func (p *player) compare(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %s, want an object", at, text(got))
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if _, ok := g[name]; !ok {
				return fmt.Sprintf("%s/%s is missing", at, name)
			}
			if free[name] {
				continue
			}
			if problem := p.compare(at+"/"+name, w[name], g[name]); problem != "" {
				return problem
			}
		}
		for _, name := range slices.Sorted(maps.Keys(g)) {
			_, number := g[name].(json.Number)
			counted := number && (name == "discarded" || name == "steps")      // there or not, as the adapter claims
			if _, ok := w[name]; !ok && path.Base(at) != "error" && !counted { // an error may hold more
				return fmt.Sprintf("%s/%s should not be there", at, name)
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s is %s, want a list of %d", at, text(got), len(w))
		}
		if unordered[path.Base(at)] {
			w, g = sorted(w), sorted(g)
		}
		for i := range w {
			if problem := p.compare(fmt.Sprintf("%s/%d", at, i), w[i], g[i]); problem != "" {
				return problem
			}
		}
		return ""
	case string:
		if strings.HasPrefix(w, "$") {
			return p.bind(at, w, got)
		}
	}
	if text(want) != text(got) {
		return fmt.Sprintf("%s is %s, want %s", at, text(got), text(want))
	}
	return ""
}

// unordered are the lists of answers whose order means nothing. No variable stands in them.
var unordered = map[string]bool{"frontiers": true, "chains": true, "blocks": true}

func sorted(list []any) []any {
	return slices.SortedFunc(slices.Values(list), func(a, b any) int { return strings.Compare(text(a), text(b)) })
}

func (p *player) bind(at, name string, got any) string {
	value, ok := got.(string)
	if !ok {
		return fmt.Sprintf("%s is %s, want a string", at, text(got))
	}
	if v, bound := p.vars[name]; bound {
		if v.value != value {
			return fmt.Sprintf("%s is %s, want %s as before (%s)", at, text(value), text(v.value), name)
		}
		return ""
	}
	member := path.Base(at)
	for other, v := range p.vars {
		if v.value == value && v.member == member {
			return fmt.Sprintf("%s is %s, which is %s already; it must be new", at, text(value), other)
		}
	}
	p.vars[name] = variable{member, value}
	return ""
}

// substitute puts values in the place of variables.
func (p *player) substitute(doc any) any {
	switch d := doc.(type) {
	case string:
		if strings.HasPrefix(d, "$") {
			return p.vars[d].value
		}
	case []any:
		all := make([]any, len(d))
		for i, e := range d {
			all[i] = p.substitute(e)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(d))
		for name, e := range d {
			all[name] = p.substitute(e)
		}
		return all
	}
	return doc
}

func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}
