package target

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// Data is what templates read.
type Data struct {
	Dir         string         // the target's own directory; files are rendered into it
	ManifestDir string         // of the manifest, absolute: what lies beside it can be started
	Exe         string         // the routeproof program
	Host        string         // 127.0.0.1
	Port        int            // allocated for the target's endpoint
	BaseURL     string         // http://Host:Port
	Ports       map[string]int // the manifest's extra ports
	Workers     []Worker
	Generation  int // of the worker set, from 1; grows with every Apply
	Session     Session
	Aliases     map[string]string // the manifest's
	Timeouts    Timeouts
	Variant     string
	Store       StoreAt       // where to look for workers; its Kind is empty where they are rendered
	Worker      Worker        // of wiring.stores' templates: whose record it is
	Incarnation string        // of wiring.stores' templates: of that worker; grows with each of its lives
	TTL         time.Duration // of wiring.stores' templates: the record's
}

// Template is a text of the manifest that is rendered for each start. It knows
// where it stands.
type Template struct {
	text   string
	parsed *template.Template
	file   string
	key    string
	line   int  // of the text's first line, or of the | above it
	column int  // of the text
	block  bool // a | or > scalar: the text begins on the next line
	folded bool // a > scalar: lines of the text are not lines of the file
}

// String is the text before rendering.
func (t Template) String() string { return t.text }

// maxRendered bounds one rendered template, in bytes.
const maxRendered = 16 << 20

// maxWord bounds one argument of a process, or one NAME=value of its environment, in
// bytes: Linux starts no process with a longer one.
const maxWord = 128<<10 - 1

var funcs = template.FuncMap{
	"seconds": func(d time.Duration) (int64, error) {
		if d%time.Second != 0 {
			return 0, fmt.Errorf("%v is not a whole number of seconds, use millis", d)
		}
		return int64(d / time.Second), nil
	},
	"millis": func(d time.Duration) (int64, error) {
		if d%time.Millisecond != 0 {
			return 0, fmt.Errorf("%v is not a whole number of milliseconds", d)
		}
		return int64(d / time.Millisecond), nil
	},
	"int": toInt,
	"add": func(a, b int) int { return a + b },
}

func toInt(v any) (int64, error) {
	switch n := v.(type) {
	case int:
		return int64(n), nil
	case int64:
		return n, nil
	case float64:
		return int64(n), nil
	case time.Duration:
		return int64(n), nil
	case string:
		i, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a whole number", n)
		}
		return i, nil
	}
	return 0, fmt.Errorf("cannot make a whole number of %T", v)
}

func (t *Template) parse() error {
	parsed, err := template.New("t").Funcs(funcs).Option("missingkey=error").Parse(t.text)
	if err != nil {
		return t.fault(err)
	}
	t.parsed = parsed
	return nil
}

func (t Template) render(d *Data) (string, error) {
	if t.parsed == nil {
		return t.text, nil
	}
	var out limited
	if err := t.parsed.Execute(&out, d); err != nil {
		return "", t.fault(err)
	}
	return out.String(), nil
}

// renderWord renders what a process is started with: an argument or, behind a name
// with its "=", a variable.
func (t Template) renderWord(name string, d *Data) (string, error) {
	s, err := t.render(d)
	switch n := len(name) + len(s); {
	case err != nil:
		return "", err
	case n > maxWord:
		return "", t.bad("", fmt.Sprintf("renders to %d bytes, but a process can be given %d in one argument or variable", n, maxWord),
			"write it into one of files, and give its name")
	case strings.ContainsRune(s, 0):
		return "", t.bad("", "holds a zero byte", "remove it")
	}
	return name + s, nil
}

// limited is a buffer that refuses to grow without bound.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxRendered {
		return 0, fmt.Errorf("renders to more than %d MiB", maxRendered>>20)
	}
	return l.Buffer.Write(p)
}

// position matches the place that text/template puts before its messages.
var position = regexp.MustCompile(`(?s)^template: t:(\d+):(?:(\d+):)? (?:executing "t" )?(.*)$`)

const templateRemedy = "templates may use .Dir .ManifestDir .Exe .Host .Port .BaseURL .Ports.NAME .Workers (ID Host Port URL Model Role Ranks) .Generation .Session .Aliases .Timeouts .Variant and seconds, millis, int, add"

// fault turns text/template's message into one that points into the manifest.
func (t Template) fault(err error) *ManifestError {
	e := &ManifestError{File: t.file, Line: t.line, Column: t.column, Key: t.key, Problem: "bad template: " + err.Error(), Remedy: templateRemedy}
	m := position.FindStringSubmatch(err.Error())
	if m == nil {
		return e
	}
	e.Problem = "bad template: " + m[3]
	line, _ := strconv.Atoi(m[1])
	switch {
	case t.folded:
	case t.block:
		e.Line += line
	default:
		e.Line += line - 1
	}
	return e
}

// bad is an error about what the template says, not about its syntax.
func (t Template) bad(value, problem, remedy string) *ManifestError {
	return &ManifestError{File: t.file, Line: t.line, Column: t.column, Key: t.key, Value: value, Problem: problem, Remedy: remedy}
}

// renderURL renders and checks an http URL.
func (t Template) renderURL(d *Data) (string, error) {
	s, err := t.render(d)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(s)
	var parse *url.Error
	switch {
	case errors.As(err, &parse):
		return "", t.bad(s, fmt.Sprintf("%q is not a URL: %v", s, parse.Err), "write http://HOST:PORT/PATH")
	case u.Scheme != "http":
		return "", t.bad(s, fmt.Sprintf("%q is not an http URL", s), "write http://HOST:PORT/PATH; https is not supported by this version")
	case u.Hostname() == "" || u.User != nil:
		return "", t.bad(s, fmt.Sprintf("%q has no host, or holds credentials", s), "write http://HOST:PORT/PATH")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "", t.bad(s, fmt.Sprintf("%q has no valid port", s), "ports are 1 to 65535")
		}
	}
	return s, nil
}

func trimURL(s string) string { return strings.TrimRight(s, "/") }
