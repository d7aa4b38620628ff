package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() *File {
	steps, bytes, lo := int64(40), uint64(4096), -0.01
	return &File{
		Format: Format, Suite: "short", Seed: 7, Began: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Seconds: 1.5, Complete: true,
		Target:      Target{Manifest: "(built-in reference)", Project: "reference", Version: "built-in", Adapter: "a 1", InProcess: true, Claims: []string{"batch"}},
		Environment: Environment{OS: "linux", Arch: "amd64", CPU: "c", Cores: 2, GOMAXPROCS: 2, Go: "go1.26"},
		Ladders: []Ladder{{Name: "k/new", Symbol: "k", Samples: []Sample{
			{N: 16, Ops: 4, NS: 100, Control: 50, Steps: &steps, Bytes: &bytes},
			{Round: 1, N: 32, Ops: 2, NS: 100, Control: 50},
		}, Judged: &Judged{Verdict: Pass, Class: "O(k)", Time: &Figure{Verdict: Pass, Exponent: 0.01, Lo: &lo, Limit: 0.1, Rounds: 8}}}},
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "base.json")
	want := sample()
	if err := want.Write(name); err != nil {
		t.Fatal(err)
	}
	got, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
	text, _ := os.ReadFile(name)
	if !strings.Contains(string(text), `{ "round": 1, "n": 32, "ops": 2, "ns": 100, "controlNs": 50 }`) {
		t.Errorf("a sample does not have a line of its own:\n%s", text)
	}
}

func TestWhatIsNoMeasurementIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "base.json")
	if err := sample().Write(name); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"no JSON", `"suite": "short",`, `"suite": short,`, "f.json:3: it is no JSON"},
		{"another file", `"format"`, `"fromat"`, `it has no "format"`},
		{"another version", "perf/v1", "perf/v2", `its format is "routeproof-perf/v2"`},
		{"an unknown key", `"suite"`, `"siute"`, `unknown field "siute"`},
		{"a wrong type", `"seed": 7`, `"seed": "x"`, "f.json:4: "},
		{"a time of nothing", `"controlNs": 50 }`, `"controlNs": 0 }`, `ladder "k/new", sample 1: n 32, ops 2, ns 100, controlNs 0`},
		{"a ladder without name", `"name": "k/new"`, `"name": ""`, `has no "name"`},
		{"more behind it", "\n}\n", "\n}\n{}\n", "after top-level value"},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		if text == string(good) {
			t.Fatalf("%s: nothing was changed", c.name)
		}
		_, err := Parse("f.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: error %v, want one with %q and a remedy", c.name, err, c.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.json")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v of a file that is not there", err)
	}
	big := filepath.Join(t.TempDir(), "big.json")
	for size, want := range map[int]string{maxFile: "it is no JSON", maxFile + 1: "big.json: it is larger than 8 MiB, and no measurement is; name a file"} {
		if err := os.WriteFile(big, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(big); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v of a file of %d bytes, want %q", err, size, want)
		}
	}
}
