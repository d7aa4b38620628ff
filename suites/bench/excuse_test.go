package bench

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// A full table makes a router's calls time out: that is no verdict on the router. What
// passed all the same stays passed.
func TestAFailureWhileTheKernelDropsPacketsIsInconclusive(t *testing.T) {
	p := pool(t, hello)
	var packets uint64
	p.env.dropped = func() uint64 { return packets }
	moved := judge.Finding{Violations: []judge.Violation{{Expected: "one worker", Observed: "two workers"}}}
	for _, tc := range []struct {
		name    string
		finding judge.Finding
		drops   uint64
		want    report.Verdict
	}{
		{"a failure without drops", moved, 0, report.Fail},
		{"a failure with drops", moved, 3, report.Inconclusive},
		{"a pass with drops", judge.Finding{}, 3, report.Pass},
	} {
		t.Run(tc.name, func(t *testing.T) {
			packets = 7
			c := one(func(*history.History) judge.Finding { packets += 100; return tc.finding })
			drive := c.Drive
			c.Drive = func(ctx context.Context, r *Run) error { packets += tc.drops; return drive(ctx, r) }
			var kept uint64
			out := p.Exec(t.Context(), c, 7, func(h *history.History) error { kept = h.Dropped; return nil })
			if out.Verdict != tc.want || kept != tc.drops {
				t.Errorf("%s with %d drops in the evidence, want %s with %d", out.Verdict, kept, tc.want, tc.drops)
			}
			if said := out.Finding.Inconclusive; (tc.want == report.Inconclusive) != strings.Contains(said, "nf_conntrack_max") ||
				tc.want == report.Inconclusive && !strings.Contains(said, "two workers") {
				t.Errorf("it says %q", said)
			}
		})
	}
}

// A harness that stands still looks like dead workers to a router: what it did from then
// on is no verdict on it, and what it did before is.
func TestAFailureAfterALongStallIsInconclusive(t *testing.T) {
	h := func(stalls ...history.Stall) *history.History {
		return &history.History{Stalls: stalls, Requests: []history.Request{
			{Key: "early", Sent: 0, Ended: time.Second}, {Key: "late", Sent: 2 * time.Second, Ended: 3 * time.Second}, {Key: "open", Ended: history.Unset}}}
	}
	long := history.Stall{At: 1500 * time.Millisecond, For: stallExcuses}
	longer := history.Stall{At: 2500 * time.Millisecond, For: 2 * stallExcuses}
	short := history.Stall{At: 100 * time.Millisecond, For: stallExcuses - 1}
	by := func(keys ...string) judge.Violation { return judge.Violation{Observed: "two workers", Keys: keys} }
	for _, tc := range []struct {
		name       string
		h          *history.History
		violations []judge.Violation
		want       report.Verdict
	}{
		{"no stall", h(), []judge.Violation{by("early", "late")}, report.Fail},
		{"a short stall", h(short), []judge.Violation{by("late")}, report.Fail},
		{"a long stall before it was over", h(long), []judge.Violation{by("early", "late")}, report.Inconclusive},
		{"a long stall after it", h(short, long), []judge.Violation{by("early")}, report.Fail},
		{"a longer stall later", h(long, longer), []judge.Violation{by("early")}, report.Fail},
		{"one violation before, one after", h(long), []judge.Violation{by("late"), by("early")}, report.Fail},
		{"a request that never ended", h(long), []judge.Violation{by("early", "open")}, report.Inconclusive},
		{"a violation that names no request", h(long), []judge.Violation{by()}, report.Inconclusive},
		{"one that names a request nobody sent", h(long), []judge.Violation{by("who")}, report.Inconclusive},
	} {
		out := Outcome{Verdict: report.Fail, Finding: judge.Finding{Violations: tc.violations}}
		excuse(tc.h, &out)
		if out.Verdict != tc.want || (tc.want == report.Inconclusive) != strings.Contains(out.Finding.Inconclusive, "two workers") {
			t.Errorf("%s: %s, %q; want %s", tc.name, out.Verdict, out.Finding.Inconclusive, tc.want)
		}
	}
	died := Outcome{Verdict: report.Fail, Target: &target.ExitError{}}
	if excuse(h(long), &died); died.Verdict != report.Fail {
		t.Errorf("a target that ended is %s, want fail", died.Verdict)
	}
	passed := Outcome{Verdict: report.Pass}
	if excuse(h(long), &passed); passed.Verdict != report.Pass {
		t.Errorf("a pass became %s", passed.Verdict)
	}
}
