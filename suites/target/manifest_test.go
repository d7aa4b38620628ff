package target

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var testClaims = []string{"affinity.idleTTL", "affinity.key", "routing.spread", "scaling.live"}

// good is a manifest without fault; tests break it line by line.
const good = `apiVersion: routeproof/v1
implementation:
  organization: Example
  project: router
  version: "1.0"
  url: https://example.org
launch:
  exec:
    command: [router, --port, "{{.Port}}"]
    env:
      MODEL: mock
    ready:
      http: "{{.BaseURL}}/health"
      status: 204
      timeout: 3s
    stop: SIGINT
    grace: 1s
files:
  router.cfg: |
    # workers
    {{range .Workers}}worker {{.ID}} {{.URL}}
    {{end}}
ports: [admin]
wiring:
  workers: static
  apply:
    signal: SIGHUP
    verify:
      http: "http://{{.Host}}:{{.Ports.admin}}/generation"
      contains: "generation {{.Generation}}"
endpoint:
  openai: "{{.BaseURL}}"
session:
  carrier:
    header: X-Session-ID
  kind: table
  scope: shared
  idleTTL: 3s
  capacity: 1000
  atCapacity: evict
claims:
  routing.spread: yes
  affinity.key: true
  affinity.idleTTL: no
  scaling.live: yes
models: [mock, other]
timeouts:
  convergence: 4s
variants:
  shortTTL:
    session:
      idleTTL: 1s
    files:
      extra.cfg: "{{seconds .Session.IdleTTL}}"
    env:
      MODEL: "{{.Variant}}"
exemptions:
  - case: AFF-001
    reason: known
    issue: https://example.org/1
    expires: 2027-03-31
`

// lineOf finds the line of good that holds the text.
func lineOf(t *testing.T, source, text string) int {
	t.Helper()
	before, _, found := strings.Cut(source, text)
	if !found {
		t.Fatalf("no %q in the manifest", text)
	}
	return strings.Count(before, "\n") + 1
}

func TestAGoodManifestIsReadWhole(t *testing.T) {
	m, err := Parse("good.yaml", []byte(good), testClaims)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"organization", m.Implementation.Organization, "Example"},
		{"version", m.Implementation.Version, "1.0"},
		{"command", m.Launch.Exec.Command[2].String(), "{{.Port}}"},
		{"ready status", m.Launch.Exec.Ready.Status, 204},
		{"ready timeout", m.Launch.Exec.Ready.Timeout, 3 * time.Second},
		{"stop", m.Launch.Exec.Stop, "SIGINT"},
		{"grace", m.Launch.Exec.Grace, time.Second},
		{"ports", fmt.Sprint(m.Ports), "[admin]"},
		{"signal", m.Wiring.Apply.Signal, "SIGHUP"},
		{"session", m.Session, Session{Carrier: Carrier{Header: "X-Session-ID"}, Kind: KindTable, Scope: "shared", IdleTTL: 3 * time.Second, Capacity: 1000, AtCapacity: CapacityEvict, Final: FinalIgnore}},
		{"claims", fmt.Sprint(m.Claims), "map[affinity.idleTTL:false affinity.key:true routing.spread:true scaling.live:true]"},
		{"models", fmt.Sprint(m.Models), "[mock other]"},
		{"convergence", m.Timeouts.Convergence, 4 * time.Second},
		{"variant", m.Variants["shortTTL"].Session.IdleTTL, time.Second},
		{"variant keeps the rest", m.Variants["shortTTL"].Session.Capacity, 1000},
		{"exemption", m.Exemptions[0].Case + " " + m.Exemptions[0].Expires.Format(time.DateOnly), "AFF-001 2027-03-31"},
		{"digest", len(m.SHA256()), 64},
		{"reloads", m.Reloads(), true},
	} {
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.what, c.got, c.want)
		}
	}
	v, err := m.resolve("shortTTL")
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Files) != 2 || v.Env["MODEL"].String() != "{{.Variant}}" {
		t.Errorf("variant %+v", v)
	}
	if _, err := m.SessionOf("tiny"); err == nil || !strings.Contains(err.Error(), "shortTTL") {
		t.Errorf("unknown variant: %v", err)
	}
}

