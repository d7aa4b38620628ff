// Package serve runs the reference router from a configuration file: the
// `serve` command without its flags. The worker set is reloaded on request.
package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/router"
)

// maxFile bounds how large a configuration file may be, in bytes.
const maxFile = 16 << 20

// file is the configuration file as written.
type file struct {
	Listen        string `yaml:"listen"`        // host:port
	Generation    string `yaml:"generation"`    // any word; answered by GET /routeproof/generation
	Policy        string `yaml:"policy"`        // default round-robin
	Seed          uint64 `yaml:"seed"`          // of random choices
	IdleTTL       string `yaml:"idleTTL"`       // a Go duration; 0 or absent: no affinity
	Capacity      int    `yaml:"capacity"`      // most sessions held
	AtCapacity    string `yaml:"atCapacity"`    // refuse, unpinned, evict
	HeaderTimeout string `yaml:"headerTimeout"` // a Go duration: longest wait for response headers

	SessionHeaders []string `yaml:"sessionHeaders"` // where session ids are; the first usable one counts
	TenantHeader   string   `yaml:"tenantHeader"`   // what keeps equal session ids apart; absent: nothing

	Aliases map[string]string `yaml:"aliases"` // other names of models -> those that workers serve

	Workers   []worker `yaml:"workers"`   // the workers; or
	Discovery *source  `yaml:"discovery"` // where they are

	idleTTL, headerTimeout time.Duration // parsed
}

type worker struct {
	ID     string   `yaml:"id"`
	URL    string   `yaml:"url"`
	Models []string `yaml:"models"`
	Role   string   `yaml:"role"`  // aggregated, prefill, decode; default aggregated
	Ranks  int      `yaml:"ranks"` // data-parallel ranks; 0 or absent: unknown
}

// FileError is a configuration file that cannot be used.
type FileError struct {
	File    string
	Line    int // from 1; 0 if no line is to blame
	Problem string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Problem
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// load reads and checks a configuration file. Errors are of type *FileError.
func load(name string) (*file, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, &FileError{File: name, Problem: fmt.Sprintf("cannot be read: %v", err)}
	}
	if info.Size() > maxFile {
		return nil, &FileError{File: name, Problem: fmt.Sprintf("is %d bytes, more than %d", info.Size(), maxFile)}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, &FileError{File: name, Problem: fmt.Sprintf("cannot be read: %v", err)}
	}
	return parse(name, text)
}

func parse(name string, text []byte) (*file, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &FileError{File: name, Problem: "is empty: at least listen must be set"}
	}
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := dec.Decode(&f); err != nil {
		return nil, syntaxError(name, text, err)
	}
	if err := dec.Decode(new(any)); err != io.EOF {
		return nil, &FileError{File: name, Problem: "holds more than one document: write one"}
	}
	for _, d := range []struct {
		key, value string
		into       *time.Duration
	}{{"idleTTL", f.IdleTTL, &f.idleTTL}, {"headerTimeout", f.HeaderTimeout, &f.headerTimeout}} {
		if d.value == "" {
			continue
		}
		v, err := time.ParseDuration(d.value)
		if err != nil {
			problem := fmt.Sprintf("%s %q is not a duration: write a number with a unit, such as 500ms or 30s", d.key, d.value)
			return nil, &FileError{File: name, Line: lineOf(text, "$."+d.key), Problem: problem}
		}
		*d.into = v
	}
	if f.Listen == "" {
		return nil, &FileError{File: name, Problem: "listen is not set: name the address to serve on, such as 127.0.0.1:8080"}
	}
	if err := f.config().Validate(); err != nil {
		key, _, _ := strings.Cut(strings.ReplaceAll(err.Error(), ":", " "), " ") // settings are named first
		return nil, &FileError{File: name, Line: lineOf(text, "$."+key), Problem: err.Error()}
	}
	if fe := f.checkDiscovery(name, text); fe != nil {
		return nil, fe
	}
	if err := discovery.Validate(f.workers()); err != nil {
		fe := &FileError{File: name, Problem: err.Error()}
		var we *discovery.Error
		if errors.As(err, &we) {
			at := fmt.Sprintf("$.workers[%d]", we.Index)
			if fe.Line = lineOf(text, at+"."+we.Field); fe.Line == 0 {
				fe.Line = lineOf(text, at)
			}
		}
		return nil, fe
	}
	return &f, nil
}

// checkDiscovery returns what is wrong with the discovery section, or nil.
func (f *file) checkDiscovery(name string, text []byte) *FileError {
	at := lineOf(text, "$.discovery")
	if f.Discovery == nil {
		if at == 0 {
			return nil
		}
		return &FileError{File: name, Line: at, Problem: "discovery is empty: set store to etcd or file, or leave the section out"}
	}
	if line := lineOf(text, "$.workers"); line != 0 {
		return &FileError{File: name, Line: line, Problem: "workers and discovery are both set: leave one out"}
	}
	key, problem := f.Discovery.check()
	if problem == "" {
		return nil
	}
	if line := lineOf(text, "$.discovery."+key); line != 0 {
		at = line
	}
	return &FileError{File: name, Line: at, Problem: "discovery." + key + " " + problem}
}

// syntaxError says where the decoder stumbled, and over what.
func syntaxError(name string, text []byte, err error) error {
	fe := &FileError{File: name, Problem: err.Error()}
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return fe
	}
	fe.Problem = ye.GetMessage()
	if t := ye.GetToken(); t != nil && t.Position != nil {
		fe.Line = t.Position.Line
		if lines := bytes.Split(text, []byte("\n")); fe.Line >= 1 && fe.Line <= len(lines) {
			fe.Problem += fmt.Sprintf(", at %.80q", bytes.TrimSpace(lines[fe.Line-1]))
		}
	}
	return fe
}

// lineOf returns the line of the node at a path, or 0.
func lineOf(text []byte, at string) int {
	path, err := yaml.PathString(at)
	if err != nil {
		return 0
	}
	node, err := path.ReadNode(bytes.NewReader(text))
	if err != nil || node == nil || node.GetToken() == nil {
		return 0
	}
	return node.GetToken().Position.Line
}

func (f *file) config() router.Config {
	return router.Config{
		Policy: f.Policy, Seed: f.Seed,
		IdleTTL: f.idleTTL, Capacity: f.Capacity, AtCapacity: router.AtCapacity(f.AtCapacity),
		HeaderTimeout:  f.headerTimeout,
		SessionHeaders: f.SessionHeaders, TenantHeader: f.TenantHeader,
		Aliases: f.Aliases,
	}
}

func (f *file) workers() []discovery.Worker {
	out := make([]discovery.Worker, len(f.Workers))
	for i, w := range f.Workers {
		out[i] = discovery.Worker{ID: w.ID, URL: w.URL, Models: w.Models, Role: discovery.Role(w.Role), Ranks: w.Ranks}
	}
	return out
}

// fixed names the settings that differ between two files and cannot change while
// the router runs.
func (f *file) fixed(g *file) []string {
	var names []string
	a, b := reflect.ValueOf(*f), reflect.ValueOf(*g)
	for i := range a.NumField() {
		name := a.Type().Field(i).Tag.Get("yaml")
		if name != "" && name != "workers" && name != "generation" && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			names = append(names, name)
		}
	}
	return names
}
