package target

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/routeproof/routeproof/suites/near"
	"github.com/routeproof/routeproof/suites/yamlfile"
)

// Bounds of what a manifest may ask for.
const (
	maxReady       = time.Minute
	maxGrace       = 30 * time.Second
	maxConvergence = 10 * time.Second
	maxHeaders     = time.Hour
	maxIdleTTL     = 31_536_000 * time.Second
	maxCapacity    = 1 << 31
	maxFileName    = 255 - len(newSuffix) // bytes, of which file systems take 255
)

// Load reads the manifest at path. claims are all known claims; the manifest must
// answer each. A manifest that cannot be used is a *ManifestError; a file that
// cannot be read is one, too, at its line 1.
func Load(path string, claims []string) (*Manifest, error) {
	source, err := yamlfile.Read(path)
	if err != nil {
		return nil, &ManifestError{File: path, Line: 1, Column: 1, Problem: err.Error(), Remedy: "name a readable manifest file"}
	}
	return Parse(path, source, claims)
}

// Parse is Load for a manifest in memory. file is for messages, and its folder is
// the templates' .ManifestDir: for a mere name, the working directory.
func Parse(file string, source []byte, claims []string) (*Manifest, error) {
	r := &reader{file: file}
	m := &Manifest{File: file, source: slices.Clone(source)}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, &ManifestError{File: file, Line: 1, Column: 1, Problem: err.Error(), Remedy: "run in a directory that exists"}
	}
	m.dir = dir
	root := r.open(source)
	if r.err == nil {
		m.read(root, claims)
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := m.headersApart(); err != nil {
		return nil, err
	}
	if err := m.rehearse(); err != nil {
		return nil, err
	}
	if err := m.contradictions(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Manifest) read(root value, claims []string) {
	o := root.object("apiVersion", "implementation", "launch", "component", "files", "ports", "wiring", "endpoint",
		"session", "pins", "claims", "models", "aliases", "timeouts", "variants", "exemptions")
	if v, ok := o.need("apiVersion", "write apiVersion: "+APIVersion); ok {
		v.word(APIVersion)
	}
	m.readImplementation(o)
	if v, ok := o.has("component"); ok {
		m.readComponent(v)
	}
	if _, ok := o.has("launch"); ok || m.Component == nil {
		m.readLaunch(o)
	}
	if v, ok := o.has("files"); ok {
		m.Files = templates(v, true)
		m.needsProcess(v)
	}
	if v, ok := o.has("ports"); ok {
		m.readPorts(v)
		m.needsProcess(v)
	}
	m.Session = Session{Kind: KindNone, Scope: "replica", Final: FinalIgnore}
	if m.HasRouter() {
		m.readWiring(o)
		m.readEndpoint(o)
		if v, ok := o.need("session", "say how the target treats sessions, at least session: {kind: none}"); ok {
			m.Session = readSession(v, Session{Scope: "replica", Final: FinalIgnore})
		}
		if v, ok := o.has("pins"); ok {
			m.Pins = readPins(v)
		}
	} else {
		for _, key := range []string{"wiring", "endpoint", "session", "pins", "variants", "models", "aliases", "timeouts"} {
			if v, ok := o.has(key); ok {
				v.fail("", "has no effect: the manifest launches no router, only a component", "remove it, or say how the router is launched")
			}
		}
	}
	m.readClaims(o, claims)
	m.Models = []string{"mock"}
	if v, ok := o.has("models"); ok {
		m.Models = distinct(v)
	}
	if v, ok := o.has("aliases"); ok {
		m.readAliases(v)
	}
	m.Timeouts.Convergence = 2 * time.Second
	if v, ok := o.has("timeouts"); ok {
		t := v.object("convergence", "headers")
		m.Timeouts.Headers = readHeaders(t, 0)
		if c, ok := t.has("convergence"); ok {
			m.Timeouts.Convergence = c.duration(time.Millisecond, maxConvergence)
		}
	}
	if v, ok := o.has("variants"); ok {
		m.readVariants(v)
	}
	if v, ok := o.has("exemptions"); ok {
		m.readExemptions(v)
	}
}

func (m *Manifest) readImplementation(o object) {
	v, ok := o.need("implementation", "write implementation: {organization: O, project: P, version: \"V\", url: U}")
	if !ok {
		return
	}
	i := v.object("organization", "project", "version", "url")
	for _, f := range []struct {
		key  string
		into *string
	}{
		{"organization", &m.Implementation.Organization}, {"project", &m.Implementation.Project},
		{"version", &m.Implementation.Version}, {"url", &m.Implementation.URL},
	} {
		if t, ok := i.need(f.key, "a report names what it is about"); ok {
			*f.into = t.text()
			if i := strings.IndexFunc(*f.into, unicode.IsControl); i >= 0 {
				t.fail(*f.into, "holds a control character", "write plain text: it is printed and reported as it stands")
			}
		}
	}
}

// readAliases reads other names of the models.
func (m *Manifest) readAliases(v value) {
	m.Aliases = map[string]string{}
	for _, e := range v.entries() {
		model := e.val.text()
		switch {
		case slices.Contains(m.Models, e.key):
			v.r.fail(e.at, e.val.path, e.key, "is a model itself", "give it one meaning")
		case v.r.err == nil && !slices.Contains(m.Models, model):
			e.val.fail(model, fmt.Sprintf("%q is none of the models", model), "write ALIAS: MODEL; near: "+near.List(m.Models, model))
		}
		m.Aliases[e.key] = model
	}
}

// needsProcess refuses a key that only a process of ours would see.
func (m *Manifest) needsProcess(v value) {
	if m.Launch.Exec == nil {
		v.fail("", "has no effect: the target is not launched by exec", "remove it")
	}
}

// readPorts reads names that templates can write as .Ports.NAME.
func (m *Manifest) readPorts(v value) {
	m.Ports = distinct(v)
	for i, name := range m.Ports {
		if v.r.err == nil && !identifier(name) {
			v.list()[i].fail(name, fmt.Sprintf("%q is not a name", name), "use letters, digits and _, a letter first, so that .Ports.NAME works")
		}
	}
}

func identifier(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// distinct reads a list of texts, none twice.
func distinct(v value) []string {
	var all []string
	for _, e := range v.list() {
		s := e.text()
		if v.r.err == nil && slices.Contains(all, s) {
			e.fail(s, fmt.Sprintf("%q is given twice", s), "keep one")
		}
		all = append(all, s)
	}
	return all
}

// templates reads a mapping of names to templates. File names are plain: what is
// rendered stays in the target's directory.
func templates(v value, files bool) map[string]Template {
	all := map[string]Template{}
	for _, e := range v.entries() {
		switch {
		case files && (e.key != filepath.Base(e.key) || e.key == "." || e.key == ".." || strings.ContainsAny(e.key, "/\\\x00")):
			v.r.fail(e.at, e.val.path, e.key, "is not a plain file name", "write a name without directories")
		case files && len(e.key) > maxFileName:
			v.r.fail(e.at, e.val.path, e.key, fmt.Sprintf("is a name of %d bytes", len(e.key)), fmt.Sprintf("write %d at most", maxFileName))
		case !files && (e.key == "" || strings.ContainsAny(e.key, "=\x00")):
			v.r.fail(e.at, e.val.path, e.key, "is not a variable name", "write NAME: text")
		}
		all[e.key] = e.val.template()
	}
	return all
}

func (m *Manifest) readClaims(o object, known []string) {
	v, ok := o.need("claims", "answer every known claim with yes or no: "+strings.Join(known, ", "))
	if !ok {
		return
	}
	m.Claims = map[string]bool{}
	at := map[string]value{}
	for _, e := range v.entries() {
		if !slices.Contains(known, e.key) {
			v.r.fail(e.at, e.val.path, e.key, "unknown claim", "near: "+near.List(known, e.key)+" (suites/spec/claims.md lists all)")
			return
		}
		m.Claims[e.key] = e.val.yes()
		at[e.key] = value{r: v.r, path: e.val.path, at: e.at}
	}
	var missing []string
	for _, c := range known {
		if _, ok := m.Claims[c]; !ok {
			missing = append(missing, c)
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		v.fail("", "claim "+missing[0]+" is not answered", "add "+missing[0]+": yes or "+missing[0]+": no")
		return
	default:
		v.fail("", fmt.Sprintf("%d claims are not answered: %s", len(missing), strings.Join(missing, ", ")), "add a line NAME: yes or NAME: no for each")
		return
	}
	m.agree(o, at)
}

// agree checks claims against what the rest of the manifest gives them to stand on.
func (m *Manifest) agree(o object, at map[string]value) {
	if !m.HasRouter() {
		return // what follows is about routers
	}
	for _, c := range sortedKeys(m.Claims) {
		if !m.Claims[c] {
			continue
		}
		if strings.HasPrefix(c, "scaling.") && !m.Reloads() {
			wiring := 0
			if w, ok := o.fields["wiring"]; ok {
				wiring = w.at.Line
			}
			at[c].fail("yes", fmt.Sprintf("answered yes, but wiring (line %d) has no apply: the workers of the running target cannot be changed", wiring),
				"add wiring.apply, or answer no")
		}
		if strings.HasPrefix(c, "affinity.") && m.Session.Kind == KindNone {
			at[c].fail("yes", fmt.Sprintf("answered yes, but session.kind (line %d) is none", o.fields["session"].at.Line),
				"declare the kind of affinity, or answer no")
		}
		if c == "affinity.idleTTL" && m.Session.IdleTTL == 0 {
			at[c].fail("yes", fmt.Sprintf("answered yes, but session (line %d) declares no idleTTL", o.fields["session"].at.Line),
				"declare session.idleTTL, or answer no")
		}
	}
}

func (m *Manifest) readVariants(v value) {
	m.Variants = map[string]Variant{}
	for _, e := range v.entries() {
		if !identifier(e.key) {
			v.r.fail(e.at, e.val.path, e.key, "is not a name", "use letters, digits and _, a letter first")
		}
		o := e.val.object("session", "timeouts", "files", "env")
		variant := Variant{Session: m.Session, Headers: m.Timeouts.Headers}
		if t, ok := o.has("timeouts"); ok {
			variant.Headers = readHeaders(t.object("headers"), m.Timeouts.Headers)
		}
		if s, ok := o.has("session"); ok {
			variant.Session = readSession(s, m.Session)
		}
		if f, ok := o.has("files"); ok {
			variant.Files = templates(f, true)
			m.needsProcess(f)
		}
		if env, ok := o.has("env"); ok {
			variant.Env = templates(env, false)
			m.needsProcess(env)
		}
		m.Variants[e.key] = variant
	}
}

// readHeaders reads timeouts.headers, which is otherwise as it was.
func readHeaders(t object, otherwise time.Duration) time.Duration {
	if v, ok := t.has("headers"); ok {
		return v.duration(time.Millisecond, maxHeaders)
	}
	return otherwise
}

func (m *Manifest) readExemptions(v value) {
	for _, e := range v.list() {
		o := e.object("case", "reason", "issue", "expires")
		x := Exemption{}
		for _, f := range []struct {
			key  string
			into *string
		}{{"case", &x.Case}, {"reason", &x.Reason}, {"issue", &x.Issue}} {
			if t, ok := o.need(f.key, "an exemption says which case, why, which issue, and until when"); ok {
				*f.into = t.text()
				if i := strings.IndexFunc(*f.into, unicode.IsControl); i >= 0 {
					t.fail(*f.into, "holds a control character", "write plain text: it is printed and reported as it stands")
				}
			}
		}
		if t, ok := o.need("expires", "write expires: 2027-03-31"); ok {
			s := t.text()
			day, err := time.Parse(time.DateOnly, s)
			if err != nil && v.r.err == nil {
				t.fail(s, fmt.Sprintf("%q is not a date", s), "write expires: 2027-03-31")
			}
			x.Expires = day
		}
		m.Exemptions = append(m.Exemptions, x)
	}
}
