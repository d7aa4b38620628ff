package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/routeproof/routeproof/suites/judge"
)

// JSONFile is the name of the report in its folder.
const JSONFile = "report.json"

// Schema is the JSON Schema (draft 2020-12) of report.json.
//
//go:embed report.schema.json
var Schema []byte

var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return nil, fmt.Errorf("report schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	const id = "urn:routeproof:schema:report:v1"
	if err := c.AddResource(id, doc); err != nil {
		return nil, fmt.Errorf("report schema: %w", err)
	}
	return c.Compile(id)
})

// Validate checks the text of a report.json against Schema. Its error names
// every place that breaks it.
func Validate(text []byte) error {
	schema, err := compiled()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("report: not JSON: %w", err)
	}
	if err := schema.Validate(doc); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// WriteJSON writes report.json in dir, whole or not at all, and returns its
// path. Secrets in free text are redacted first (see Redact). The text is
// validated against Schema before it is written; a report that breaks it goes
// to report.invalid.json instead, so that a finished run is not lost, and the
// error says what is wrong.
func (r *Report) WriteJSON(dir string) (string, error) {
	text, err := r.encode()
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	path := filepath.Join(dir, JSONFile)
	if invalid := Validate(text); invalid != nil {
		path = filepath.Join(dir, "report.invalid.json")
		if err := writeAtomic(path, text); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%w (kept as %s)", invalid, path)
	}
	return path, writeAtomic(path, text)
}

// ReadJSON reads a report.json, strictly by Schema.
func ReadJSON(path string) (*Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if err := Validate(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := new(Report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r *Report) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r.publishable()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// publishable is a copy of the report with secrets redacted and without nil
// slices and maps; the report itself stays as it is.
func (r *Report) publishable() *Report {
	c := *r
	c.Timeouts = filledMap(c.Timeouts)
	c.Problems = filled(slices.Clone(c.Problems))
	for i := range c.Problems {
		c.Problems[i].Text = Redact(c.Problems[i].Text)
	}
	if c.SelfTest != nil {
		s := *c.SelfTest
		s.Survived = filled(s.Survived)
		c.SelfTest = &s
	}
	c.Profiles = filled(slices.Clone(c.Profiles))
	for i := range c.Profiles {
		p := &c.Profiles[i]
		p.Counts, p.Musts = filledMap(p.Counts), filledMap(p.Musts)
		p.Blocking, p.Advisory = filled(p.Blocking), filled(p.Advisory)
		p.Reason = Redact(p.Reason)
	}
	c.Cases = filled(slices.Clone(c.Cases))
	for i := range c.Cases {
		k := &c.Cases[i]
		for _, s := range []*string{&k.Expected, &k.Observed, &k.Reproduce, &k.Detail, &k.LogTail} {
			*s = Redact(*s)
		}
		k.Claims, k.Evidence = filled(k.Claims), filled(k.Evidence)
		k.Surface = cmp.Or(k.Surface, HTTP)
		k.Example = slices.Clone(k.Example)
		for j := range k.Example {
			k.Example[j] = Redact(k.Example[j])
		}
		k.Violations = filled(slices.Clone(k.Violations))
		for j := range k.Violations {
			v := &k.Violations[j]
			*v = judge.Violation{Expected: Redact(v.Expected), Observed: Redact(v.Observed), Keys: v.Keys}
		}
	}
	return &c
}

func filled[E any](s []E) []E {
	if s == nil {
		return []E{}
	}
	return s
}

func filledMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}
