package target

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/routeproof/routeproof/suites/near"
	"github.com/routeproof/routeproof/suites/yamlfile"
)

// reader walks one YAML document strictly. The first error sticks; after it
// everything reads as zero, so that callers check once, at the end.
type reader struct {
	file string
	err  *ManifestError
}

// value is one node with the path that leads to it.
type value struct {
	r    *reader
	path string
	node ast.Node
	at   *token.Position
}

// object is a mapping with known keys.
type object struct {
	r      *reader
	path   string
	at     *token.Position
	fields map[string]value
}

// entry is one pair of a mapping with free keys.
type entry struct {
	key string
	at  *token.Position // of the key
	val value
}

func (r *reader) fail(at *token.Position, key, val, problem, remedy string) {
	if r.err != nil {
		return
	}
	e := &ManifestError{File: r.file, Line: 1, Column: 1, Key: key, Value: val, Problem: problem, Remedy: remedy}
	if at != nil {
		e.Line, e.Column = max(at.Line, 1), max(at.Column, 1)
	}
	r.err = e
}

func (v value) fail(val, problem, remedy string) { v.r.fail(v.at, v.path, val, problem, remedy) }

// open parses the source and gives its one document.
func (r *reader) open(source []byte) value {
	root := &token.Position{Line: 1, Column: 1}
	f, fault := yamlfile.Parse(source)
	switch {
	case fault != nil:
		r.fail(&token.Position{Line: fault.Line, Column: fault.Column}, "", "", fault.Problem, fault.Remedy)
	case len(f.Docs) == 0 || f.Docs[0].Body == nil:
		r.fail(root, "", "", "the manifest is empty", "begin with apiVersion: "+APIVersion)
	case len(f.Docs) > 1 && f.Docs[1].Body != nil:
		r.fail(f.Docs[1].Body.GetToken().Position, "", "", "a second document", "keep one manifest in a file")
	default:
		return value{r: r, node: f.Docs[0].Body, at: root}
	}
	return value{r: r, at: root}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// kind names a node for people.
func kind(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "a boolean"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	}
	return "an anchor, alias or tag"
}

func (v value) wrong(want, remedy string) {
	shown := ""
	if v.node != nil {
		if t := v.node.GetToken(); t != nil {
			shown = t.Value
		}
	}
	v.fail(shown, "must be "+want+", is "+kind(v.node), remedy)
}

// entries reads a mapping with free keys, in order.
func (v value) entries() []entry {
	if v.r.err != nil {
		return nil
	}
	m, ok := v.node.(*ast.MappingNode)
	if !ok {
		v.wrong("a mapping", "write KEY: VALUE lines below it")
		return nil
	}
	list := make([]entry, 0, len(m.Values))
	seen := map[string]bool{}
	for _, pair := range m.Values {
		t := pair.Key.GetToken()
		if _, merge := pair.Key.(*ast.MergeKeyNode); merge || strings.HasPrefix(pair.Key.String(), "?") {
			v.r.fail(t.Position, v.path, t.Value, "merge keys and complex keys are not supported", "write the keys out")
			return nil
		}
		key := t.Value
		if seen[key] {
			v.r.fail(t.Position, join(v.path, key), key, "is given twice", "keep one")
			return nil
		}
		seen[key] = true
		at := t.Position
		if pair.Value != nil {
			if vt := pair.Value.GetToken(); vt != nil && vt.Position != nil {
				at = vt.Position
			}
			switch pair.Value.(type) {
			case *ast.MappingNode, *ast.SequenceNode, *ast.NullNode:
				at = t.Position // their own place is a colon or a dash further on
			}
		}
		list = append(list, entry{key: key, at: t.Position, val: value{r: v.r, path: join(v.path, key), node: pair.Value, at: at}})
	}
	return list
}

// object reads a mapping with known keys.
func (v value) object(known ...string) object {
	o := object{r: v.r, path: v.path, at: v.at, fields: map[string]value{}}
	for _, e := range v.entries() {
		if !slices.Contains(known, e.key) {
			v.r.fail(e.at, e.val.path, e.key, "unknown key", "near: "+near.List(known, e.key))
			break
		}
		o.fields[e.key] = e.val
	}
	return o
}

