package certify

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/spec"
)

// begin makes a report with everything that is known before the run.
func begin(o *Options) *report.Report {
	m := o.Manifest
	r := &report.Report{
		Tool:  o.Tool,
		Suite: report.Source{Version: suites.Version, SHA256: o.Catalogue.SHA256()},
		Spec:  report.Source{Version: spec.Version, SHA256: o.Catalogue.Spec.SHA256},
		Target: report.Target{
			Organization: m.Implementation.Organization, Project: m.Implementation.Project,
			Version: m.Implementation.Version, URL: m.Implementation.URL,
			Manifest: m.File, ManifestSHA256: m.SHA256(),
		},
		Environment: report.Environment{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()},
		Mode:        o.Mode, Seed: o.Seed, Shards: o.Shards,
		Timeouts: map[string]report.Seconds{"convergence": report.Seconds(m.Timeouts.Convergence)},
	}
	if e := m.Launch.Exec; e != nil {
		r.Timeouts["ready"], r.Timeouts["grace"] = report.Seconds(e.Ready.Timeout), report.Seconds(e.Grace)
		r.Target.Binary, r.Target.BinarySHA256 = binary(e.Command[0].String())
	}
	if id := o.Jobs[0].Mutant; id != "" && o.Mode == report.Run {
		r.Target.Version += ", mutant " + id
	}
	return r
}

// binary finds the program that a manifest's command begins with, and its digest.
// Both are empty where only a launch could tell.
func binary(command string) (path, sum string) {
	var err error
	switch {
	case strings.ReplaceAll(command, " ", "") == "{{.Exe}}":
		if path = os.Getenv("ROUTEPROOF_BIN"); path == "" {
			path, err = os.Executable()
		}
	case strings.Contains(command, "{{"):
		return "", ""
	default:
		path, err = exec.LookPath(command)
	}
	if err != nil {
		return "", ""
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", ""
	}
	f, err := os.Open(path)
	if err != nil {
		return path, ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return path, ""
	}
	return path, hex.EncodeToString(h.Sum(nil))
}

// reproduce is the command line that runs one job again.
func (o *Options) reproduce(j suites.Job) string {
	words := []string{"routeproof", "run"}
	if o.ManifestPath != "" {
		words = append(words, "--target", quote(o.ManifestPath))
	}
	if j.Mutant != "" {
		words = append(words, "--mutant", quote(j.Mutant))
	}
	words = append(words, "--seed", strconv.FormatUint(o.Seed, 10), quote(j.Case))
	return strings.Join(words, " ")
}

// quote makes one word of a shell's command line.
func quote(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:@%+=,", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// exemptions are the manifest's that concern this run: those of cases that ran,
// and, where everything must have run, those of no case at all, which are stale.
func (o *Options) exemptions() []report.Exemption {
	if o.Mode == report.SelfTest {
		return nil
	}
	selected := map[string]bool{}
	for _, j := range o.Jobs {
		selected[j.Case] = true
	}
	var out []report.Exemption
	for _, e := range o.Manifest.Exemptions {
		if _, known := o.Catalogue.Case(e.Case); known && !selected[e.Case] {
			continue
		}
		out = append(out, report.Exemption{Case: e.Case, Reason: e.Reason, Issue: e.Issue, Expires: e.Expires})
	}
	return out
}