func TestWhatIsLeftOutHasItsDefault(t *testing.T) {
	m := parsed(t, `{apiVersion: routeproof/v1, implementation: {organization: o, project: p, version: v, url: u}, claims: {},
launch: {exec: {command: [r], ready: {http: "{{.BaseURL}}"}}}, wiring: {workers: static}, endpoint: {openai: "{{.BaseURL}}"}, session: {kind: none}}`)
	e := m.Launch.Exec
	if e.Ready.Status != 200 || e.Ready.Timeout != 10*time.Second || e.Stop != "SIGTERM" || e.Grace != 5*time.Second {
		t.Errorf("exec %+v", e)
	}
	if m.Timeouts.Convergence != 2*time.Second || fmt.Sprint(m.Models) != "[mock]" || m.Session.Scope != "replica" || m.Reloads() {
		t.Errorf("%+v", m)
	}
}

// Every way to be wrong is answered with the line, the key and a remedy. A case
// replaces old by new in the good manifest; at is a text that begins the line
// that must be named, and defaults to new.
func TestABadManifestIsRefusedAtItsLine(t *testing.T) {
	for _, c := range []struct{ name, old, new, at, key, problem string }{
		{"unknown key at the top", "models:", "modles:", "", "modles", "unknown key"},
		{"unknown key deep inside", "status: 204", "state: 204", "", "launch.exec.ready.state", "unknown key"},
		{"unknown key in a variant", "    files:\n      extra", "    ports: [a]\n    files:\n      extra", "    ports", "variants.shortTTL.ports", "unknown key"},
		{"duplicate key", "grace: 1s", "grace: 1s\n    grace: 2s", "grace: 2s", "", "already defined"},
		{"duplicate claim", "affinity.key: true", "affinity.key: true\n  affinity.key: no", "affinity.key: no", "", "already defined"},
		{"text where a list belongs", "ports: [admin]", "ports: admin", "", "ports", "must be a list, is text"},
		{"number where text belongs", `version: "1.0"`, "version: 1.0", "", "implementation.version", "must be text, is a number"},
		{"list where a mapping belongs", "timeouts:\n  convergence: 4s", "timeouts: [4s]", "", "timeouts", "must be a mapping, is a list"},
		{"nothing where a mapping belongs", "timeouts:\n  convergence: 4s", "timeouts:", "", "timeouts", "is nothing"},
		{"text where a number belongs", "capacity: 1000", "capacity: many", "", "session.capacity", "must be a whole number"},
		{"number out of range", "status: 204", "status: 99", "", "launch.exec.ready.status", "out of range"},
		{"capacity of nothing", "capacity: 1000", "capacity: 0", "", "session.capacity", "out of range"},
		{"empty text", "organization: Example", `organization: " "`, "", "implementation.organization", "is empty"},
		{"a control character", "organization: Example", `organization: "Ex\e[2Jample"`, "", "implementation.organization", "control character"},
		{"missing key", "  project: router\n", "", "implementation:", "implementation.project", "is missing"},
		{"missing section", "session:\n  carrier:\n    header: X-Session-ID\n  kind: table\n  scope: shared\n  idleTTL: 3s\n  capacity: 1000\n  atCapacity: evict\n", "", "apiVersion", "session", "is missing"},
		{"another version", "routeproof/v1", "routeproof/v2", "apiVersion", "apiVersion", `"routeproof/v2" is not known`},
		{"unknown claim", "affinity.key: true", "affinity.keys: true", "  affinity.keys", "claims.affinity.keys", "unknown claim"},
		{"unanswered claim", "  affinity.key: true\n", "", "claims:", "claims", "claim affinity.key is not answered"},
		{"several unanswered claims", "  routing.spread: yes\n  affinity.key: true\n", "", "claims:", "claims", "2 claims are not answered: affinity.key, routing.spread"},
		{"claim answered maybe", "affinity.key: true", "affinity.key: maybe", "", "claims.affinity.key", "must be yes or no"},
		{"claim answered with nothing", "affinity.key: true", "affinity.key:", "", "claims.affinity.key", "must be yes or no"},
		{"duration without a unit", "timeout: 3s", "timeout: 3", "", "launch.exec.ready.timeout", "must be a duration"},
		{"duration that is none", "timeout: 3s", "timeout: soon", "", "launch.exec.ready.timeout", `"soon" is not a duration`},
		{"readiness that takes too long", "timeout: 3s", "timeout: 61s", "", "launch.exec.ready.timeout", "out of range"},
		{"grace that takes too long", "grace: 1s", "grace: 31s", "", "launch.exec.grace", "out of range"},
		{"convergence beyond the clause", "convergence: 4s", "convergence: 11s", "", "timeouts.convergence", "out of range"},
		{"time to live of nothing", "  idleTTL: 3s", "  idleTTL: 0s", "", "session.idleTTL", "out of range"},
		{"unknown stop signal", "stop: SIGINT", "stop: SIGKILL", "", "launch.exec.stop", "not known"},
		{"unknown reload signal", "signal: SIGHUP", "signal: SIGTERM", "", "wiring.apply.signal", "not known"},
		{"unknown kind", "kind: table", "kind: tabel", "", "session.kind", "not known"},
		{"unknown scope", "scope: shared", "scope: global", "", "session.scope", "not known"},
		{"unknown atCapacity", "atCapacity: evict", "atCapacity: drop", "", "session.atCapacity", "not known"},
		{"a wiring of a later version", "workers: static", "workers: etcd", "", "wiring.workers", "not supported by this version"},
		{"an unknown wiring", "workers: static", "workers: consul", "", "wiring.workers", "not known"},
		{"a carrier of a later version", "    header: X-Session-ID", "    token: X", "", "session.carrier.token", "not supported by this version"},
		{"a carrier that requests have anyway", "header: X-Session-ID", "header: Content-Type", "", "session.carrier.header", "have anyway"},
		{"a tenant that is the carrier", "  kind: table", "  tenant: x-session-id\n  kind: table", "  tenant", "session.tenant", "the header of session.carrier.header, too"},
		{"a rank that is its worker", "claims:\n", "pins: {worker: X-W,\n  rank: x-w}\nclaims:\n", "  rank: x-w", "pins.rank", "the header of pins.worker, too"},
		{"two carriers", "    header: X-Session-ID", "    header: X\n    body: user", "  carrier:", "session.carrier", "exactly one"},
		{"a carrier that is no header", "header: X-Session-ID", `header: "X Session"`, "", "session.carrier.header", "not a name that HTTP allows"},
		{"no carrier", "  carrier:\n    header: X-Session-ID\n", "", "session:", "session.carrier", "is missing"},
		{"two launches", "launch:\n", "launch:\n  external: {}\n", "launch:", "launch", "exactly one"},
		{"another in-process router", "launch:\n  exec:\n", "launch:\n  inprocess: mine\n  exec:\n", "launch:", "launch", "exactly one"},
		{"apply without verify", "    verify:\n      http: \"http://{{.Host}}:{{.Ports.admin}}/generation\"\n      contains: \"generation {{.Generation}}\"\n", "", "  apply:", "wiring.apply.verify", "is missing"},
		{"a when that cannot be seen", "    signal: SIGHUP", "    signal: SIGHUP\n    when: {http: \"{{.BaseURL}}/w\"}", "    when", "wiring.apply.when.contains", "is missing"},
		{"a when with a bad template", "    signal: SIGHUP", "    signal: SIGHUP\n    when: {http: \"{{.BaseURL}}/w\", contains: \"{{.Now}}\"}", "    when", "wiring.apply.when.contains", "Now"},
		{"a verify that is blind", "generation {{.Generation}}", "generation", `      contains: "generation"`, "wiring.apply.verify.contains", "the same for every generation"},
		{"workers that no one can reach", "workers: static", "workers: none", "wiring:", "wiring", "ports are missing"},
		{"scaling claimed without apply", "  apply:\n    signal: SIGHUP\n    verify:\n      http: \"http://{{.Host}}:{{.Ports.admin}}/generation\"\n      contains: \"generation {{.Generation}}\"\n", "", "  scaling.live", "claims.scaling.live", "wiring (line 24) has no apply"},
		{"affinity claimed without any", "kind: table", "kind: none", "  affinity.key", "claims.affinity.key", "session.kind (line 33) is none"},
		{"a time to live claimed and not declared", "  idleTTL: 3s\n  capacity: 1000\n  atCapacity: evict\nclaims:\n  routing.spread: yes\n  affinity.key: true\n  affinity.idleTTL: no", "claims:\n  routing.spread: yes\n  affinity.key: true\n  affinity.idleTTL: yes", "  affinity.idleTTL", "claims.affinity.idleTTL", "declares no idleTTL"},
		{"a file outside the directory", "router.cfg: |", "../router.cfg: |", "", "files.../router.cfg", "not a plain file name"},
		{"a port name that templates cannot write", "[admin]", "[admin-port]", "", "ports[0]", "is not a name"},
		{"a port twice", "[admin]", "[admin, admin]", "", "ports[1]", "given twice"},
		{"a date that is none", "2027-03-31", "2027-02-31", "", "exemptions[0].expires", "not a date"},
		{"an exemption without a reason", "    reason: known\n", "", "  - case", "exemptions[0].reason", "is missing"},
		{"an anchor", "grace: 1s", "grace: &g 1s", "", "launch.exec.grace", "is an anchor"},
		{"a tag", "organization: Example", "organization: !!str Example", "", "implementation.organization", "anchor, alias or tag"},
		{"an open bracket", "ports: [admin]", "ports: [admin", "wiring:", "", "must be specified"},
		{"a tab", "ports: [admin]", "\tports: [admin]", "", "", "tab"},
		{"a second document", "exemptions:", "---\nexemptions:", "exemptions:", "", "second document"},
		{"an endpoint that is no URL", `openai: "{{.BaseURL}}"`, `openai: "{{.Host}}:{{.Port}}"`, "", "endpoint.openai", "is not a"},
		{"an endpoint over TLS", `openai: "{{.BaseURL}}"`, `openai: "https://{{.Host}}"`, "", "endpoint.openai", "not an http URL"},
		{"an empty program", "[router, --port", `["{{if false}}x{{end}}", --port`, "    command", "launch.exec.command[0]", "no program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := strings.Replace(good, c.old, c.new, 1)
			if source == good {
				t.Fatal("the case changes nothing")
			}
			at := c.at
			if at == "" {
				at = c.new
			}
			_, err := Parse("bad.yaml", []byte(source), testClaims)
			var e *ManifestError
			if !errors.As(err, &e) {
				t.Fatalf("Parse: %v", err)
			}
			if want := lineOf(t, source, at); e.Line != want || e.Column < 1 {
				t.Errorf("line %d, want %d: %v", e.Line, want, err)
			}
			if e.Key != c.key || !strings.Contains(e.Problem, c.problem) || e.Remedy == "" {
				t.Errorf("got %v\nwant key %q and %q", err, c.key, c.problem)
			}
			if !strings.HasPrefix(err.Error(), fmt.Sprintf("bad.yaml:%d:%d: ", e.Line, e.Column)) {
				t.Errorf("message %q", err)
			}
		})
	}
}

