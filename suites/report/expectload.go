package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/routeproof/routeproof/suites/near"
	"github.com/routeproof/routeproof/suites/yamlfile"
)

// ExpectAPIVersion is what an expectation file says in apiVersion.
const ExpectAPIVersion = "routeproof/v1"

// expectable are the verdicts that may be expected. The others say that the
// run or the manifest is at fault, which nobody should rely on.
var expectable = []Verdict{Pass, Fail, Inconclusive, Declined, Exempt}

// LoadExpected reads an expectation file, strictly:
//
//	apiVersion: routeproof/v1
//	target: HAProxy 2.6 with a stick table
//	default: pass            # optional: the verdict of cases not listed
//	declines:                # optional: claims; all cases that need one are declined
//	  component.affinity: it is no library
//	cases:
//	  AFF-012: {verdict: fail, why: "moves a session back when its worker returns"}
//	  STR-003/chunked: {verdict: declined, why: "buffers answers"}
//
// Known are the case IDs of the catalogue, and claims its claims; a case's key is one
// of the former, or ID/permutation.
// Verdicts are pass, fail, inconclusive, declined or exempt. Faults are
// reported with file and line, the first 20 of them: an unknown or repeated key,
// verdict or case ID, a missing target, verdict or apiVersion, and a missing why
// where the verdict is not pass.
func LoadExpected(path string, known, claims []string) (*Expected, error) {
	text, err := yamlfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("expectations: %w", err)
	}
	return parseExpected(path, text, known, claims)
}

type expectParser struct {
	file   string
	known  []string
	claims []string
	errs   []error
	more   int // faults beyond maxFaults
}

// maxFaults is how many faults of a file are told; of the others the number.
const maxFaults = 20

// nearest lists near names once somebody prints it: to find them takes a while.
type nearest struct {
	names []string
	wrong string
}

func (n nearest) String() string { return near.List(n.names, n.wrong) }

type field struct {
	key   string
	line  int
	value ast.Node
}

func parseExpected(file string, text []byte, known, claims []string) (exp *Expected, err error) {
	defer func() { // the tree is not ours; whatever a file holds must end as an error
		if r := recover(); r != nil {
			exp, err = nil, fmt.Errorf("%s:1: not readable as YAML: %v", file, r)
		}
	}()
	tree, fault := yamlfile.Parse(text)
	if fault != nil {
		return nil, fmt.Errorf("%s:%d: %s; %s", file, fault.Line, fault.Problem, fault.Remedy)
	}
	p := &expectParser{file: file, known: known, claims: claims}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s:1: want one YAML document with apiVersion, target and cases", file)
	}
	exp = p.document(tree.Docs[0].Body)
	if p.more > 0 {
		p.errs = append(p.errs, fmt.Errorf("and %d more", p.more))
	}
	if err := errors.Join(p.errs...); err != nil {
		return nil, err
	}
	return exp, nil
}

func (p *expectParser) document(body ast.Node) *Expected {
	e := &Expected{File: p.file, Default: Wanted{Verdict: Pass}, Cases: map[string]Wanted{}, Declines: map[string]Wanted{}}
	version := ""
	for _, f := range p.fields(body, "the document") {
		switch f.key {
		case "apiVersion":
			version = p.text(f)
			if version != ExpectAPIVersion && version != "" {
				p.fault(f.line, "apiVersion %q is not known; this program reads %q", version, ExpectAPIVersion)
			}
		case "target":
			e.Target = p.text(f)
		case "default":
			e.Default.Verdict = p.verdict(f)
		case "cases":
			if isNull(f.value) {
				continue
			}
			for _, c := range p.fields(f.value, "cases") {
				e.Cases[c.key] = p.wanted(c)
			}
		case "declines":
			if isNull(f.value) {
				continue
			}
			for _, c := range p.fields(f.value, "declines") {
				if !slices.Contains(p.claims, c.key) && c.key != HTTP.claim() && c.key != Component.claim() {
					p.fault(c.line, "unknown claim %q; near: %s (suites/spec/claims.md lists all, and there are %s and %s)", c.key, nearest{p.claims, c.key}, HTTP.claim(), Component.claim())
				}
				w := Wanted{Verdict: Declined, Why: p.text(c), Line: c.line}
				if w.Why == "" {
					p.fault(c.line, "claim %s: declined without why; say in one line what the router does", c.key)
				}
				e.Declines[c.key] = w
			}
		default:
			p.fault(f.line, "unknown key %q; known are apiVersion, target, default, declines, cases", f.key)
		}
	}
	if version == "" {
		p.fault(1, "no apiVersion; add `apiVersion: %s`", ExpectAPIVersion)
	}
	if e.Target == "" {
		p.fault(1, "no target; add one line that names the router and its configuration")
	}
	return e
}

