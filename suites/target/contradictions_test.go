package target

import (
	"errors"
	"strings"
	"testing"
)

// contradicting is a manifest in which nothing contradicts anything; tests put that in.
const contradicting = `apiVersion: routeproof/v1
implementation: {organization: o, project: p, version: v, url: u}
launch:
  exec:
    command: [router, "--ttl={{.Session.IdleTTL}}"]
    ready: {http: "{{.BaseURL}}/health"}
files:
  workers: "{{range .Workers}}{{.URL}} {{.Role}} {{end}}"
wiring:
  workers: static
  apply:
    signal: SIGHUP
    verify: {http: "{{.BaseURL}}/generation", contains: "{{.Generation}}"}
endpoint: {openai: "{{.BaseURL}}"}
session:
  carrier: {header: X-Session-ID}
  kind: table
  idleTTL: 60s
  capacity: 65536
  atCapacity: refuse
pins:
  worker: X-Worker
  prefillWorker: X-Prefill
  prefillRank: X-Prefill-Rank
variants:
  shortTTL:
    session: {idleTTL: 2s}
  same: {}
claims:
  affinity.capacity: yes
  affinity.commitOnSuccess: yes
  affinity.errorEnds: yes
  affinity.idleTTL: yes
  affinity.query: yes
  component.affinity: no
  discovery.etcd: no
  pds.split: yes
  routing.spread: yes
  scaling.live: yes
`

// library is a component alone.
const library = `apiVersion: routeproof/v1
implementation: {organization: o, project: p, version: v, url: u}
component: {command: [adapter]}
claims:
  affinity.capacity: yes
  affinity.commitOnSuccess: yes
  affinity.errorEnds: no
  affinity.idleTTL: yes
  affinity.query: no
  component.affinity: yes
  discovery.etcd: no
  pds.split: no
  routing.spread: no
  scaling.live: no
`

// runningAlready is a router that we do not start.
const runningAlready = `apiVersion: routeproof/v1
implementation: {organization: o, project: p, version: v, url: u}
launch: {external: {}}
wiring: {workers: static, ports: [9001, 9002]}
endpoint: {openai: "http://127.0.0.1:8080"}
session: {carrier: {header: X-Session-ID}, kind: table}
claims:
  affinity.capacity: no
  affinity.commitOnSuccess: yes
  affinity.errorEnds: no
  affinity.idleTTL: no
  affinity.query: no
  component.affinity: no
  discovery.etcd: no
  pds.split: yes
  routing.spread: yes
  scaling.live: no
`

var contradictingClaims = []string{"affinity.capacity", "affinity.commitOnSuccess", "affinity.errorEnds", "affinity.idleTTL", "affinity.query",
	"component.affinity", "discovery.etcd", "pds.split", "routing.spread", "scaling.live"}

