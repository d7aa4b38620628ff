package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/suites/target/component"
)

// CoordinatorFactory makes the table of sessions of a component inside this process.
type CoordinatorFactory func(affinity.Config, affinity.Clock) (affinity.Coordinator, error)

// ComponentOptions are how one start of a component differs from another.
type ComponentOptions struct {
	Coordinator CoordinatorFactory // for an in-process component; nil = the reference's
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
		return ReferenceComponent(opt.Coordinator), nil
	case opt.Coordinator != nil:
		return nil, fmt.Errorf("%s: a coordinator was given, but the component is a process", m.File)
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
	client, err := component.Launch(ctx, command, env...)
	switch {
	case err == nil:
		return client, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR):
		const remedy = "install it, or write its path"
		return nil, c.Command[0].bad(command[0], strings.TrimSuffix(err.Error(), "; "+remedy), remedy)
	}
	return nil, &UnreachableError{Reason: err.Error()}
}
