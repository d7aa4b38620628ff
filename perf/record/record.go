// Package record is the file of a measurement: every sample, of the target and of its
// control, with what is needed to judge it again or to compare it with another.
package record

import (
	"os"
	"runtime"
	"strings"
	"time"
)

// Format names the file's format and its version.
const Format = "routeproof-perf/v1"

// File is one measurement.
type File struct {
	Format      string      `json:"format"`
	Suite       string      `json:"suite"`
	Seed        uint64      `json:"seed"`
	Began       time.Time   `json:"began"`
	Seconds     float64     `json:"seconds"`
	Complete    bool        `json:"complete"` // false: it was interrupted
	Target      Target      `json:"target"`
	Environment Environment `json:"environment"`
	Ladders     []Ladder    `json:"ladders"`
}

// Target is what was measured.
type Target struct {
	Manifest  string   `json:"manifest"`
	Project   string   `json:"project"`
	Version   string   `json:"version"`
	Adapter   string   `json:"adapter"` // what it says of itself: name and version
	InProcess bool     `json:"inProcess"`
	Claims    []string `json:"claims"`
}

// Environment is where it was measured.
type Environment struct {
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Go         string `json:"go"`
}

// Ladder is one kind of operation, measured at several sizes.
type Ladder struct {
	Name     string   `json:"name"`
	Symbol   string   `json:"symbol"`             // of what doubles
	Declined string   `json:"declined,omitempty"` // why it was not measured
	Stopped  string   `json:"stopped,omitempty"`  // why its larger sizes were not
	Samples  []Sample `json:"samples"`
	Judged   *Judged  `json:"judged,omitempty"` // nil: it was not measured for its class
}

// Sample is one measurement of the target and, right beside it, of the control.
type Sample struct {
	Round   int     `json:"round"`             // 0 warms up: its steps count, its times do not
	Sitting int     `json:"sitting,omitempty"` // the conversation in which it was measured, from 0
	N       int     `json:"n"`
	Ops     int     `json:"ops"`             // of the target
	NS      int64   `json:"ns"`              // for all of them, as the adapter measured it
	Control int64   `json:"controlNs"`       // of the bare map
	Steps   *int64  `json:"steps,omitempty"` // of all operations; absent where the target counts none
	Bytes   *uint64 `json:"bytes,omitempty"` // allocated meanwhile, in process only
}

// Ratio is the target's time in units of the control's.
func (s Sample) Ratio() float64 { return float64(s.NS) / float64(s.Control) }

// Verdict is how a ladder came out.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
)

// Judged is how a ladder came out, and from what.
type Judged struct {
	Verdict Verdict  `json:"verdict"`
	Class   string   `json:"class"` // what it may cost, in words
	Steps   *Figure  `json:"steps,omitempty"`
	Time    *Figure  `json:"time,omitempty"`
	Memory  *Figure  `json:"memory,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what the verdict does not exclude
}

// Figure is one exponent and its limit. Of time it is that of the ratio to the control.
type Figure struct {
	Verdict  Verdict  `json:"verdict"`
	Exponent float64  `json:"exponent"`
	Lo       *float64 `json:"lo,omitempty"` // the interval of what is noisy
	Hi       *float64 `json:"hi,omitempty"`
	Limit    float64  `json:"limit"`
	Rounds   int      `json:"rounds,omitempty"`
}

// Here is this machine and program.
func Here() Environment {
	return Environment{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpu(), Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Go: runtime.Version()}
}

// cpu is the model's name, where the system tells it.
func cpu() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // elsewhere it stays unknown
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
