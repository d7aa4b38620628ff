package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestAReportSurvivesWritingAndReading(t *testing.T) {
	r, dir := sample(), filepath.Join(t.TempDir(), "new", "folder")
	path, err := r.WriteJSON(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(path)
	if err != nil {
		t.Fatal(err)
	}
	want := r.publishable()
	for i := range want.Cases { // what JSON cannot carry
		want.Cases[i].Observed = strings.ToValidUTF8(want.Cases[i].Observed, "\ufffd")
		for j := range want.Cases[i].Violations {
			v := &want.Cases[i].Violations[j]
			v.Observed = strings.ToValidUTF8(v.Observed, "\ufffd")
		}
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("(-written +read)\n%s", d)
	}
	if got.Cases[0].Seed != 1<<63+7 {
		t.Errorf("a 64-bit seed came back as %d", got.Cases[0].Seed)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v (%v), want only the report", entries, err)
	}
}

func TestAWrittenReportHoldsNoSecretAndNoNull(t *testing.T) {
	r := sample()
	r.Cases[0].Reproduce = "curl -H 'Cookie: id=hunter2' http://x"
	r.Cases[0].LogTail = "Authorization: Basic aHVudGVyMg=="
	text, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"hunter2", "aHVudGVyMg", "verysecret", "null"} {
		if strings.Contains(string(text), bad) {
			t.Errorf("the report holds %q", bad)
		}
	}
	if !strings.Contains(string(text), `<b>&`) {
		t.Error("angle brackets and ampersands are escaped, though no browser reads this")
	}
	if r.Cases[0].LogTail != "Authorization: Basic aHVudGVyMg==" || !strings.Contains(r.Cases[2].Violations[0].Observed, "verysecret") {
		t.Error("writing changed the report in memory")
	}
}

