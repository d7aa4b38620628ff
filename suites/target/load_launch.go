package target

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func (m *Manifest) readLaunch(o object) {
	v, ok := o.need("launch", "write launch: {exec: {...}}, launch: {external: {}} or launch: {inprocess: reference}")
	if !ok {
		return
	}
	l := v.object("inprocess", "external", "exec")
	if v.r.err == nil && len(l.fields) != 1 {
		v.fail("", "must hold exactly one of inprocess, external, exec", "keep the one that applies")
		return
	}
	if in, ok := l.has("inprocess"); ok {
		m.Launch.InProcess = in.word(InProcessReference)
	}
	if ext, ok := l.has("external"); ok {
		ext.object() // no keys yet
		m.Launch.External = true
	}
	if ex, ok := l.has("exec"); ok {
		m.Launch.Exec = readExec(ex)
	}
}

func readExec(v value) *Exec {
	o := v.object("command", "env", "ready", "stop", "grace")
	e := &Exec{Stop: "SIGTERM", Grace: 5 * time.Second}
	if c, ok := o.need("command", "write command: [PROGRAM, ARGUMENT, ...]"); ok {
		for _, a := range c.list() {
			e.Command = append(e.Command, a.template())
		}
	}
	if env, ok := o.has("env"); ok {
		e.Env = templates(env, false)
	}
	if s, ok := o.has("stop"); ok {
		e.Stop = s.word("SIGTERM", "SIGINT", "SIGQUIT", "SIGUSR1")
	}
	if g, ok := o.has("grace"); ok {
		e.Grace = g.duration(0, maxGrace)
	}
	r, ok := o.need("ready", "write ready: {http: \"{{.BaseURL}}/health\"}")
	if !ok {
		return e
	}
	ro := r.object("http", "status", "timeout")
	e.Ready = Ready{Status: 200, Timeout: 10 * time.Second}
	if h, ok := ro.need("http", "write http: \"{{.BaseURL}}/health\""); ok {
		e.Ready.HTTP = h.template()
	}
	if s, ok := ro.has("status"); ok {
		e.Ready.Status = s.number(100, 599)
	}
	if t, ok := ro.has("timeout"); ok {
		e.Ready.Timeout = t.duration(time.Millisecond, maxReady)
	}
	return e
}

func (m *Manifest) readComponent(v value) {
	o := v.object("inprocess", "command", "env")
	_, in := o.has("inprocess")
	_, command := o.has("command")
	m.Component = &Component{}
	if v.r.err == nil && in == command {
		v.fail("", "must hold exactly one of inprocess, command", "write component: {command: [ADAPTER, ARGUMENT, ...]}")
		return
	}
	if in, ok := o.has("inprocess"); ok {
		m.Component.InProcess = in.word(InProcessReference)
	}
	if c, ok := o.has("command"); ok {
		for _, a := range c.list() {
			m.Component.Command = append(m.Component.Command, a.template())
		}
		if v.r.err == nil && len(m.Component.Command) == 0 {
			c.fail("", "is empty", "write command: [ADAPTER, ARGUMENT, ...]")
		}
	}
	if env, ok := o.has("env"); ok {
		if command {
			m.Component.Env = templates(env, false)
		} else {
			env.fail("", "has no effect: the component is not a process of ours", "remove it")
		}
	}
}

// HasRouter says whether there is a router to send requests to.
func (m *Manifest) HasRouter() bool { return m.Launch.Kind() != "none" }

func readPins(v value) (p Pins) {
	o := v.object("worker", "rank", "prefillWorker", "prefillRank")
	if w, ok := o.need("worker", "name the header that pins a request to a worker"); ok {
		p.Worker = httpName(w)
	}
	for _, f := range []struct {
		key  string
		into *string
	}{{"rank", &p.Rank}, {"prefillWorker", &p.PrefillWorker}, {"prefillRank", &p.PrefillRank}} {
		if h, ok := o.has(f.key); ok {
			*f.into = httpName(h)
		}
	}
	return p
}

