// Package conversation plays written conversations to an adapter and says where it
// answers otherwise. component.md describes their format.
package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/target/component"
)

// Conversation is a written conversation.
type Conversation struct {
	Name  string // what it shows, in words
	file  string
	steps []step
}

// step is a request and the answers that it brings.
type step struct {
	line  int // in the file
	id    component.ID
	op    string
	args  map[string]any
	wants []want
}

// want is an expected answer. Strings in it that begin with $ are variables.
type want struct {
	line int
	id   component.ID
	text string
	doc  map[string]any
}

// Load reads all conversations of a folder, by name.
func Load(files fs.FS) ([]*Conversation, error) {
	names, err := fs.Glob(files, "*.jsonl")
	if err != nil {
		return nil, err
	}
	var all []*Conversation
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		v, err := Parse(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// Parse reads a conversation. The error names file and line. Every line must be one of
// the protocol; an answer must follow its request, and a variable in a request the
// answer that binds it.
func Parse(file string, text []byte) (*Conversation, error) {
	v := &Conversation{Name: strings.ReplaceAll(strings.TrimSuffix(path.Base(file), ".jsonl"), "-", " "), file: file}
	p := parser{v: v, open: map[component.ID]bool{}, bound: map[string]bool{}}
	no := 0
	for l := range bytes.Lines(text) {
		no++
		if l = bytes.TrimSpace(l); len(l) == 0 {
			continue
		}
		if err := p.line(no, l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, no, err)
		}
	}
	if len(v.steps) == 0 {
		return nil, fmt.Errorf("%s: no request in it", file)
	}
	return v, nil
}

type parser struct {
	v     *Conversation
	open  map[component.ID]bool // asked; false once it is answered
	bound map[string]bool       // variables
}

func (p *parser) line(no int, text []byte) error {
	if err := component.Validate(text); err != nil {
		return err
	}
	var frame struct {
		ID   component.ID   `json:"id"`
		Op   string         `json:"op"`
		Args map[string]any `json:"args"`
	}
	if err := decode(text, &frame); err != nil {
		return err
	}
	open, asked := p.open[frame.ID]
	if frame.Op != "" {
		if asked {
			return fmt.Errorf("id %s was asked before", frame.ID)
		}
		p.open[frame.ID] = true
		for _, name := range variables(frame.Args) {
			if !p.bound[name] {
				return fmt.Errorf("%s stands in no answer before this", name)
			}
		}
		p.v.steps = append(p.v.steps, step{line: no, id: frame.ID, op: frame.Op, args: frame.Args})
		return nil
	}
	if !open {
		return fmt.Errorf("no request with id %s waits for an answer here", frame.ID)
	}
	p.open[frame.ID] = false
	w := want{line: no, id: frame.ID, text: string(text)}
	if err := decode(text, &w.doc); err != nil {
		return err
	}
	for _, name := range variables(w.doc) {
		p.bound[name] = true
	}
	last := &p.v.steps[len(p.v.steps)-1]
	last.wants = append(last.wants, w)
	return nil
}

// decode keeps numbers as they are written.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// variables lists those in a document.
func variables(doc any) (names []string) {
	switch d := doc.(type) {
	case string:
		if strings.HasPrefix(d, "$") {
			names = append(names, d)
		}
	case []any:
		for _, e := range d {
			names = append(names, variables(e)...)
		}
	case map[string]any:
		for _, e := range d {
			names = append(names, variables(e)...)
		}
	}
	return names
}

// Needs lists the claims without which the conversation cannot be had.
func (v *Conversation) Needs() []component.Claim {
	need := map[component.Claim]bool{}
	for _, s := range v.steps {
		needs(s.op, s.args, need)
	}
	return slices.Sorted(maps.Keys(need))
}

// Components lists the components of which it makes instances, unless it shall be told that
// there is none.
func (v *Conversation) Components() []string {
	seen := map[string]bool{}
	for _, s := range v.steps {
		name, _ := s.args["component"].(string)
		declined := len(s.wants) > 0 && s.wants[0].doc["error"] != nil
		if s.op == component.OpNew && !declined {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// lifecycle are the operations of a session index that hang on claims.
var lifecycle = map[string][]component.Claim{
	component.OpDump: {component.ClaimDump}, component.OpRegister: {component.ClaimLifecycle}, component.OpWorkerRemove: {component.ClaimLifecycle},
	component.OpStoreAdmit: {component.ClaimAdmission}, component.OpStoreApply: {component.ClaimAdmission},
	component.OpMatchAdmit: {component.ClaimAdmission}, component.OpMatchApply: {component.ClaimAdmission},
	component.OpRemoveBegin: {component.ClaimAdmission}, component.OpRemoveAwait: {component.ClaimAdmission},
	component.OpPhysicalSet: {component.ClaimPhysical}, component.OpPhysicalFail: {component.ClaimBarrier}, component.OpFlush: {component.ClaimBarrier},
}

func needs(op string, args map[string]any, need map[component.Claim]bool) {
	switch op {
	case component.OpAdvance:
		need[component.ClaimClock] = true
	case component.OpCount:
		need[component.ClaimCount] = true
	case component.OpBatch:
		need[component.ClaimBatch] = true
		ops, _ := args["ops"].([]any)
		for _, o := range ops {
			part, _ := o.(map[string]any)
			name, _ := part["op"].(string)
			inner, _ := part["args"].(map[string]any)
			needs(name, inner, need)
		}
	}
	for _, claim := range lifecycle[op] {
		need[claim] = true
	}
	if args["incarnation"] != nil {
		need[component.ClaimLifecycle] = true
	}
	if args["concurrent"] == true {
		need[component.ClaimConcurrency] = true
	}
	if args["tenant"] != nil {
		need[component.ClaimTenant] = true
	}
	if args["phase"] == string(component.Prefill) {
		need[component.ClaimPhases] = true
	}
	for _, name := range []string{"pin", "target"} {
		if place, _ := args[name].(map[string]any); place["rank"] != nil {
			need[component.ClaimRanks] = true
		}
	}
}
