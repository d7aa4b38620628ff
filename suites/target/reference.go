package target

import (
	"fmt"
	"strings"
)

// Variants that cases ask for by name; the built-in manifest has them.
const (
	VariantShortTTL      = "shortTTL"           // session.idleTTL of two seconds
	VariantSmallCapacity = "smallCapacity"      // session.capacity of 64
	VariantShortHeaders  = "shortHeaderTimeout" // timeouts.headers of one second
)

const referenceHead = `apiVersion: routeproof/v1
implementation: {organization: routeproof, project: reference, version: built-in, url: "https://github.com/routeproof/routeproof"}
launch: {inprocess: reference}
component: {inprocess: reference}
session: {carrier: {header: X-Session-ID}, kind: table, scope: replica, idleTTL: 60s, capacity: 65536, atCapacity: refuse, query: X-Routeproof-Query, tenant: X-Tenant-ID}
pins: {worker: X-Dynamo-Worker-Instance-ID, rank: X-Dynamo-DP-Rank, prefillWorker: X-Dynamo-Prefill-Instance-ID, prefillRank: X-Dynamo-Prefill-DP-Rank}
models: [mock, other]
aliases: {mock-latest: mock, "org/mock": mock, another: other}
timeouts: {headers: 10s}
wiring:
  stores:
    etcd:
      key: "/routeproof/workers/{{.Worker.ID}}"
      value: '{{printf "{\"id\":%q,\"url\":%q,\"models\":[%q],\"role\":%q,\"ranks\":%d,\"incarnation\":%q}" .Worker.ID .Worker.URL .Worker.Model .Worker.Role .Worker.Ranks .Incarnation}}'
      ttl: 2s
    file:
      key: "{{.Worker.ID}}"
      value: |-
        {{- $record := printf "{\"id\":%q,\"url\":%q,\"models\":[%q],\"role\":%q,\"ranks\":%d,\"incarnation\":%q}" .Worker.ID .Worker.URL .Worker.Model .Worker.Role .Worker.Ranks .Incarnation -}}
        {"ttl":{{millis .TTL}},"owner":"{{.Worker.ID}}-{{.Incarnation}}","size":{{len $record}}}
        {{$record}}
      ttl: 2s
variants:
  shortTTL: {session: {idleTTL: 2s}}
  smallCapacity: {session: {capacity: 64}}
  shortHeaderTimeout: {timeouts: {headers: 1s}}
claims:
`

// Reference is the built-in manifest of the reference inside this process, with
// every claim answered yes. It panics on claims that are no plain words: they
// come from the specification, never from outside.
func Reference(claims []string) *Manifest {
	var b strings.Builder
	b.WriteString(referenceHead)
	if len(claims) == 0 {
		b.WriteString("  {}\n")
	}
	for _, c := range claims {
		fmt.Fprintf(&b, "  %q: yes\n", c)
	}
	m, err := Parse("(built-in reference)", []byte(b.String()), claims)
	if err != nil {
		panic("target: built-in manifest: " + err.Error())
	}
	return m
}
