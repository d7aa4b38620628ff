package perf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/perf/complexity"
	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/suites/target"
	"github.com/routeproof/routeproof/suites/target/component"
)

// Source is a target and how to begin a conversation with it.
type Source struct {
	Target record.Target
	Open   func(context.Context) (*component.Client, error)
}

// FromManifest is the component that a manifest declares.
func FromManifest(m *target.Manifest) (Source, error) {
	if m.Component == nil {
		return Source{}, &target.ManifestError{File: m.File, Line: 1, Column: 1, Problem: "it declares no component, and only a component can be measured", Remedy: "add one: component: {command: [PROGRAM]} (suites/target/component.md)"}
	}
	return Source{
		Target: record.Target{Manifest: m.File, Project: m.Implementation.Project, Version: m.Implementation.Version, InProcess: m.Component.InProcess != ""},
		Open: func(ctx context.Context) (*component.Client, error) {
			return target.StartComponent(ctx, m, target.ComponentOptions{})
		},
	}, nil
}

// FromProgram is another routeproof, or whatever serves an adapter when it is started
// with the argument "adapter".
func FromProgram(path string, env ...string) Source {
	return Source{
		Target: record.Target{Manifest: path + " adapter", Project: path},
		Open: func(ctx context.Context) (*component.Client, error) {
			return component.Launch(ctx, []string{path, "adapter"}, env...)
		},
	}
}

// greet asks the target who it is.
func (s *Source) greet(ctx context.Context) (err error) {
	c, err := s.Open(ctx)
	if err != nil {
		return err
	}
	hello, err := c.Hello(ctx)
	if err = errors.Join(err, c.Close(ctx)); err != nil {
		return err
	}
	s.Target.Adapter = hello.Name + " " + hello.Version
	s.Target.Claims = nil
	for _, claim := range hello.Claims {
		s.Target.Claims = append(s.Target.Claims, string(claim))
	}
	slices.Sort(s.Target.Claims)
	if s.Target.Version == "" {
		s.Target.Version = hello.Version
	}
	if !slices.Contains(hello.Components, component.SessionIndexComponent) {
		return &complexity.TargetError{Problem: fmt.Sprintf("its adapter serves %s, and no %s, which is what can be measured", strings.Join(hello.Components, ", "), component.SessionIndexComponent)}
	}
	return nil
}

// Options shape a measurement.
type Options struct {
	Suite    string
	Only     []string // prefixes of ladders; none is all
	Seed     uint64
	Progress func(name string, done *record.Ladder)
}

// Run measures one target. What was measured before an error, or before ctx ended, is
// returned with it.
func Run(ctx context.Context, s Source, o Options) (*record.File, error) {
	f, plan, run, err := o.begin(ctx, &s)
	if err != nil {
		return nil, err
	}
	f.Ladders, err = complexity.Measure(ctx, plan, run)
	f.end(err)
	return f.File, err
}

// RunPair measures two targets in turns, for their speed.
func RunPair(ctx context.Context, old, new Source, o Options) (a, b *record.File, err error) {
	o.Suite = complexity.SuiteSpeed
	x, plan, first, err := o.begin(ctx, &old)
	if err != nil {
		return nil, nil, fmt.Errorf("the old one: %w", err)
	}
	y, _, second, err := o.begin(ctx, &new)
	if err != nil {
		return nil, nil, fmt.Errorf("the new one: %w", err)
	}
	x.Ladders, y.Ladders, err = complexity.MeasurePair(ctx, plan, first, second)
	x.end(err)
	y.end(err)
	return x.File, y.File, err
}

// unfinished is a file whose ladders are being measured.
type unfinished struct{ *record.File }

func (u unfinished) end(err error) {
	u.Seconds = time.Since(u.Began).Seconds()
	u.Complete = err == nil
}

func (o Options) begin(ctx context.Context, s *Source) (unfinished, []complexity.Climb, complexity.Options, error) {
	plan, looks, err := complexity.Suite(o.Suite, o.Only...)
	run := complexity.Options{Open: s.Open, Local: s.Target.InProcess, Seed: o.Seed, Looks: looks, Progress: o.Progress}
	if err == nil {
		err = s.greet(ctx)
	}
	return unfinished{&record.File{Format: record.Format, Suite: o.Suite, Seed: o.Seed, Began: time.Now().UTC(), Target: s.Target, Environment: record.Here()}}, plan, run, err
}
