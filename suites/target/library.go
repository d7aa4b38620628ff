package target

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/sessionindex"
	"github.com/routeproof/routeproof/suites/target/component"
)

// CoordinatorFactory makes the table of sessions of a component inside this process.
type CoordinatorFactory func(affinity.Config, affinity.Clock) (affinity.Coordinator, error)

// IndexFactory makes the session index of a component inside this process.
type IndexFactory func(sessionindex.Config, sessionindex.Clock, sessionindex.Physical) (sessionindex.Indexer, error)

// ComponentOptions are how one start of a component differs from another.
type ComponentOptions struct {
	// For an in-process component; nil = the reference's.
	Coordinator CoordinatorFactory
	Index       IndexFactory
}

// StartComponent starts the adapter of m and returns the client's end of the
// conversation, in which nothing was said yet. ctx limits the start alone. Errors:
// *ManifestError, *UnreachableError, or ctx's. The client must be closed.
func StartComponent(ctx context.Context, m *Manifest, opt ComponentOptions) (*component.Client, error) {
	c := m.Component
	switch {
	case c == nil:
		return nil, fmt.Errorf("%s declares no component", m.File)
	case c.InProcess != "":
		return ReferenceComponent(opt), nil
	case opt.Coordinator != nil || opt.Index != nil:
		return nil, fmt.Errorf("%s: a library was given, but the component is a process", m.File)
	}
	exe, err := ownProgram()
	if err != nil {
		return nil, err
	}
	data := &Data{Exe: exe, ManifestDir: m.dir, Host: loopback, Ports: map[string]int{}, Session: m.Session}
	command := make([]string, len(c.Command))
	for i, t := range c.Command {
		if command[i], err = t.render(data); err != nil {
			return nil, err
		}
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		value, err := c.Env[name].render(data)
		if err != nil {
			return nil, err
		}
		env = append(env, name+"="+value)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, c.Command[0].bad(command[0], fmt.Sprintf("the adapter %q cannot be run: %v", command[0], err), "install it, or write its path")
	}
	client, err := component.Launch(ctx, command, env...)
	switch {
	case err == nil:
		return client, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, &UnreachableError{Reason: err.Error()}
}