func (m *Manifest) readWiring(o object) {
	v, given := o.fields["wiring"]
	if m.Launch.InProcess != "" {
		if given {
			w := v.object("workers", "ports", "apply", "stores")
			for _, key := range []string{"workers", "ports", "apply"} {
				if x, ok := w.has(key); ok {
					x.fail("", "has no effect: a router in this process is given its workers by a call", "remove it")
				}
			}
			if s, ok := w.has("stores"); ok {
				m.readStores(s)
			}
		}
		return
	}
	if _, ok := o.need("wiring", "write wiring: {workers: static}"); !ok {
		return
	}
	w := v.object("workers", "ports", "apply", "stores")
	if k, ok := w.need("workers", "write workers: static or workers: none"); ok {
		m.Wiring.Workers = readWorkers(k)
	}
	if p, ok := w.has("ports"); ok {
		seen := map[int]bool{}
		for _, e := range p.list() {
			n := e.number(1, 65535)
			if v.r.err == nil && seen[n] {
				e.fail("", "is given twice", "keep one")
			}
			seen[n] = true
			m.Wiring.Ports = append(m.Wiring.Ports, n)
		}
	} else if v.r.err == nil && (m.Launch.External || m.Wiring.Workers == WorkersNone) {
		v.fail("", "ports are missing: a target that we do not configure knows its workers by fixed addresses", "write ports: [9001, 9002, ...], where the workers shall listen")
	}
	if a, ok := w.has("apply"); ok {
		m.readApply(a)
	}
	if s, ok := w.has("stores"); ok {
		if m.Launch.External {
			s.fail("", "a target that we do not start cannot be told where its store is", "remove it")
		}
		m.readStores(s)
	}
}

func readWorkers(v value) string {
	s := v.text()
	switch s {
	case "etcd", "file", "http":
		v.fail(s, "workers: "+s+" is not supported by this version", "write workers: static or workers: none")
		return s
	}
	return v.word(WorkersStatic, WorkersNone)
}

func (m *Manifest) readApply(v value) {
	switch {
	case m.Launch.External:
		v.fail("", "an external target has no process of ours to signal", "remove it")
	case m.Wiring.Workers == WorkersNone:
		v.fail("", "a target that is not told about workers has nothing to apply", "remove it, or write workers: static")
	}
	o := v.object("signal", "when", "verify")
	a := &Apply{}
	if s, ok := o.need("signal", "write signal: SIGHUP"); ok {
		a.Signal = s.word("SIGHUP", "SIGUSR1", "SIGUSR2")
	}
	if w, ok := o.has("when"); ok {
		when := readVerify(w)
		a.When = &when
	}
	if ver, ok := o.need("verify", "every reload is verified: write verify: {http: URL, contains: TEXT}"); ok {
		a.Verify = readVerify(ver)
	}
	m.Wiring.Apply = a
}

func readVerify(v value) (seen Verify) {
	o := v.object("http", "contains")
	if h, ok := o.need("http", "write the URL to look at"); ok {
		seen.HTTP = h.template()
	}
	if c, ok := o.need("contains", "write the text that its answer must hold"); ok {
		seen.Contains = c.template()
	}
	return seen
}

func (m *Manifest) readEndpoint(o object) {
	v, given := o.fields["endpoint"]
	if m.Launch.InProcess != "" {
		if given {
			v.fail("", "has no effect: a router in this process gets a free port", "remove it")
		}
		return
	}
	if _, ok := o.need("endpoint", "write endpoint: {openai: \"{{.BaseURL}}\"}"); !ok {
		return
	}
	e := v.object("openai")
	if u, ok := e.need("openai", "write openai: \"{{.BaseURL}}\""); ok {
		m.Endpoint = u.template()
		if o.r.err == nil && strings.HasSuffix(strings.TrimRight(m.Endpoint.text, "/"), "/v1") {
			u.fail(m.Endpoint.text, "ends in /v1, which the paths of requests begin with, such as /v1/chat/completions", "leave /v1 out")
		}
		if m.Launch.External && o.r.err == nil && strings.Contains(m.Endpoint.text, "{{") {
			u.fail(m.Endpoint.text, "an external target's address must be literal", "write http://HOST:PORT")
		}
	}
}