func TestAnUnknownNameIsAnsweredWithTheNearestOnes(t *testing.T) {
	claims := slices.Concat(testClaims, []string{"pins.rank", "pins.worker", "routing.models", "streaming.cancel"})
	all := strings.Replace(good, "claims:\n", "claims:\n  pins.rank: no\n  pins.worker: no\n  routing.models: no\n  streaming.cancel: no\n", 1)
	for _, c := range []struct{ old, new, first string }{
		{"affinity.key: true", "affinity.keys: true", "near: affinity.key, "},
		{"pins.worker", "pins.workers", "near: pins.worker, "},
		{"timeouts:", "timeout:", "near: timeouts, "},
		{"  idleTTL: 3s", "  idleTtl: 3s", "near: idleTTL, "},
		{"kind: table", "kind: tabel", "write one of table, "},
		{"atCapacity: evict", "atCapacity: evicts", "write one of evict, "},
		{"stop: SIGINT", "stop: INT", "write one of SIGINT, "},
	} {
		_, err := Parse("bad.yaml", []byte(strings.Replace(all, c.old, c.new, 1)), claims)
		var e *ManifestError
		if !errors.As(err, &e) || !strings.HasPrefix(e.Remedy, c.first) || strings.Count(e.Remedy, ", ") > 4 {
			t.Errorf("%s: %v; want %q and at most four more", c.new, err, c.first)
		}
	}
}

