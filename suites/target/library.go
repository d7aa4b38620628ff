package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/sessionindex"
	"github.com/routeproof/routeproof/suites/target/component"
	"github.com/routeproof/routeproof/suites/target/guard"
)

// CoordinatorFactory makes the table of sessions of a component inside this process.
type CoordinatorFactory func(affinity.Config, affinity.Clock) (affinity.Coordinator, error)

// IndexFactory makes the session index of a component inside this process.
type IndexFactory func(sessionindex.Config, sessionindex.Clock, sessionindex.Physical) (sessionindex.Indexer, error)

// Serve answers the lines of the component protocol that come on in, on out, until in or
// ctx ends.
type Serve func(ctx context.Context, in io.Reader, out io.Writer) error

// ComponentOptions are how one start of a component differs from another. They are for
// an in-process component; zero values leave it as it is.
type ComponentOptions struct {
	Coordinator CoordinatorFactory // makes its table of sessions, in place of the reference's
	Index       IndexFactory       // makes its session index
	Between     func(Serve) Serve  // stands between it and whoever speaks to it
}

// None says that nothing differs.
func (o ComponentOptions) None() bool {
	return o.Coordinator == nil && o.Index == nil && o.Between == nil
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
	case !opt.None():
		return nil, fmt.Errorf("%s: a part of an in-process component was given, but the component is a process", m.File)
	}
	exe, err := ownProgram()
	if err != nil {
		return nil, err
	}
	data := &Data{Exe: exe, ManifestDir: m.dir, Host: loopback, Ports: map[string]int{}, Session: m.Session}
	command := make([]string, len(c.Command))
	for i, t := range c.Command {
		if command[i], err = t.renderWord("", data); err != nil {
			return nil, err
		}
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		variable, err := c.Env[name].renderWord(name+"=", data)
		if err != nil {
			return nil, err
		}
		env = append(env, variable)
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
	case errors.Is(err, guard.ErrTooLong):
		return nil, tooLong(c.Command[0], command[0], err)
	}
	return nil, &UnreachableError{Reason: err.Error()}
}