// has gives a key's value, ok false if absent.
func (o object) has(key string) (value, bool) {
	v, ok := o.fields[key]
	return v, ok && o.r.err == nil
}

// need gives a key's value; its absence is an error at the mapping.
func (o object) need(key, remedy string) (value, bool) {
	v, ok := o.fields[key]
	if !ok {
		o.r.fail(o.at, join(o.path, key), "", "is missing", remedy)
	}
	return v, ok && o.r.err == nil
}

// text reads a non-empty string.
func (v value) text() string {
	if v.r.err != nil {
		return ""
	}
	s := ""
	switch n := v.node.(type) {
	case *ast.StringNode:
		s = n.Value
	case *ast.LiteralNode:
		s = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		v.wrong("text", "put it in quotes")
		return ""
	default:
		v.wrong("text", "write one text")
		return ""
	}
	if strings.TrimSpace(s) == "" {
		v.fail(s, "is empty", "fill it in or leave the key out")
	}
	return s
}

// word reads one of a few words.
func (v value) word(words ...string) string {
	s := v.text()
	if v.r.err == nil && !slices.Contains(words, s) {
		v.fail(s, fmt.Sprintf("%q is not known", s), "write one of "+near.List(words, s))
	}
	return s
}

// yes reads yes or no.
func (v value) yes() bool {
	if v.r.err != nil {
		return false
	}
	if b, ok := v.node.(*ast.BoolNode); ok {
		return b.Value
	}
	if s, ok := v.node.(*ast.StringNode); ok && (s.Value == "yes" || s.Value == "no") {
		return s.Value == "yes"
	}
	v.wrong("yes or no", "write yes or no")
	return false
}

// number reads a whole number within bounds.
func (v value) number(low, high int64) int {
	if v.r.err != nil {
		return 0
	}
	n, ok := v.node.(*ast.IntegerNode)
	if !ok {
		v.wrong("a whole number", fmt.Sprintf("write a number from %d to %d", low, high))
		return 0
	}
	i, err := strconv.ParseInt(fmt.Sprint(n.Value), 10, 64)
	if err != nil || i < low || i > high {
		v.fail(n.Token.Value, n.Token.Value+" is out of range", fmt.Sprintf("write a number from %d to %d", low, high))
		return 0
	}
	return int(i)
}

// duration reads a time with its unit, within bounds, both included.
func (v value) duration(low, high time.Duration) time.Duration {
	if v.r.err != nil {
		return 0
	}
	example := fmt.Sprintf("write a time with its unit from %v to %v, such as 2s or 500ms", low, high)
	n, ok := v.node.(*ast.StringNode)
	if !ok {
		v.wrong("a duration", example)
		return 0
	}
	d, err := time.ParseDuration(n.Value)
	switch {
	case err != nil:
		v.fail(n.Value, fmt.Sprintf("%q is not a duration", n.Value), example)
	case d < low || d > high:
		v.fail(n.Value, n.Value+" is out of range", example)
	}
	return d
}

// list reads a list that is not empty.
func (v value) list() []value {
	if v.r.err != nil {
		return nil
	}
	s, ok := v.node.(*ast.SequenceNode)
	if !ok {
		v.wrong("a list", "write [A, B]")
		return nil
	}
	if len(s.Values) == 0 {
		v.fail("[]", "is empty", "fill it in or leave the key out")
	}
	var all []value
	for i, n := range s.Values {
		at := v.at
		if t := n.GetToken(); t != nil && t.Position != nil {
			at = t.Position
		}
		if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
			at = m.Values[0].Key.GetToken().Position
		}
		all = append(all, value{r: v.r, path: fmt.Sprintf("%s[%d]", v.path, i), node: n, at: at})
	}
	return all
}

// template reads a text and parses it as a template.
func (v value) template() Template {
	s := v.text()
	if v.r.err != nil {
		return Template{}
	}
	t := Template{text: s, file: v.r.file, key: v.path, line: v.at.Line, column: v.at.Column}
	if lit, ok := v.node.(*ast.LiteralNode); ok {
		t.block, t.folded = true, strings.HasPrefix(lit.Start.Value, ">")
	}
	if err := t.parse(); err != nil {
		v.r.err = err.(*ManifestError)
	}
	return t
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
