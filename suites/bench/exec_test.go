package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// stub is a target in this process made of a handler.
type stub struct {
	server   http.Server
	endsWith error // Serve's result; nil = it serves
}

func (s *stub) SetWorkers([]target.Worker) error { return nil }

func (s *stub) Serve(l net.Listener) error {
	if s.endsWith != nil {
		return s.endsWith
	}
	return s.server.Serve(l)
}

func (s *stub) Shutdown(ctx context.Context) error {
	if err := s.server.Shutdown(ctx); err != nil {
		return s.server.Close()
	}
	return nil
}

func pool(t *testing.T, make func() *stub) *Pool {
	t.Helper()
	p := NewPool(Env{Manifest: target.Reference(nil), Seed: 1, Local: func(target.LocalConfig) (target.Local, error) { return make(), nil }})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func hello() *stub {
	return &stub{server: http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"id":%q}`, r.Header.Get("X-Request-Id"))
	})}}
}

// one is a case that sends one request and is judged by j.
func one(j judge.Judge) Case {
	return Case{ID: "RTE-001/test", Drive: func(ctx context.Context, r *Run) error {
		r.Do(ctx, Req{})
		return nil
	}, Judge: j}.Normal()
}

func says(f judge.Finding) judge.Judge { return func(*history.History) judge.Finding { return f } }

func TestAVerdictFollowsTheJudge(t *testing.T) {
	p := pool(t, hello)
	for name, tc := range map[string]struct {
		finding judge.Finding
		want    report.Verdict
	}{
		"no finding":                {judge.Finding{}, report.Pass},
		"a violation":               {judge.Finding{Violations: []judge.Violation{{Expected: "a", Observed: "b"}}}, report.Fail},
		"a doubt":                   {judge.Finding{Inconclusive: "too few"}, report.Inconclusive},
		"a violation beats a doubt": {judge.Finding{Violations: []judge.Violation{{}}, Inconclusive: "too few"}, report.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			saved := 0
			out := p.Exec(t.Context(), one(says(tc.finding)), 7, func(h *history.History) error { saved += len(h.Requests); return nil })
			if out.Verdict != tc.want || saved != 1 || out.Silent {
				t.Errorf("got %+v, %d requests saved", out, saved)
			}
		})
	}
}

func TestTheHarnesssOwnTroubleIsAnError(t *testing.T) {
	p := pool(t, hello)
	pass := says(judge.Finding{})
	for name, tc := range map[string]struct {
		c    Case
		save func(*history.History) error
		want string
	}{
		"a drive that errs":          {Case{Drive: func(context.Context, *Run) error { return errors.New("no luck") }}, nil, "no luck"},
		"a drive that panics":        {Case{Drive: func(context.Context, *Run) error { panic("dropped it") }}, nil, "dropped it"},
		"a drive that sends nothing": {Case{Drive: func(context.Context, *Run) error { return nil }}, nil, "sent no request"},
		"a judge that panics":        {one(func(*history.History) judge.Finding { panic("no verdict") }), nil, "no verdict"},
		"evidence that is lost":      {one(pass), func(*history.History) error { return errors.New("disk full") }, "disk full"},
		"a fault that is none": {Case{Drive: func(ctx context.Context, r *Run) error {
			r.Fault("w0", Fault{Kind: "sulk"})
			r.Do(ctx, Req{})
			return nil
		}}, nil, "sulk"},
	} {
		t.Run(name, func(t *testing.T) {
			c := tc.c
			c.ID = "RTE-001/test"
			if c.Judge == nil {
				c.Judge = pass
			}
			out := p.Exec(t.Context(), c.Normal(), 7, tc.save)
			if out.Verdict != report.Error || !strings.Contains(out.Detail, tc.want) {
				t.Errorf("got %s: %s", out.Verdict, out.Detail)
			}
		})
	}
}

func TestATargetThatAnswersNothingFailsSoon(t *testing.T) {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	p := pool(t, func() *stub {
		return &stub{server: http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over })}}
	})
	c := Case{ID: "RTE-001/test", Drive: func(ctx context.Context, r *Run) error {
		for range 1000 {
			r.Do(ctx, Req{Deadline: 50 * time.Millisecond})
		}
		return nil
	}, Judge: says(judge.Finding{Inconclusive: "nothing seen"})}.Normal()
	out := p.Exec(t.Context(), c, 7, nil)
	if out.Verdict != report.Fail || !out.Silent || !strings.Contains(out.Finding.Violations[0].Observed, "none to the") {
		t.Errorf("got %+v", out)
	}
	if out.Duration > 20*time.Second {
		t.Errorf("took %v; a thousand deadlines were waited for", out.Duration)
	}
}

func TestACaseThatRunsIntoItsLimitIsInconclusiveAndNotTheTargetsFault(t *testing.T) {
	p := pool(t, hello)
	c := Case{ID: "RTE-001/test", Limit: 100 * time.Millisecond, Drive: func(ctx context.Context, r *Run) error {
		for ctx.Err() == nil {
			r.Do(ctx, Req{})
		}
		r.Do(ctx, Req{})
		return nil
	}, Judge: judge.Served(1)}.Normal()
	out := p.Exec(t.Context(), c, 7, nil)
	if out.Verdict != report.Inconclusive || !strings.Contains(out.Finding.Inconclusive, "limit of 100ms") {
		t.Errorf("got %+v", out)
	}
}

func TestATargetThatEndsByItselfIsReportedAsSuch(t *testing.T) {
	p := pool(t, func() *stub { return &stub{endsWith: errors.New("out of tokens")} })
	c := Case{ID: "RTE-001/test", Drive: func(ctx context.Context, r *Run) error {
		r.Do(ctx, Req{Deadline: time.Second})
		return nil
	}, Judge: says(judge.Finding{})}.Normal()
	out := p.Exec(t.Context(), c, 7, nil)
	if out.Verdict != report.Fail || out.Target == nil || !strings.Contains(out.Target.Error(), "out of tokens") {
		t.Errorf("got %+v", out)
	}
}

func TestATargetThatCannotBeMadeIsUnreachable(t *testing.T) {
	p := NewPool(Env{Manifest: target.Reference(nil), Local: func(target.LocalConfig) (target.Local, error) { return nil, errors.New("no seat") }})
	out := p.Exec(t.Context(), one(says(judge.Finding{})), 7, nil)
	var gone *target.UnreachableError
	if out.Verdict != report.Fail || !errors.As(out.Target, &gone) {
		t.Errorf("got %+v", out)
	}
}

func TestCasesThatMayShareATargetDoAndOthersDoNot(t *testing.T) {
	started := 0
	p := NewPool(Env{Manifest: target.Reference(nil), Local: func(target.LocalConfig) (target.Local, error) { started++; return hello(), nil }})
	defer p.Close()
	c := one(says(judge.Finding{}))
	for range 3 {
		p.Exec(t.Context(), c, 1, nil)
	}
	if started != 1 {
		t.Errorf("%d targets for three cases that share", started)
	}
	c.Alone = true
	p.Exec(t.Context(), c, 1, nil)
	if started != 2 {
		t.Errorf("%d targets after one that does not", started)
	}
}

func TestAnInterruptedCaseHasNoVerdictOfItsOwn(t *testing.T) {
	p := pool(t, hello)
	ctx, cancel := context.WithCancel(t.Context())
	c := Case{ID: "RTE-001/test", Drive: func(ctx context.Context, r *Run) error {
		cancel()
		r.Do(ctx, Req{})
		return nil
	}, Judge: says(judge.Finding{})}.Normal()
	if out := p.Exec(ctx, c, 7, nil); out.Verdict != report.Error || out.Detail != "interrupted" {
		t.Errorf("got %+v", out)
	}
}

func TestTheHistoryHoldsOneCaseOnly(t *testing.T) {
	p := NewPool(Env{Manifest: target.Reference(nil), Seed: 1})
	defer p.Close()
	c := one(judge.All(judge.Served(1), judge.Dispatches(1, 1)))
	for seed := range uint64(3) {
		var h *history.History
		out := p.Exec(t.Context(), c, seed, func(got *history.History) error { h = got; return nil })
		if out.Verdict != report.Pass || len(h.Requests) != 1 || len(h.Attempts) != 1 || h.Foreign != 0 {
			t.Fatalf("seed %d: %+v with %d requests, %d attempts, %d foreign", seed, out, len(h.Requests), len(h.Attempts), h.Foreign)
		}
	}
}

func TestSomebodyElsesAnswerFailsAnyCase(t *testing.T) {
	p := pool(t, func() *stub {
		return &stub{server: http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id":"other"}`) })}}
	})
	if out := p.Exec(t.Context(), one(says(judge.Finding{})), 7, nil); out.Verdict != report.Fail {
		t.Errorf("got %+v", out)
	}
}

func TestATargetLostWithItsGuardIsTheHarnesssLoss(t *testing.T) {
	if !lost(&target.ExitError{Lost: true}) || lost(&target.ExitError{}) || lost(errors.New("else")) || lost(nil) {
		t.Error("the wrong ends count as lost")
	}
}