func (p *expectParser) wanted(c field) Wanted {
	w := Wanted{Line: c.line}
	id, _, _ := strings.Cut(c.key, "/")
	if !slices.Contains(p.known, id) && !slices.Contains(p.known, c.key) {
		p.fault(c.line, "unknown case %q; near: %s (`routeproof list` shows all case IDs)", c.key, nearest{p.known, c.key})
	}
	said := false
	for _, f := range p.fields(c.value, "case "+c.key) {
		switch f.key {
		case "verdict":
			w.Verdict, said = p.verdict(f), true
		case "why":
			w.Why = p.text(f)
		default:
			p.fault(f.line, "case %s: unknown key %q; known are verdict, why", c.key, f.key)
		}
	}
	switch {
	case !said:
		p.fault(c.line, "case %s: no verdict; add one of %s", c.key, verdictList(expectable))
	case w.Verdict != Pass && w.Why == "":
		p.fault(c.line, "case %s: %s without why; say in one line what the router does", c.key, w.Verdict)
	}
	return w
}

func (p *expectParser) fields(n ast.Node, what string) []field {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		p.fault(line(n), "%s: want keys and values, found %s", what, kind(n))
		return nil
	}
	var out []field
	seen := map[string]bool{}
	for _, v := range m.Values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			p.fault(line(v.Key), "%s: key %q is not plain text; put it in quotes", what, v.Key.String())
			continue
		}
		if seen[key.Value] {
			p.fault(line(v.Key), "%s: key %q is given twice; keep one", what, key.Value)
			continue
		}
		seen[key.Value] = true
		out = append(out, field{key: key.Value, line: line(v.Key), value: v.Value})
	}
	return out
}

func (p *expectParser) text(f field) string {
	s, ok := f.value.(*ast.StringNode)
	if !ok {
		p.fault(f.line, "%s: want one line of text, found %s; put it in quotes", f.key, kind(f.value))
		return ""
	}
	if strings.ContainsAny(s.Value, "\r\n") {
		p.fault(f.line, "%s: want one line, found several", f.key)
	}
	return strings.TrimSpace(s.Value)
}

func (p *expectParser) verdict(f field) Verdict {
	s, ok := f.value.(*ast.StringNode)
	if !ok || !slices.Contains(expectable, Verdict(s.Value)) {
		found := kind(f.value)
		if ok {
			found = fmt.Sprintf("%q", s.Value)
		}
		p.fault(f.line, "%s: %s cannot be expected; use one of %s", f.key, found, verdictList(expectable))
		return Pass // the fault is recorded; Pass asks for no why on top
	}
	return Verdict(s.Value)
}

func (p *expectParser) fault(line int, format string, args ...any) {
	if len(p.errs) == maxFaults {
		p.more++
		return
	}
	p.errs = append(p.errs, fmt.Errorf("%s:%d: "+format, append([]any{p.file, line}, args...)...))
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

func kind(n ast.Node) string {
	if n == nil || isNull(n) {
		return "nothing"
	}
	return strings.ToLower(n.Type().String())
}

func isNull(n ast.Node) bool {
	_, ok := n.(*ast.NullNode)
	return ok
}

func verdictList(vs []Verdict) string {
	names := make([]string, len(vs))
	for i, v := range vs {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}