func TestBadTemplatesAreFoundAtTheirOwnLine(t *testing.T) {
	for _, c := range []struct{ name, old, new, at, problem string }{
		{"syntax in a block", "{{range .Workers}}worker", "{{range .Workers}worker", "    {{range", "bad character"},
		{"a missing end", "    {{end}}\n", "    x\n", "", "unexpected EOF"},
		{"an unknown function", "worker {{.ID}}", "worker {{.ID | upper}}", "    {{range", `"upper" not defined`},
		{"an unknown field in a block", "worker {{.ID}}", "worker {{.Name}}", "    {{range", "Name"},
		{"an unknown port", "{{.Ports.admin}}", "{{.Ports.other}}", "      http: \"http://{{.Host}}", `no entry for key "other"`},
		{"an unknown field in an argument", `"{{.Port}}"]`, `"{{.Prot}}"]`, "    command", "Prot"},
		{"a fault that only a variant has", `"{{seconds .Session.IdleTTL}}"`, `"{{seconds .Session.Idle}}"`, "      extra.cfg", "Idle"},
		{"half a second in seconds", "      idleTTL: 1s", "      idleTTL: 1500ms", "      extra.cfg", "use millis"},
		{"a flood", "# workers", "{{range 100000}}{{range 1000}}xxxxxxxxxx{{end}}{{end}}", "", "more than 16 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := strings.Replace(good, c.old, c.new, 1)
			_, err := Parse("bad.yaml", []byte(source), testClaims)
			var e *ManifestError
			if !errors.As(err, &e) {
				t.Fatalf("Parse: %v", err)
			}
			if c.at != "" && e.Line != lineOf(t, source, c.at) {
				t.Errorf("line %d, want %d: %v", e.Line, lineOf(t, source, c.at), err)
			}
			if !strings.Contains(e.Problem, c.problem) || !strings.Contains(e.Remedy, ".Workers") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOtherLaunchesAreReadStrictlyToo(t *testing.T) {
	head := "apiVersion: routeproof/v1\nimplementation: {organization: o, project: p, version: v, url: u}\nsession: {kind: none}\n"
	claims := "claims: {scaling.live: %s}\n"
	external := head + fmt.Sprintf(claims, "no") + "launch: {external: {}}\nwiring: {workers: static, ports: [9001, 9002]}\nendpoint: {openai: \"http://127.0.0.1:8000\"}\n"
	inprocess := head + fmt.Sprintf(claims, "yes") + "launch: {inprocess: reference}\n"
	for _, c := range []struct {
		name, source, old, new string
		line                   int
		problem                string
	}{
		{"external is read", external, "", "", 0, ""},
		{"in process is read", inprocess, "", "", 0, ""},
		{"external needs ports", external, ", ports: [9001, 9002]", "", 6, "ports are missing"},
		{"external ports are ports", external, "9002", "90020", 6, "out of range"},
		{"external ports are different", external, "9002", "9001", 6, "given twice"},
		{"external has a literal address", external, "http://127.0.0.1:8000", "{{.BaseURL}}", 7, "must be literal"},
		{"requests bring /v1 themselves", external, "http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/", 7, "ends in /v1"},
		{"external cannot be signalled", external, "workers: static", "workers: static, apply: {signal: SIGHUP, verify: {http: \"http://h\", contains: \"{{.Generation}}\"}}", 6, "no process of ours"},
		{"external has no files", external, "endpoint:", "files: {a: b}\nendpoint:", 7, "has no effect"},
		{"external takes no settings", external, "external: {}", "external: {url: x}", 5, "unknown key"},
		{"external cannot scale", external, "scaling.live: no", "scaling.live: yes", 4, "wiring (line 6)"},
		{"in process has one router", inprocess, "reference", "other", 5, "not known"},
		{"in process needs no wiring", inprocess, "launch", "wiring: {workers: static}\nlaunch", 5, "has no effect"},
		{"in process has no endpoint", inprocess, "launch", "endpoint: {openai: \"http://h\"}\nlaunch", 5, "has no effect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse("m.yaml", []byte(strings.Replace(c.source, c.old, c.new, 1)), []string{"scaling.live"})
			if c.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				if m.Launch.External && fmt.Sprint(m.Wiring.Ports) != "[9001 9002]" {
					t.Errorf("ports %v", m.Wiring.Ports)
				}
				return
			}
			var e *ManifestError
			if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.Problem, c.problem) {
				t.Errorf("got %v, want line %d and %q", err, c.line, c.problem)
			}
		})
	}
}

