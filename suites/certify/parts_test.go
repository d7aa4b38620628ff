package certify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/target"
)

func TestSplitDealsEveryJobOnceAndEvenly(t *testing.T) {
	cat := options(t, "good").Catalogue
	jobs := SelfTestJobs(cat)
	shards := split(cat, jobs, 3, 5)
	seen := map[suites.Job]bool{}
	var low, high time.Duration
	for i, s := range shards {
		var load time.Duration
		for _, j := range s {
			if seen[j] {
				t.Errorf("%v was dealt twice", j)
			}
			seen[j] = true
			c, _ := cat.Case(j.Case)
			load += c.Cost
		}
		if low, high = min(low, load), max(high, load); i == 0 {
			low = load
		}
	}
	if len(seen) != len(jobs) {
		t.Errorf("dealt %d of %d", len(seen), len(jobs))
	}
	if high > 2*low {
		t.Errorf("the loads are from %v to %v", low, high)
	}
	again, other := split(cat, jobs, 3, 5), split(cat, jobs, 3, 6)
	if !slices.EqualFunc(shards, again, slices.Equal) {
		t.Error("the same seed gave another order")
	}
	if slices.EqualFunc(shards, other, slices.Equal) {
		t.Error("another seed gave the same order")
	}
}

func TestOptionsThatCannotBeAreUsageErrors(t *testing.T) {
	external := `apiVersion: routeproof/v1
implementation: {organization: o, project: p, version: "1", url: "http://example.org"}
launch: {external: {}}
wiring: {workers: none, ports: [9001, 9002, 9003, 9004]}
endpoint: {openai: "http://127.0.0.1:9000"}
session: {kind: none}
claims:
`
	for _, c := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"an unknown profile", func(o *Options) { o.Profile = "nope" }, "routing"},
		{"no job at all", func(o *Options) { o.Jobs = []suites.Job{} }, "no case is selected"},
		{"an unknown case", func(o *Options) { o.Jobs = []suites.Job{{Case: "AAA-001/x"}} }, "AAA-001/x"},
		{"an unknown mutant", func(o *Options) { o.Jobs[0].Mutant = "aff/nope" }, "aff/nope"},
		{"a case twice", func(o *Options) { o.Jobs = append(o.Jobs, o.Jobs[0]) }, "twice"},
		{"negative shards", func(o *Options) { o.Shards = -1 }, "-1"},
		{"too many shards", func(o *Options) { o.Shards = 65 }, "65"},
		{"two shards on one external target", func(o *Options) {
			text := external
			for _, n := range o.Catalogue.Spec.ClaimNames() {
				text += "  " + n + ": no\n"
			}
			o.Manifest, _ = target.Parse("external.yaml", []byte(text), o.Catalogue.Spec.ClaimNames())
		}, "external"},
		{"a foreign folder", func(o *Options) {
			o.ReportDir = filepath.Dir(o.ReportDir)
			_ = os.WriteFile(filepath.Join(o.ReportDir, "thesis.txt"), nil, 0o644)
		}, "thesis.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, "good")
			c.change(&o)
			r, err := Run(context.Background(), o)
			var usage *UsageError
			if r != nil || !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want a usage error with %q", r, err, c.want)
			}
		})
	}
}

func TestTargetsOfProcessesGetFewerShards(t *testing.T) {
	jobs := make([]suites.Job, 0, 40)
	o := options(t, "good")
	for _, c := range o.Catalogue.Cases[:40] {
		jobs = append(jobs, suites.Job{Case: c.ID})
	}
	exec, err := target.Load("../../fixtures/targets/reference.yaml", o.Catalogue.Spec.ClaimNames())
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[int]*target.Manifest{defaultShards: o.Manifest, defaultShardsExec: exec} {
		o.Jobs, o.Manifest, o.Shards = jobs, m, 0
		if err := o.Complete(); err != nil || o.Shards != want {
			t.Errorf("%s: %v: %d shards, want %d", m.Launch.Kind(), err, o.Shards, want)
		}
	}
}

func TestOneShardIsTheDefaultWherePortsAreFixed(t *testing.T) {
	o := options(t, "good")
	played(t, &o, "x")
	if fixed(o.Manifest) != "" {
		t.Errorf("free ports count as fixed: %s", fixed(o.Manifest))
	}
	m, err := target.Parse("m.yaml", []byte(strings.Replace(string(o.Manifest.Source()), `{openai: "{{.BaseURL}}"}`, `{openai: "http://127.0.0.1:9000"}`, 1)), o.Catalogue.Spec.ClaimNames())
	if err != nil {
		t.Fatal(err)
	}
	o.Manifest, o.Shards = m, 0
	if err := o.Complete(); err != nil || o.Shards != 1 {
		t.Errorf("%v: %d shards", err, o.Shards)
	}
}

func TestOnlyAReportOfOursIsReplaced(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // in the error; empty: may be used
	}{
		{"an empty folder", nil, ""},
		{"a report", map[string]string{"report.json": `{"format": "routeproof.report/v1"}`, "junit.xml": "", "evidence/a.json": "", "shard-1.log": ""}, ""},
		{"a run that was killed", map[string]string{".routeproof": "", "shard-12.log": "", "evidence/a.json": "", ".report.json.123": ""}, ""},
		{"a report and something else", map[string]string{"report.json": `{"format": "routeproof.report/v1"}`, "thesis.txt": ""}, "thesis.txt"},
		{"a report of something else", map[string]string{"report.json": `{"format": "other"}`}, "no report of ours"},
		{"a JUnit file alone", map[string]string{"junit.xml": ""}, "no report of ours"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			f, err := reserve(dir)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%v; want %q", err, c.want)
				}
				for name := range c.files {
					if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
						t.Error(err)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer f.release()
			if _, err := reserve(dir); err == nil || !strings.Contains(err.Error(), "another run") {
				t.Errorf("a second run may write to it, too: %v", err)
			}
			if err := f.sweep(); err != nil {
				t.Fatal(err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != markFile {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestAShardLogIsCutAndItsEndIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := newShardLog(path)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 1<<16-1) + "\n"
	for range 80 { // 5 MiB
		if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	_, _ = l.Write([]byte("one\ntwo\n"))
	l.close()
	if info, _ := os.Stat(path); info.Size() < maxLog || info.Size() > maxLog+100 {
		t.Errorf("the file has %d bytes", info.Size())
	}
	if l.lastWords() != "one\ntwo" {
		t.Errorf("last words %q", l.lastWords())
	}
}

func TestWhatConcernsOtherCasesIsLeftOut(t *testing.T) {
	o := options(t, "good")
	o.Manifest = &target.Manifest{Exemptions: []target.Exemption{{Case: "RTE-003/request"}, {Case: "AFF-001/turns"}, {Case: "XXX-001/gone"}}}
	if e := o.exemptions(); len(e) != 2 || e[0].Case != "RTE-003/request" || e[1].Case != "XXX-001/gone" {
		t.Errorf("exemptions %v", e)
	}
}

func TestReproduceLinesCanBePasted(t *testing.T) {
	o := Options{ManifestPath: "my router's.yaml", Seed: 3}
	want := `routeproof run --target 'my router'\''s.yaml' --seed 3 AFF-001/turns`
	if got := o.reproduce(suites.Job{Case: "AFF-001/turns"}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
