package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// FileError is a file that is no measurement. Line is 0 where no line is at fault.
type FileError struct {
	File    string
	Line    int
	Problem string
	Remedy  string
}

func (e *FileError) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s: %s; %s", at, e.Problem, e.Remedy)
}

// Write writes the file whole or not at all.
func (f *File) Write(name string) error {
	f.Format = Format
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("measurement: %w", err)
	}
	text = compact.ReplaceAllFunc(append(text, '\n'), func(sample []byte) []byte {
		return append([]byte("    "), bytes.Join(bytes.Fields(sample), []byte(" "))...)
	})
	t, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-")
	if err != nil {
		return err
	}
	_, err = t.Write(text)
	err = errors.Join(err, t.Chmod(0o644), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), name)
	}
	if err != nil {
		_ = os.Remove(t.Name())
	}
	return err
}

// compact finds samples, so that each has a line of its own and no more.
var compact = regexp.MustCompile(`(?m)^ +\{\n +"round": [^}]*\}`)

// maxFile bounds what is read: the complexity suite writes 350 kB, with noise on every
// ladder five times as much.
const maxFile = 8 << 20

const remedy = "measure again with `routeproof perf run --save FILE`"

// Read reads a file strictly: what it does not know, or misses, is a *FileError.
func Read(name string) (*File, error) {
	text, err := read(name)
	if err != nil {
		return nil, &FileError{File: name, Problem: strings.TrimPrefix(err.Error(), "open "+name+": "), Remedy: "name a file that `routeproof perf run --save FILE` wrote"}
	}
	return Parse(name, text)
}

func read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB, and no measurement is", maxFile>>20)
	}
	return text, err
}

// Parse is Read of what was read already.
func Parse(name string, text []byte) (*File, error) {
	bad := func(at int64, problem, remedy string) error {
		line := 0
		if at > 0 {
			line = 1 + bytes.Count(text[:min(at-1, int64(len(text)))], []byte("\n"))
		}
		return &FileError{File: name, Line: line, Problem: problem, Remedy: remedy}
	}
	var head struct {
		Format *string `json:"format"`
	}
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, &head); {
	case errors.As(err, &syntax):
		return nil, bad(syntax.Offset, "it is no JSON: "+err.Error(), remedy)
	case err != nil, head.Format == nil:
		return nil, bad(0, `it is no measurement: it has no "format"`, "name a file that `routeproof perf run --save FILE` wrote")
	case *head.Format != Format:
		return nil, bad(0, fmt.Sprintf("its format is %q, this routeproof reads %q", *head.Format, Format), "measure again, or use the routeproof that wrote it")
	}
	var f File
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		at := d.InputOffset()
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			at = kind.Offset
		}
		return nil, bad(at, strings.TrimPrefix(err.Error(), "json: "), remedy)
	}
	if problem := f.problem(); problem != "" {
		return nil, bad(0, problem, remedy)
	}
	return &f, nil
}

// problem says what no measurement can hold.
func (f *File) problem() string {
	if len(f.Ladders) == 0 {
		return `"ladders" is empty`
	}
	seen := map[string]bool{}
	for _, l := range f.Ladders {
		switch {
		case l.Name == "":
			return `a ladder has no "name"`
		case seen[l.Name]:
			return fmt.Sprintf("ladder %q is there twice", l.Name)
		}
		seen[l.Name] = true
		for i, s := range l.Samples {
			if s.N < 1 || s.Ops < 1 || s.NS < 1 || s.Control < 1 || s.Round < 0 {
				return fmt.Sprintf("ladder %q, sample %d: n %d, ops %d, ns %d, controlNs %d; all of them are 1 or more", l.Name, i, s.N, s.Ops, s.NS, s.Control)
			}
		}
	}
	return ""
}
