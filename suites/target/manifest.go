package target

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites/near"
)

// APIVersion is the one manifest version this package reads.
const APIVersion = "routeproof/v1"

// InProcessReference is the only router that `launch.inprocess` knows.
const InProcessReference = "reference"

// Values of session.kind.
const (
	KindTable = "table" // a binding per session, with a time to live
	KindHash  = "hash"  // the session's hash decides; no state
	KindNone  = "none"  // no affinity
)

// Values of session.atCapacity.
const (
	CapacityRefuse   = "refuse"   // a new session gets an error
	CapacityUnpinned = "unpinned" // a new session is served without a binding
	CapacityEvict    = "evict"    // an old binding makes room
)

// Values of session.final.
const (
	FinalIgnore  = "ignore"  // it is a turn like any other
	FinalRelease = "release" // its end ends the session's binding
)

// Values of wiring.workers.
const (
	WorkersStatic = "static" // rendered into files, arguments or environment
	WorkersNone   = "none"   // the target knows fixed addresses by itself: wiring.ports
)

// Manifest describes one target. It is read by Load, Parse or Reference and not
// changed afterwards.
type Manifest struct {
	File           string // as given to Load
	Implementation Implementation
	Launch         Launch              // nil fields only: no router, a component alone
	Component      *Component          // nil: the target is no library
	Files          map[string]Template // name in the target's directory -> contents
	Ports          []string            // names of extra ports to allocate
	Wiring         Wiring
	Endpoint       Template // base URL of the OpenAI API, without /v1; empty in process
	Session        Session
	Pins           Pins
	Claims         map[string]bool   // every known claim is answered
	Models         []string          // model names that clients may ask for; at least one
	Aliases        map[string]string // other names of Models: alias -> model
	Timeouts       Timeouts
	Variants       map[string]Variant
	Exemptions     []Exemption

	source []byte
	dir    string // of File, absolute
}

// Implementation says who made what.
type Implementation struct{ Organization, Project, Version, URL string }

// Launch says how the target comes to run. Exactly one of the three is set.
type Launch struct {
	InProcess string // InProcessReference
	External  bool   // it runs already
	Exec      *Exec
}

// Kind is "inprocess", "external", "exec", or "none" where there is a component alone.
func (l Launch) Kind() string {
	switch {
	case l.Exec != nil:
		return "exec"
	case l.External:
		return "external"
	case l.InProcess != "":
		return "inprocess"
	}
	return "none"
}

// Component says how the target is reached as a library: through an adapter that
// speaks the protocol of component.md. Exactly one of the two is set.
type Component struct {
	InProcess string // InProcessReference
	Command   []Template
	Env       map[string]Template
}

// Pins are the headers by which a request names where it wants to be served; empty
// where there is none.
type Pins struct {
	Worker string // its value is the worker's id as wired
	Rank   string // its value is a data-parallel rank, from 0

	PrefillWorker, PrefillRank string // the same for the prefill phase of a request that is served in two
}

// Exec is a target that we run as a process.
type Exec struct {
	Command []Template // program and arguments; the program is looked up in PATH
	Env     map[string]Template
	Ready   Ready
	Stop    string        // signal that asks it to end; default SIGTERM
	Grace   time.Duration // from that signal to SIGKILL; default 5s, at most 30s
}

// Ready says how a launched target shows that it serves.
type Ready struct {
	HTTP    Template      // URL that is asked until it answers Status
	Status  int           // default 200
	Timeout time.Duration // default 10s, at most 60s
}

// Wiring says how the target learns about workers.
type Wiring struct {
	Workers string // WorkersStatic or WorkersNone; empty in process
	Ports   []int  // fixed ports that the fleet must listen on; nil = any
	Apply   *Apply // nil: a running target cannot be given other workers
	// Stores are the discovery stores in which the target looks for workers, by kind. A
	// case that is about one starts the target with it: templates see Store, and no workers
	// are rendered. Empty: it knows no store.
	Stores map[string]Registration
}

// Apply says how a running target is told to read its files again.
type Apply struct {
	Signal string
	When   *Verify // what must be seen before the signal is sent; nil: nothing
	Verify Verify  // what shows that the target follows
}

// Verify is something seen from outside: the answer of GET HTTP holds the text
// Contains.
type Verify struct{ HTTP, Contains Template }

// Session is what the target does about sessions.
type Session struct {
	Carrier    Carrier
	Kind       string        // KindTable, KindHash or KindNone
	Scope      string        // replica (default) or shared
	IdleTTL    time.Duration // 0: not declared
	Capacity   int           // bindings; 0: not declared
	Tenant     string        // header whose value keeps equal session ids apart; empty: none
	Query      string        // header with the value "target" that only asks where the session is bound; empty: none
	AtCapacity string        // CapacityRefuse, CapacityUnpinned, CapacityEvict; empty: not declared
	Final      string        // what a turn that says it is its session's last does: FinalIgnore (default) or FinalRelease
}

