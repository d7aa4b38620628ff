package certify

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// Progress hears how a run goes on. Calls come one at a time.
type Progress interface {
	Started(name string)
	Finished(report.CaseResult)
}

// Options describe a run. Catalogue, Mode, ReportDir and Command are required.
type Options struct {
	Catalogue *suites.Catalogue
	Manifest  *target.Manifest // nil = the reference inside the shard's process
	// ManifestPath is what a command line would name the manifest by; "" = the
	// built-in reference.
	ManifestPath string
	Mode         report.Mode
	Profile      string       // certify this profile's clauses only; "" = all
	Jobs         []suites.Job // nil = all of Mode and Profile. In certify, less than all is refused
	Seed         uint64
	Shards       int    // 0 = 4, or 1 for a target with fixed ports
	ReportDir    string // made if it is missing; see Reserve for what may stand there
	Progress     Progress
	Reserved     func()           // called once the report's folder is this run's; may be nil
	Command      []string         // starts a shard: a program and its arguments, which calls ShardMain
	Expected     *report.Expected // compare the verdicts with these; may be nil
	Tool         report.Tool
	// Kill, when closed after ctx has ended, stops waiting for the shards to end cleanly.
	Kill <-chan struct{}
	// Silence is how long a shard may go without a sign of life before it is
	// killed; 0 = the longest that any of its cases may take, and some grace.
	Silence time.Duration
}

// UsageError is an option that cannot be; the command line answers it with exit
// status 2. Its text names the value and the remedy.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

func usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }
