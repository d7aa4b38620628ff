package component

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is the JSON Schema (draft 2020-12) of a line in either direction. What
// the ok of an operation's answer holds is its definition NAME.ok.
//
//go:embed component.schema.json
var Schema []byte

const schemaID = "urn:routeproof:schema:component:v1"

// schemas are the compiled parts of Schema.
type schemas struct {
	line, answer *jsonschema.Schema
	frame, part  *jsonschema.Schema            // of a request, and of an operation of a batch, without what hangs on its name
	args, ok     map[string]*jsonschema.Schema // by operation
}

var compiled = sync.OnceValues(func() (*schemas, error) {
	s, err := compile()
	if err != nil {
		return nil, fmt.Errorf("component schema: %w", err)
	}
	return s, nil
})

func compile() (*schemas, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return nil, err
	}
	var names struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(Schema, &names); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(schemaID, doc); err != nil {
		return nil, err
	}
	s := &schemas{args: map[string]*jsonschema.Schema{}, ok: map[string]*jsonschema.Schema{}}
	if s.line, err = c.Compile(schemaID); err != nil {
		return nil, err
	}
	for def := range names.Defs {
		compiled, err := c.Compile(schemaID + "#/$defs/" + def)
		if err != nil {
			return nil, err
		}
		op, suffix := def, ""
		if dot := strings.LastIndexByte(def, '.'); dot >= 0 {
			op, suffix = def[:dot], def[dot:]
		}
		switch {
		case suffix == ".args":
			s.args[op] = compiled
		case suffix == ".ok":
			s.ok[op] = compiled
		case def == "answer":
			s.answer = compiled
		case def == "request.frame":
			s.frame = compiled
		case def == "part.frame":
			s.part = compiled
		}
	}
	return s, nil
}

// Validate checks a line, a request or an answer, by Schema. Of an answer it checks
// what can be told without its request; ValidateOK checks the rest.
func Validate(line []byte) error {
	s, err := compiled()
	if err != nil {
		return err
	}
	doc, err := strictJSON(line)
	if err != nil {
		return err
	}
	return check(s.line, doc)
}

// ValidateOK checks the result of the named operation. Of an operation that the
// schema does not know, any object will do.
func ValidateOK(op string, ok []byte) error {
	doc, err := strictJSON(ok)
	if err != nil {
		return err
	}
	return checkOK(op, doc)
}

func checkOK(op string, ok any) error {
	s, err := compiled()
	if err != nil {
		return err
	}
	return check(s.ok[op], ok)
}

// checkRequest is Validate for a request of our own. It goes straight to what the
// operation's name demands, where the schema tries one name after another: a batch has
// thousands.
func checkRequest(line []byte) error {
	s, err := compiled()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	if err := check(s.frame, doc); err != nil {
		return err
	}
	op, args := operation(doc)
	if op != OpBatch {
		return check(s.args[op], args)
	}
	parts, _ := args.(map[string]any)["ops"].([]any)
	if len(parts) == 0 {
		return errors.New("a batch of no operations")
	}
	for i, p := range parts {
		err := check(s.part, p)
		if err == nil {
			op, args := operation(p)
			err = check(s.args[op], args)
		}
		if err != nil {
			return fmt.Errorf("operation %d of the batch: %w", i, err)
		}
	}
	return nil
}

// operation takes a request, or an operation of a batch, apart.
func operation(doc any) (op string, args any) {
	m, _ := doc.(map[string]any)
	op, _ = m["op"].(string)
	if args = m["args"]; args == nil {
		args = map[string]any{}
	}
	return op, args
}

// check checks a document; without a schema, anything goes.
func check(s *jsonschema.Schema, doc any) error {
	if s == nil {
		return nil
	}
	return said(s.Validate(doc))
}

// said puts what the validator says on one line.
func said(err error) error {
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		meant(invalid)
	}
	_, causes, _ := strings.Cut(err.Error(), "\n")
	var all []string
	for line := range strings.Lines(causes) {
		if line = strings.TrimLeft(strings.TrimSpace(line), "- "); line != "" {
			all = append(all, line)
		}
	}
	return errors.New(strings.Join(all, "; "))
}

// meant leaves of alternatives of which none matched only the one that the document
// chose: no constant of it, such as a state, speaks against it. The others would say that
// it is not what it does not claim to be.
func meant(e *jsonschema.ValidationError) {
	for i, c := range e.Causes {
		meant(c)
		one, isOne := c.ErrorKind.(*kind.OneOf)
		_, isAny := c.ErrorKind.(*kind.AnyOf)
		if !isAny && (!isOne || one.Subschemas != nil) {
			continue
		}
		var chosen []*jsonschema.ValidationError
		for _, alternative := range c.Causes {
			if !otherConstant(alternative) {
				chosen = append(chosen, alternative)
			}
		}
		if len(chosen) == 1 && len(c.Causes) > 1 {
			e.Causes[i] = chosen[0]
		}
	}
}

// otherConstant says that a constant is not what was written.
func otherConstant(e *jsonschema.ValidationError) bool {
	_, is := e.ErrorKind.(*kind.Const)
	return is || slices.ContainsFunc(e.Causes, otherConstant)
}

// strictJSON decodes one JSON text that is UTF-8 throughout and repeats no member:
// encoding/json would take both without a word, each in a way of its own.
func strictJSON(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	if err := noRepeats(json.NewDecoder(bytes.NewReader(text))); err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// noRepeats walks through a text and finds a member that an object has twice. What
// is no JSON at all it leaves to the decoder proper.
func noRepeats(d *json.Decoder) error {
	type level struct {
		seen map[string]bool // nil in an array
		key  bool            // the next token is a member's name
	}
	var stack []level
	for {
		t, err := d.Token()
		if err != nil {
			return nil
		}
		top := len(stack) - 1
		name, isString := t.(string)
		switch {
		case t == json.Delim('{'):
			stack = append(stack, level{seen: map[string]bool{}, key: true})
			continue
		case t == json.Delim('['):
			stack = append(stack, level{})
			continue
		case t == json.Delim('}'), t == json.Delim(']'):
			stack = stack[:top]
			top--
		case isString && top >= 0 && stack[top].key:
			if stack[top].seen[name] {
				return fmt.Errorf("member %q is there twice", name)
			}
			stack[top].seen[name] = true
			stack[top].key = false
			continue
		}
		if top >= 0 && stack[top].seen != nil { // a member's value has ended
			stack[top].key = true
		}
	}
}