func TestContradictionsAreRefused(t *testing.T) {
	hash := []string{"kind: table", "kind: hash", "  idleTTL: 60s\n  capacity: 65536\n  atCapacity: refuse\n", "",
		"variants:\n  shortTTL:\n    session: {idleTTL: 2s}\n  same: {}\n", "", "  affinity.idleTTL: yes", "  affinity.idleTTL: no"}
	no := func(claims ...string) (changes []string) {
		for _, c := range claims {
			changes = append(changes, c+": yes", c+": no")
		}
		return changes
	}
	for _, c := range []struct {
		name, source       string
		changes            []string // old, new, old, new...
		at, key            string   // at begins what must be named; "" for no error
		value, problem, of string   // of: the remedy
	}{
		{"nothing contradicts", contradicting, nil, "", "", "", "", ""},
		{"a library", library, nil, "", "", "", "", ""},
		{"a router that runs already", runningAlready, nil, "", "", "", "", ""},

		{"an idle time of no table", contradicting, append(no("affinity.capacity", "affinity.commitOnSuccess", "affinity.errorEnds", "affinity.query"), "kind: table", "kind: hash"),
			"idleTTL: 60s", "session.idleTTL", "1m0s", "session.kind (line 17) is hash", "kind: table"},
		{"a capacity of no table", runningAlready, []string{"kind: table", "kind: hash, capacity: 8", "commitOnSuccess: yes", "commitOnSuccess: no"},
			"capacity: 8", "session.capacity", "8", "session.kind (line 6) is hash", "kind: table"},
		{"an end of capacity where nothing is bound", runningAlready, []string{"kind: table", "kind: none, atCapacity: evict", "commitOnSuccess: yes", "commitOnSuccess: no"},
			"atCapacity: evict", "session.atCapacity", "evict", "is none", "kind: table"},
		{"an idle time in a variant of no table", contradicting, append(no("affinity.capacity", "affinity.commitOnSuccess", "affinity.errorEnds", "affinity.query"),
			hash[0], hash[1], hash[2], hash[3], hash[6], hash[7]),
			"idleTTL: 2s", "variants.shortTTL.session.idleTTL", "2s", "is hash", "remove it"},
		{"beyond a capacity that there is not", contradicting, []string{"  capacity: 65536\n", "", "affinity.capacity: yes", "affinity.capacity: no"},
			"atCapacity: refuse", "session.atCapacity", "refuse", "neither session nor a variant declares one", "session.capacity"},
		{"a capacity that only a variant has", contradicting, []string{"  capacity: 65536\n", "", "session: {idleTTL: 2s}", "session: {idleTTL: 2s, capacity: 8}"}, "", "", "", "", ""},

		{"a hash's capacity", contradicting, append(no("affinity.commitOnSuccess", "affinity.errorEnds", "affinity.query"), hash...),
			"affinity.capacity", "claims.affinity.capacity", "yes", "session.kind (line 17) is hash", "answer no"},
		{"a hash's commit", contradicting, append(no("affinity.capacity", "affinity.errorEnds", "affinity.query"), hash...),
			"affinity.commitOnSuccess", "claims.affinity.commitOnSuccess", "yes", "is hash", "answer no"},
		{"a hash's ends", contradicting, append(no("affinity.capacity", "affinity.commitOnSuccess", "affinity.query"), hash...),
			"affinity.errorEnds", "claims.affinity.errorEnds", "yes", "is hash", "answer no"},
		{"a hash's answers", contradicting, append(no("affinity.capacity", "affinity.commitOnSuccess", "affinity.errorEnds"), hash...),
			"affinity.query", "claims.affinity.query", "yes", "is hash", "answer no"},
		{"a hash that claims none of this", contradicting, append(no("affinity.capacity", "affinity.commitOnSuccess", "affinity.errorEnds", "affinity.query"), hash...), "", "", "", "", ""},

		{"a store without records", contradicting, []string{"discovery.etcd: no", "discovery.etcd: yes"},
			"discovery.etcd", "claims.discovery.etcd", "yes", "wiring.stores does not say", "stores: {etcd:"},
		{"a store of the other kind", contradicting, []string{"discovery.etcd: no", "discovery.etcd: yes",
			"  workers: static\n", "  workers: static\n  stores: {file: {key: \"{{.Worker.ID}}\", value: \"{{.Worker.URL}}\", ttl: 2s}}\n"},
			"discovery.etcd", "claims.discovery.etcd", "yes", "wiring.stores does not say", "answer no"},
		{"a store that nobody is told of", contradicting, []string{"discovery.etcd: no", "discovery.etcd: yes",
			"  workers: static\n", "  workers: static\n  stores: {etcd: {key: \"{{.Worker.ID}}\", value: \"{{.Worker.URL}}\", ttl: 2s}}\n"},
			"discovery.etcd", "claims.discovery.etcd", "yes", "says where the store is", "{{.Store.Endpoints}}"},
		{"a store that the target is told of", contradicting, []string{"discovery.etcd: no", "discovery.etcd: yes",
			"  workers: static\n", "  workers: static\n  stores: {etcd: {key: \"{{.Worker.ID}}\", value: \"{{.Worker.URL}}\", ttl: 2s}}\n",
			"--ttl={{.Session.IdleTTL}}", "--ttl={{.Session.IdleTTL}} {{.Store.Endpoints}}"}, "", "", "", "", ""},

		{"a library that spreads requests", library, []string{"routing.spread: no", "routing.spread: yes"}, "routing.spread", "claims.routing.spread", "yes", "a component alone (line 3)", "answer no"},
		{"a library that serves in two phases", library, []string{"pds.split: no", "pds.split: yes"}, "pds.split", "claims.pds.split", "yes", "about routers", "add launch"},
		{"a library that is none", library, []string{"component.affinity: yes", "component.affinity: no"}, "component.affinity", "claims.component.affinity", "no", "nothing of it would be looked at", "answer yes"},

		{"the rank of nobody", contradicting, []string{"  prefillWorker: X-Prefill\n", ""}, "prefillRank", "pins.prefillRank", "X-Prefill-Rank", "that no header names", "prefillWorker"},

		{"a variant that nobody is told of", contradicting, []string{"{{.Session.IdleTTL}}", "60s"}, "session: {idleTTL: 2s}", "variants.shortTTL.session", "", "changes nothing that the target is given", "{{.Session}}"},
		{"a variant that is told by its name", contradicting, []string{"{{.Session.IdleTTL}}", "{{.Variant}}"}, "", "", "", "", ""},
		{"a variant with variables of its own", contradicting, []string{"{{.Session.IdleTTL}}", "60s", "session: {idleTTL: 2s}", "session: {idleTTL: 2s}\n    env: {TTL: two}"}, "", "", "", "", ""},
		{"a variant of what runs already", runningAlready, []string{"claims:", "variants: {shortTTL: {}}\nclaims:"}, "variants: {shortTTL", "variants.shortTTL", "", "runs as it runs", "answer the claims"},

		{"phases without roles", contradicting, []string{" {{.Role}}", ""}, "pds.split", "claims.pds.split", "yes", "which workers are for prefill", "{{.Role}}"},
		{"no phases and no roles", contradicting, []string{" {{.Role}}", "", "pds.split: yes", "pds.split: no"}, "", "", "", "", ""},
		{"roles by ports", contradicting, []string{" {{.Role}}", "", "workers: static", "workers: static\n  ports: [9001, 9002, 9003, 9004]"}, "", "", "", "", ""},

		{"a reload of nothing", contradicting, []string{"{{range .Workers}}{{.URL}} {{.Role}} {{end}}", "x", "[router,", "[router, \"{{.Workers}}\","},
			"scaling.live", "claims.scaling.live", "yes", "files are all that a reload (line 11) renews", "into a file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := c.source
			for i := 0; i < len(c.changes); i += 2 {
				if !strings.Contains(source, c.changes[i]) {
					t.Fatalf("no %q to change", c.changes[i])
				}
				source = strings.Replace(source, c.changes[i], c.changes[i+1], 1)
			}
			_, err := Parse("m.yaml", []byte(source), contradictingClaims)
			if c.key == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var e *ManifestError
			if !errors.As(err, &e) {
				t.Fatalf("Parse = %v, want an error about %s", err, c.key)
			}
			if e.Line != lineOf(t, source, c.at) || e.Key != c.key || e.Value != c.value || !strings.Contains(e.Problem, c.problem) || !strings.Contains(e.Remedy, c.of) {
				t.Errorf("got  %v (value %q)\nwant line %d, key %s, value %q, %q, %q", err, e.Value, lineOf(t, source, c.at), c.key, c.value, c.problem, c.of)
			}
		})
	}
}