func TestAnEmptyReportIsStillValid(t *testing.T) {
	r := sample()
	r.Cases, r.Problems, r.Timeouts = nil, nil, nil
	r.Conclude(nil)
	if _, err := r.WriteJSON(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestTheSchemaRefusesWhatAReportMustNotSay(t *testing.T) {
	type object = map[string]any
	at := func(o object, key string, i int) object { return o[key].([]any)[i].(object) }
	for name, c := range map[string]struct {
		spoil func(object)
		names string // what the error must point at
	}{
		"an unknown key":                  {func(r object) { r["extra"] = 1 }, "extra"},
		"an unknown key in a case":        {func(r object) { at(r, "cases", 0)["hostname"] = "h" }, "hostname"},
		"an unknown key in evidence":      {func(r object) { at(at(r, "cases", 2), "evidence", 0)["size"] = 1 }, "size"},
		"an unknown key in environment":   {func(r object) { r["environment"].(object)["hostname"] = "h" }, "hostname"},
		"a missing seed":                  {func(r object) { delete(r, "seed") }, "seed"},
		"a seed that is a number":         {func(r object) { r["seed"] = 42 }, "seed"},
		"another format":                  {func(r object) { r["format"] = "routeproof.report/v2" }, "format"},
		"a made-up verdict":               {func(r object) { at(r, "cases", 0)["verdict"] = "passed" }, "/cases/0/verdict"},
		"a made-up level":                 {func(r object) { at(r, "cases", 0)["level"] = "must" }, "/cases/0/level"},
		"a clause that is no ID":          {func(r object) { at(r, "cases", 0)["clause"] = "aff-12" }, "/cases/0/clause"},
		"a digest that is none":           {func(r object) { r["spec"].(object)["sha256"] = "00" }, "/spec/sha256"},
		"a time that is none":             {func(r object) { r["started"] = "yesterday" }, "/started"},
		"a day that is none":              {func(r object) { r["started"] = "2026-02-30T12:00:00Z" }, "/started"},
		"a negative duration":             {func(r object) { r["durationSeconds"] = -1 }, "/durationSeconds"},
		"an exit code from nowhere":       {func(r object) { r["exitCode"] = 7 }, "/exitCode"},
		"no list of cases":                {func(r object) { r["cases"] = nil }, "/cases"},
		"a failure without observation":   {func(r object) { delete(at(r, "cases", 2), "observed") }, "observed"},
		"a failure that can't be rerun":   {func(r object) { at(r, "cases", 2)["reproduce"] = "" }, "reproduce"},
		"an error without detail":         {func(r object) { delete(at(r, "cases", 3), "detail") }, "detail"},
		"a made-up verdict in counts":     {func(r object) { at(r, "profiles", 0)["counts"].(object)["great"] = 1 }, "counts"},
		"certified in spite of blockers":  {func(r object) { at(r, "profiles", 0)["result"] = "certified" }, "blocking"},
		"partial without blockers":        {func(r object) { at(r, "profiles", 0)["blocking"] = []any{} }, "blocking"},
		"not-certified without a reason":  {func(r object) { delete(at(r, "profiles", 2), "reason") }, "reason"},
		"interrupted with exit 0":         {func(r object) { r["interrupted"], r["exitCode"] = true, 0 }, "/exitCode"},
		"an example of nothing":           {func(r object) { at(r, "cases", 2)["example"] = []any{} }, "example"},
		"a run that certifies in part":    {func(r object) { r["mode"] = "run" }, "/profiles/0/result"},
		"a run that certifies":            {func(r object) { r["mode"] = "run"; p := at(r, "profiles", 2); p["result"] = "certified" }, "/profiles/2/result"},
		"a problem of an unknown kind":    {func(r object) { at(r, "problems", 0)["kind"] = "other" }, "/problems/0/kind"},
		"a violation without expectation": {func(r object) { delete(at(at(r, "cases", 2), "violations", 0), "expected") }, "expected"},
	} {
		text, err := sample().encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(text); err != nil {
			t.Fatalf("the good report is refused: %v", err)
		}
		var doc object
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		c.spoil(doc)
		text, err = json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(text); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: error %v, want one that names %q", name, err, c.names)
		}
	}
	if err := Validate([]byte("{")); err == nil {
		t.Error("half a JSON text is accepted")
	}
}

func TestAnInvalidReportIsKeptApartAndReported(t *testing.T) {
	r, dir := sample(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, JSONFile), []byte("the last run"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.Cases[0].Verdict = "passed"
	_, err := r.WriteJSON(dir)
	if err == nil || !strings.Contains(err.Error(), "/cases/0/verdict") || !strings.Contains(err.Error(), "report.invalid.json") {
		t.Errorf("error %v, want one that names the value and the file", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, JSONFile)); err != nil || string(got) != "the last run" {
		t.Errorf("report.json holds %q (%v), want it untouched", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "report.invalid.json")); err != nil {
		t.Error(err)
	}
	if _, err := ReadJSON(filepath.Join(dir, "report.invalid.json")); err == nil {
		t.Error("an invalid report is read")
	}
}

func TestAFailedWriteLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, JSONFile, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := sample().WriteJSON(dir); err == nil {
		t.Error("a folder was overwritten")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v (%v), want no temporary file", entries, err)
	}
}

func TestSecondsAreDecimalInJSON(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0", 1250 * time.Millisecond: "1.25", 1234567 * time.Nanosecond: "0.001235", time.Hour: "3600"} {
		got, err := json.Marshal(Seconds(d))
		if err != nil || string(got) != want {
			t.Errorf("%v is written as %s (%v), want %s", d, got, err, want)
		}
		var back Seconds
		if err := json.Unmarshal(got, &back); err != nil || time.Duration(back) != d.Round(time.Microsecond) {
			t.Errorf("%s is read as %v (%v), want %v", got, back, err, d)
		}
	}
	var s Seconds
	if err := json.Unmarshal([]byte(`"5s"`), &s); err == nil {
		t.Error("a text is read as seconds")
	}
}
