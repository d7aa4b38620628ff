package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// double is a router that records what is done to it.
type double struct {
	cfg    LocalConfig
	sets   [][]Worker
	refuse error
	die    chan error
	server http.Server
}

func (d *double) SetWorkers(w []Worker) error {
	d.sets = append(d.sets, w)
	return d.refuse
}

func (d *double) Serve(l net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(l) }()
	select {
	case err := <-d.die:
		_ = d.server.Close()
		<-served
		return err
	case err := <-served:
		return err
	}
}

func (d *double) Shutdown(ctx context.Context) error { return d.server.Shutdown(ctx) }

func TestAnInProcessTargetUsesTheGivenRouter(t *testing.T) {
	d := &double{die: make(chan error, 1)}
	make := func(c LocalConfig) (Local, error) { d.cfg = c; return d, nil }
	r := started(t, Reference(nil), Options{Local: make, Workers: someWorkers(2), Variant: VariantShortTTL, Seed: 42})
	if c := d.cfg; c.Seed != 42 || c.Session.IdleTTL != 2*time.Second || c.HeaderTimeout != localHeaderTimeout || c.Policy != "round-robin" || fmt.Sprint(c.Models) != "[mock other]" {
		t.Errorf("made with %+v", c)
	}
	if err := r.Apply(context.Background(), someWorkers(3)); err != nil || len(d.sets) != 2 || len(d.sets[1]) != 3 {
		t.Errorf("Apply: %v, sets %v", err, d.sets)
	}
	d.die <- errors.New("lost its mind")
	<-r.Exited()
	var e *ExitError
	if !errors.As(r.ExitError(), &e) || !strings.Contains(e.How, "lost its mind") {
		t.Errorf("ExitError: %v", r.ExitError())
	}
}

func TestARouterThatCannotBeMadeIsUnreachable(t *testing.T) {
	for name, f := range map[string]LocalFactory{
		"the factory fails":     func(LocalConfig) (Local, error) { return nil, errors.New("no can do") },
		"the workers are wrong": func(LocalConfig) (Local, error) { return &double{refuse: errors.New("no can do")}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(context.Background(), Reference(nil), Options{Local: f})
			var u *UnreachableError
			if !errors.As(err, &u) || !strings.Contains(err.Error(), "no can do") {
				t.Errorf("Start: %v", err)
			}
		})
	}
	if _, err := Start(context.Background(), playParsed(t, "ok"), Options{Local: ReferenceFactory}); err == nil {
		t.Error("a local router for a manifest that launches a process was taken")
	}
	if _, err := Start(context.Background(), Reference(nil), Options{Variant: "nope"}); err == nil || !strings.Contains(err.Error(), VariantShortTTL) {
		t.Errorf("unknown variant: %v", err)
	}
}

func TestTheReferenceRefusesToBeWhatItIsNot(t *testing.T) {
	ok := LocalConfig{Policy: "round-robin", HeaderTimeout: time.Second, Session: Session{Kind: KindTable, IdleTTL: time.Minute, Carrier: Carrier{Header: "X-My-Session"}}}
	cfg, err := ReferenceConfig(ok)
	if err != nil || fmt.Sprint(cfg.SessionHeaders) != "[X-My-Session]" {
		t.Errorf("%+v %v", cfg, err)
	}
	for _, c := range []struct {
		name   string
		change func(*Session)
		want   string
	}{
		{"no time to live", func(s *Session) { s.IdleTTL = 0 }, "idleTTL"},
		{"a hash", func(s *Session) { s.Kind = KindHash }, "hash"},
		{"a cookie", func(s *Session) { s.Carrier = Carrier{Cookie: "c"} }, "header"},
		{"a body field", func(s *Session) { s.Carrier = Carrier{Body: "user"} }, "header"},
		{"an unknown answer to fullness", func(s *Session) { s.AtCapacity = "explode" }, "explode"},
	} {
		bad := ok
		c.change(&bad.Session)
		if _, err := ReferenceFactory(bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAnExternalTargetIsReachedAndLeftAlone(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	source := `{apiVersion: routeproof/v1, implementation: {organization: o, project: p, version: v, url: u}, claims: {}, launch: {external: {}},
wiring: {workers: none, ports: [9001]}, endpoint: {openai: "` + s.URL + `/"}, session: {kind: none}}`
	r, err := Start(context.Background(), parsed(t, source), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.BaseURL() != s.URL || r.PID() != 0 || r.LogTail(3) != "" || r.ExitError() != nil {
		t.Errorf("%s %d %q %v", r.BaseURL(), r.PID(), r.LogTail(3), r.ExitError())
	}
	if err := r.Apply(context.Background(), nil); !errors.Is(err, ErrNoApply) {
		t.Errorf("Apply: %v", err)
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	fetch(t, s.URL)
	s.Close()
	_, err = Start(context.Background(), parsed(t, source), Options{})
	var u *UnreachableError
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "start the target first") {
		t.Errorf("Start: %v", err)
	}
}