// Carrier is where the session id travels. At most one is set; none only with KindNone.
type Carrier struct{ Header, Body, Cookie string }

// Timeouts are how long the target may take.
type Timeouts struct {
	Convergence time.Duration // to follow a change of workers; default 2s, at most 10s
	Headers     time.Duration // to wait for a worker's response headers; 0: not declared
}

// Variant is the target with other settings: what a case with a short time to
// live or a small table needs.
type Variant struct {
	Session Session             // whole: the manifest's own with the overlay in it
	Headers time.Duration       // Timeouts.Headers, the same
	Files   map[string]Template // replace or add
	Env     map[string]Template // replace or add
}

// Exemption asks that a case's failure be tolerated for a while.
type Exemption struct {
	Case, Reason, Issue string
	Expires             time.Time // the day's beginning, UTC
}

// SHA256 is the digest of the manifest's source, in hex.
func (m *Manifest) SHA256() string {
	sum := sha256.Sum256(m.source)
	return hex.EncodeToString(sum[:])
}

// Source is the manifest's text.
func (m *Manifest) Source() []byte { return slices.Clone(m.source) }

// VariantNames lists the variants in order, without the unnamed one.
func (m *Manifest) VariantNames() []string { return sortedKeys(m.Variants) }

// SessionOf is the session declaration in force under a variant ("" = none).
func (m *Manifest) SessionOf(variant string) (Session, error) {
	v, err := m.resolve(variant)
	return v.Session, err
}

// timeouts are those in force under a variant.
func (m *Manifest) timeouts(v Variant) Timeouts {
	return Timeouts{Convergence: m.Timeouts.Convergence, Headers: v.Headers}
}

// HeadersOf is how long the target waits for a worker's response headers under a
// variant; 0 if that is not declared.
func (m *Manifest) HeadersOf(variant string) (time.Duration, error) {
	v, err := m.resolve(variant)
	return v.Headers, err
}

// Reloads says whether a running target can be given other workers.
func (m *Manifest) Reloads() bool { return m.Launch.InProcess != "" || m.Wiring.Apply != nil }

// resolve merges a variant into the manifest's own files, environment and session.
func (m *Manifest) resolve(variant string) (Variant, error) {
	all := Variant{Session: m.Session, Headers: m.Timeouts.Headers, Files: map[string]Template{}, Env: map[string]Template{}}
	merge(all.Files, m.Files)
	if m.Launch.Exec != nil {
		merge(all.Env, m.Launch.Exec.Env)
	}
	if variant == "" {
		return all, nil
	}
	replaced := map[string]string{} // what a variant replaced, and which one
	for name := range strings.SplitSeq(variant, Plus) {
		v, ok := m.Variants[name]
		if !ok {
			known := "it has none"
			if len(m.Variants) > 0 {
				known = "near: " + near.List(m.VariantNames(), name)
			}
			return Variant{}, fmt.Errorf("%s: no variant %q; %s", m.File, name, known)
		}
		for _, what := range append(sortedKeys(v.Files), sortedKeys(v.Env)...) {
			if other := replaced[what]; other != "" {
				return Variant{}, m.Fault([]string{"variants", name}, "variants."+name, "",
					fmt.Sprintf("replaces %s, and so does variant %s, but a case needs both in force at once", what, other),
					"let the manifest's own text say both, from {{.Session}}")
			}
			replaced[what] = name
		}
		all.Session = overlay(all.Session, m.Session, v.Session)
		change(&all.Headers, m.Timeouts.Headers, v.Headers)
		merge(all.Files, v.Files)
		merge(all.Env, v.Env)
	}
	return all, nil
}

// Plus joins the names of variants that are in force together, each laid over the
// ones before.
const Plus = "+"

// overlay changes in s what variant v changes in the manifest's own session.
func overlay(s, own, v Session) Session {
	change(&s.Carrier, own.Carrier, v.Carrier)
	change(&s.Kind, own.Kind, v.Kind)
	change(&s.Scope, own.Scope, v.Scope)
	change(&s.IdleTTL, own.IdleTTL, v.IdleTTL)
	change(&s.Capacity, own.Capacity, v.Capacity)
	change(&s.AtCapacity, own.AtCapacity, v.AtCapacity)
	change(&s.Query, own.Query, v.Query)
	change(&s.Tenant, own.Tenant, v.Tenant)
	change(&s.Final, own.Final, v.Final)
	return s
}

func change[T comparable](into *T, was, is T) {
	if is != was {
		*into = is
	}
}

func merge(into, from map[string]Template) {
	for k, t := range from {
		into[k] = t
	}
}
