package component

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
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
	ok           map[string]*jsonschema.Schema // by operation
}

var compiled = sync.OnceValues(func() (*schemas, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return nil, fmt.Errorf("component schema: %w", err)
	}
	var names struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(Schema, &names); err != nil {
		return nil, fmt.Errorf("component schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(schemaID, doc); err != nil {
		return nil, fmt.Errorf("component schema: %w", err)
	}
	s := &schemas{ok: map[string]*jsonschema.Schema{}}
	if s.line, err = c.Compile(schemaID); err != nil {
		return nil, err
	}
	if s.answer, err = c.Compile(schemaID + "#/$defs/answer"); err != nil {
		return nil, err
	}
	for def := range names.Defs {
		op, isOK := strings.CutSuffix(def, ".ok")
		if !isOK {
			continue
		}
		if s.ok[op], err = c.Compile(schemaID + "#/$defs/" + def); err != nil {
			return nil, err
		}
	}
	return s, nil
})

// Validate checks a line, a request or an answer, by Schema. Of an answer it checks
// what can be told without its request; ValidateOK checks the rest.
func Validate(line []byte) error {
	s, err := compiled()
	if err != nil {
		return err
	}
	return check(s.line, line)
}

// ValidateOK checks the result of the named operation. Of an operation that the
// schema does not know, any object will do.
func ValidateOK(op string, ok []byte) error {
	s, err := compiled()
	if err != nil {
		return err
	}
	if s.ok[op] == nil {
		return nil
	}
	return check(s.ok[op], ok)
}

func check(s *jsonschema.Schema, text []byte) error {
	doc, err := strictJSON(text)
	if err != nil {
		return err
	}
	return said(s.Validate(doc))
}

// said puts what the validator says on one line.
func said(err error) error {
	if err == nil {
		return nil
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
