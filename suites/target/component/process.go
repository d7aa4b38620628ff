package component

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/routeproof/routeproof/suites/target/guard"
)

// exitOK is how a process that ended well ended.
var exitOK = guard.Exit{}.String()

// Launch starts an adapter as a process: a program, looked up in PATH unless it is a
// path, and its arguments, with our environment and env ("K=V") after it. The process
// and all its descendants end with Close, and with us, however we end. ctx limits the
// start alone.
func Launch(ctx context.Context, command []string, env ...string) (*Client, error) {
	if len(command) == 0 {
		return nil, errors.New("component: no command to start the adapter with; name its program")
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, fmt.Errorf("component: the adapter %q cannot be run: %w; install it, or write its path", command[0], err)
	}
	log := &guard.Log{}
	g, err := guard.StartPiped(ctx, log)
	if err != nil {
		return nil, fmt.Errorf("component: %w", err)
	}
	spec := guard.Spec{Path: path, Args: command, Env: append(os.Environ(), env...)}
	if err := g.Launch(ctx, spec); err != nil {
		return nil, errors.Join(fmt.Errorf("component: the adapter %q: %w", command[0], err), g.Stop(ctx, syscall.SIGKILL, 0))
	}
	return Open(g.Stdin(), g.Stdout(), Options{
		Log:    log,
		End:    func(ctx context.Context) error { return g.Stop(ctx, syscall.SIGKILL, 0) },
		exited: g.Exited(),
		exit:   func() string { e, _ := g.Exit(); return e.String() },
	}), nil
}
