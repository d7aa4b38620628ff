package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestJUnitLooksAsAgreed(t *testing.T) {
	got, err := sample().junit()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "junit.xml", got)
}

type outcome struct{ failure, errored, skipped bool }

func parseJUnit(t *testing.T, text []byte) map[string]outcome {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for { // to the end, strictly: well-formed, and only characters XML 1.0 has
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
	var all junitSuites
	if err := xml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	out, tests, failures, errs, skipped := map[string]outcome{}, 0, 0, 0, 0
	for _, s := range all.Suites {
		for _, c := range s.Cases {
			o := outcome{c.Failure != nil, c.Error != nil, c.Skipped != nil}
			id, _, _ := strings.Cut(c.Name, " ")
			out[id] = o
			tests++
			if o.failure {
				failures++
			}
			if o.errored {
				errs++
			}
			if o.skipped {
				skipped++
			}
		}
	}
	if tests != all.Tests || failures != all.Failures || errs != all.Errors || skipped != all.Skipped {
		t.Errorf("counts %d/%d/%d/%d, but the cases say %d/%d/%d/%d",
			all.Tests, all.Failures, all.Errors, all.Skipped, tests, failures, errs, skipped)
	}
	return out
}

func TestJUnitTellsEveryVerdictApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), JUnitFile)
	if err := sample().WriteJUnit(path); err != nil {
		t.Fatal(err)
	}
	text, err := sample().junit()
	if err != nil {
		t.Fatal(err)
	}
	got := parseJUnit(t, text)
	for id, want := range map[string]outcome{
		"RTE-001/stream":      {},
		"RTE-002":             {skipped: true},
		"AFF-012/chat,stream": {failure: true},
		"AFF-013":             {errored: true},
		"STR-004":             {errored: true},
		"AFF-031":             {skipped: true},
		"RES-002":             {failure: true},
		"RES-003":             {errored: true},
		"RES-009":             {failure: true},
		"exemption":           {failure: true}, // the problem of the run
	} {
		if g, ok := got[id]; !ok || g != want {
			t.Errorf("%s: %+v (present %v), want %+v", id, g, ok, want)
		}
	}
}

func TestJUnitShowsDifferencesWhereVerdictsWereExpected(t *testing.T) {
	r := sample()
	Compare(r, &Expected{File: "e.yaml", Target: "t", Default: Wanted{Verdict: Pass}, Cases: map[string]Wanted{
		"AFF-012": {Verdict: Fail, Why: "moves sessions"},
		"RTE-001": {Verdict: Fail, Why: "thought so"},
		"STR-004": {Verdict: Inconclusive, Why: "has no such state"},
	}})
	text, err := r.junit()
	if err != nil {
		t.Fatal(err)
	}
	got := parseJUnit(t, text)
	for id, want := range map[string]outcome{
		"AFF-012/chat,stream": {skipped: true}, // fails as expected
		"RTE-001/stream":      {failure: true}, // passes unexpectedly
		"STR-004":             {skipped: true},
		"RTE-002":             {failure: true}, // declined, expected to pass
		"AFF-013":             {errored: true}, // an error is nobody's expectation
	} {
		if got[id] != want {
			t.Errorf("%s: %+v, want %+v", id, got[id], want)
		}
	}
}

func TestJUnitHoldsAnyByteARouterMaySend(t *testing.T) {
	r := sample()
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	nasty := string(all) + "\ufffe\uffff\u2028]]>&amp;<x>"
	r.Cases[2].Observed, r.Cases[2].Title, r.Cases[2].LogTail, r.Cases[2].Why = nasty, nasty, nasty, nasty
	r.Cases[2].Clause = "A\x00<F-1"
	text, err := r.junit()
	if err != nil {
		t.Fatal(err)
	}
	parseJUnit(t, text)
	if !bytes.Contains(text, []byte(`\x00\x01`)) || bytes.Contains(text, []byte("\ufffd")) {
		t.Error("control bytes were dropped instead of shown")
	}
}
