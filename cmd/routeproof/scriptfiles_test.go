package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
)

func manifest(ts *testscript.TestScript, _ bool, args []string) {
	b, err := os.ReadFile(filepath.Join(ts.Getenv("FIXTURES"), "reference.yaml"))
	ts.Check(err)
	text := string(b)
	for i := 1; i+1 < len(args); i += 2 {
		if !strings.Contains(text, args[i]) {
			ts.Fatalf("the manifest does not hold %q", args[i])
		}
		text = strings.Replace(text, args[i], args[i+1], 1)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// launches are the ways in which claiming can launch a target.
var launches = map[string]string{
	"reference": "launch: {inprocess: reference}\n",
	"garbage": `launch: {exec: {command: ["{{.Exe}}", hostile, garbage, --listen, "{{.Host}}:{{.Port}}"], ready: {http: "{{.BaseURL}}/health"}}}
wiring: {workers: static}
endpoint: {openai: "{{.BaseURL}}"}
`,
	"exits": `launch: {exec: {command: ["{{.Exe}}", hostile, exits-at-once, --listen, "{{.Host}}:{{.Port}}"], ready: {http: "{{.BaseURL}}/health"}}}
wiring: {workers: static}
endpoint: {openai: "{{.BaseURL}}"}
`,
}

func claiming(ts *testscript.TestScript, _ bool, args []string) {
	cat, err := suites.Load()
	ts.Check(err)
	text := `apiVersion: routeproof/v1
implementation: {organization: routeproof, project: ` + args[1] + `, version: "1", url: "http://example.org"}
` + launches[args[1]] + `session: {carrier: {header: X-Session-ID}, kind: table, idleTTL: 1s}
claims:
`
	for _, c := range cat.Spec.ClaimNames() {
		answer := "no"
		if slices.Contains(args[2:], c) {
			answer = "yes"
		}
		text += fmt.Sprintf("  %s: %s\n", c, answer)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

func expectation(ts *testscript.TestScript, _ bool, args []string) {
	r, err := report.ReadJSON(ts.MkAbs(args[1]))
	ts.Check(err)
	change := map[string]string{}
	for i := 2; i+1 < len(args); i += 2 {
		change[args[i]] = args[i+1]
	}
	text := "apiVersion: routeproof/v1\ntarget: a script's\ncases:\n"
	for _, c := range r.Cases {
		verdict := string(c.Verdict)
		if v, ok := change[c.ID]; ok {
			verdict = v
		}
		text += fmt.Sprintf("  %s: {verdict: %s, why: \"so says the script\"}\n", c.ID, verdict)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

func measurement(ts *testscript.TestScript, _ bool, args []string) {
	factor, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	f := record.File{Suite: "speed", Complete: true}
	names := []string{"d/match"}
	for _, a := range args[2:] {
		switch {
		case a == "interrupted":
			f.Complete = false
		case strings.Contains(a, "/"):
			names = append(names, a)
		default:
			f.Suite = a
		}
	}
	var samples []record.Sample
	for i := range 30 {
		ns := factor * float64(10000+i*7%13*20) // a spread of a few percent
		samples = append(samples, record.Sample{Round: 1 + i, N: 256, Ops: 16, NS: int64(ns), Control: 5000})
	}
	for _, name := range names {
		f.Ladders = append(f.Ladders, record.Ladder{Name: name, Symbol: "d", Samples: samples})
	}
	ts.Check(f.Write(ts.MkAbs(args[0])))
}
