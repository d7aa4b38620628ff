package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
)

// stallExcuses is how long the harness, its workers included, must stand still so that
// what a router does then says nothing of it. Health checks in use give a worker half a
// second, and clauses allow one to two seconds.
const stallExcuses = 500 * time.Millisecond

// excuse takes back a failure that the machine may have made: while the kernel dropped
// packets, or after workers and clients stood still for so long that they looked dead. It
// never makes a pass of it, and excuses neither a target that ended nor a violation that
// was over before.
func excuse(h *history.History, out *Outcome) {
	if out.Verdict != report.Fail || out.Target != nil {
		return
	}
	why := ""
	first, longest := longestStall(h)
	switch {
	case h.Dropped > 0:
		why = fmt.Sprintf("the kernel dropped %d packets meanwhile, for its table of tracked connections was full (dmesg: nf_conntrack: table full): wait two minutes, run less beside this, or raise net.netfilter.nf_conntrack_max", h.Dropped)
	case longest >= stallExcuses && !slices.ContainsFunc(out.Finding.Violations, func(v judge.Violation) bool { return overBefore(h, v, first) }):
		why = fmt.Sprintf("the harness itself, its workers included, stood still for up to %v (see stalls in the evidence), so that they may have looked dead: run less beside this, or fewer --shards", longest.Round(time.Millisecond))
	default:
		return
	}
	seen := "the target failed"
	if len(out.Finding.Violations) > 0 {
		seen = out.Finding.Violations[0].Observed
	}
	out.Verdict = report.Inconclusive
	out.Finding = judge.Finding{Inconclusive: why + "; what was seen proves nothing: " + seen}
}

// longestStall is when the first stall that excuses began, and how long the longest was.
func longestStall(h *history.History) (first, longest time.Duration) {
	first = history.Unset
	for _, s := range h.Stalls {
		if s.For >= stallExcuses && first == history.Unset {
			first = s.At
		}
		longest = max(longest, s.For)
	}
	return first, longest
}

// overBefore says that all requests of a violation had ended by then, so that nothing
// later explains it.
func overBefore(h *history.History, v judge.Violation, then time.Duration) bool {
	for _, key := range v.Keys {
		i := slices.IndexFunc(h.Requests, func(r history.Request) bool { return r.Key == key })
		if i < 0 || h.Requests[i].Ended == history.Unset || h.Requests[i].Ended > then {
			return false
		}
	}
	return len(v.Keys) > 0
}