func TestSourcesThatAreNoManifestNeverPanic(t *testing.T) {
	for _, s := range []string{
		"", "\n", "# only a remark\n", "- a\n", "text", "{", "}", "a: b: c", "\x00", "\xff\xfe\x00", "&a *a", "a: *b", "<<: {a: 1}",
		"? a\n: b", "%YAML 1.2\n---\n", "---\n---\n", "a:\n\tb: c\n", "a: |\n", "'", "\"\\", "!!binary x", ": :", "- - -", "{a: {b: [", "a: 'b",
		strings.Repeat("[", 1<<20), strings.Repeat("{a: ", 1<<16), strings.Repeat("- ", 1<<16), strings.Repeat("a:\n", 1<<14), strings.Repeat("x", 2<<20),
	} {
		_, err := Parse("m.yaml", []byte(s), testClaims)
		var e *ManifestError
		if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Remedy == "" {
			t.Errorf("%.20q: %v", s, err)
		}
	}
}

func TestTheBuiltInManifestIsGood(t *testing.T) {
	m := Reference(testClaims)
	for _, c := range testClaims {
		if !m.Claims[c] {
			t.Errorf("claim %s is answered no", c)
		}
	}
	if s, err := m.SessionOf(VariantShortTTL); err != nil || s.IdleTTL != 2*time.Second || s.Carrier.Header != "X-Session-ID" {
		t.Errorf("%+v %v", s, err)
	}
	if s, err := m.SessionOf(VariantSmallCapacity); err != nil || s.Capacity != 64 || s.IdleTTL != time.Minute {
		t.Errorf("%+v %v", s, err)
	}
	if len(Reference(nil).Claims) != 0 || m.SHA256() == Reference(nil).SHA256() {
		t.Error("the digest does not depend on the source")
	}
}

func TestAManifestThatCannotBeReadIsNamed(t *testing.T) {
	_, err := Load(t.TempDir()+"/none.yaml", nil)
	var e *ManifestError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "none.yaml:1:1") {
		t.Errorf("Load: %v", err)
	}
}

// Damaged manifests of all kinds are answered, never with a panic or another error.
func TestDamagedManifestsAreAnswered(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := []byte(good)
		for range 1 + r.IntN(4) {
			i, j := r.IntN(len(b)), r.IntN(len(b))
			switch r.IntN(3) {
			case 0:
				const odd = "{}[]:-|>&*!'\"#?, \n\t%@`\x00\xff"
				b[i] = odd[r.IntN(len(odd))]
			case 1:
				b = slices.Delete(b, i, min(len(b), i+1+r.IntN(20)))
			case 2:
				b = slices.Insert(b, i, slices.Clone(b[j:min(len(b), j+40)])...)
			}
		}
		m, err := Parse("m.yaml", b, testClaims)
		var e *ManifestError
		if (m == nil) == (err == nil) || err != nil && !errors.As(err, &e) {
			t.Fatalf("%v %v for\n%s", m, err, b)
		}
	}
}