// readSession reads a declaration; keys that it leaves out keep base's value.
func readSession(v value, base Session) Session {
	o := v.object("carrier", "kind", "scope", "idleTTL", "capacity", "atCapacity", "query", "tenant", "final")
	s := base
	if c, ok := o.has("carrier"); ok {
		s.Carrier = readCarrier(c)
	}
	if k, ok := o.has("kind"); ok {
		s.Kind = k.word(KindTable, KindHash, KindNone)
	} else if s.Kind == "" {
		o.need("kind", "write kind: table, hash or none")
	}
	if k, ok := o.has("scope"); ok {
		s.Scope = k.word("replica", "shared")
	}
	if t, ok := o.has("idleTTL"); ok {
		s.IdleTTL = t.duration(time.Millisecond, maxIdleTTL)
	}
	if n, ok := o.has("capacity"); ok {
		s.Capacity = n.number(1, maxCapacity)
	}
	if a, ok := o.has("atCapacity"); ok {
		s.AtCapacity = a.word(CapacityRefuse, CapacityUnpinned, CapacityEvict)
	}
	if q, ok := o.has("query"); ok {
		s.Query = httpName(q)
	}
	if t, ok := o.has("tenant"); ok {
		s.Tenant = httpName(t)
	}
	if f, ok := o.has("final"); ok {
		s.Final = f.word(FinalIgnore, FinalRelease)
		if v.r.err == nil && s.Final == FinalRelease && s.Kind != KindTable {
			f.fail(s.Final, "only a table holds bindings that a last turn can end", "write kind: table, or final: ignore")
		}
	}
	if v.r.err == nil && s.Kind != KindNone && s.Carrier == (Carrier{}) {
		o.need("carrier", "say where the session id travels: carrier: {header: X-Session-ID}, {body: FIELD} or {cookie: NAME}")
	}
	return s
}

func readCarrier(v value) Carrier {
	for _, e := range v.entries() {
		if e.key == "token" {
			v.r.fail(e.at, e.val.path, "token", "is not supported by this version", "use header, body or cookie")
		}
	}
	o := v.object("header", "body", "cookie")
	if v.r.err == nil && len(o.fields) != 1 {
		v.fail("", "must hold exactly one of header, body, cookie", "keep the one that applies")
	}
	var c Carrier
	if h, ok := o.has("header"); ok {
		c.Header = httpName(h)
	}
	if b, ok := o.has("body"); ok {
		c.Body = bodyField(b)
	}
	if k, ok := o.has("cookie"); ok {
		c.Cookie = httpName(k)
	}
	return c
}

// httpName reads a name that HTTP allows for headers and cookies.
func httpName(v value) string {
	s := v.text()
	for _, c := range s {
		if c <= ' ' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) {
			v.fail(s, s+" is not a name that HTTP allows", "use letters, digits and -")
			break
		}
	}
	return s
}

// bodyField reads a path to a field of a request's body that the session id can have for
// itself.
func bodyField(v value) string {
	s := v.text()
	if v.r.err != nil {
		return s
	}
	parts := strings.Split(s, ".")
	switch {
	case slices.Contains(parts, ""):
		v.fail(s, fmt.Sprintf("%q has an empty part", s), "write FIELD, or OBJECT.FIELD for a field inside an object")
	case slices.Contains([]string{"model", "messages", "prompt", "stream", "max_tokens"}, parts[0]):
		v.fail(s, parts[0]+" is a field that requests have anyway", "name a field of its own")
	case parts[0] == "user" && len(parts) > 1:
		v.fail(s, "user is a text in requests, and holds no fields", "write user, or name an object of its own")
	}
	return s
}
