package target

import (
	"context"
	"fmt"
	"sync"

	"github.com/routeproof/routeproof/suites/target/guard"
)

// Options are how one start of a target differs from another.
type Options struct {
	Variant string       // name of a manifest variant; empty = none
	Workers []Worker     // wired from the start
	Local   LocalFactory // router for an in-process manifest; nil = the reference
	Store   StoreAt      // where the target looks for workers instead; its zero value is nowhere
	Seed    uint64       // for routers inside this process
	Logf    func(format string, args ...any)
}

// Running is one running target. Methods may be called from any goroutine.
type Running struct {
	session Session
	held    holder

	mu      sync.Mutex
	stopped bool
	stopErr error
	stop    sync.Once
}

// holder is one way to hold a target: process, external, local.
type holder interface {
	baseURL() string
	pid() int
	apply(context.Context, []Worker) error
	exited() <-chan struct{}
	how() string // how it ended, after exited
	lost() bool  // it ended because our own guard was killed, after exited
	logs() *guard.Log
	end(context.Context) error
}

// Start brings the target of m up, wired to opt.Workers, and returns when it is
// seen to serve. ctx limits the start alone. Errors: *ManifestError,
// *UnreachableError, *PortInUseError, or ctx's. After an error nothing runs.
func Start(ctx context.Context, m *Manifest, opt Options) (*Running, error) {
	v, err := m.resolve(opt.Variant)
	if err != nil {
		return nil, err
	}
	if opt.Logf == nil {
		opt.Logf = func(string, ...any) {}
	}
	if opt.Local != nil && m.Launch.InProcess == "" {
		return nil, fmt.Errorf("%s: a local router was given, but the manifest launches %s", m.File, m.Launch.Kind())
	}
	var h holder
	switch m.Launch.Kind() {
	case "exec":
		h, err = startExec(ctx, m, v, opt)
	case "external":
		h, err = startExternal(ctx, m)
	case "none":
		return nil, fmt.Errorf("%s launches no router, only a component", m.File)
	default:
		h, err = startLocal(m, v, opt)
	}
	if err != nil {
		return nil, err
	}
	return &Running{session: v.Session, held: h}, nil
}

// BaseURL is where clients reach the target: scheme, host and port, no path unless
// the manifest names one, no slash at the end. /v1/... follows.
func (r *Running) BaseURL() string { return r.held.baseURL() }

// Session is the session declaration in force.
func (r *Running) Session() Session { return r.session }

// PID is the target's process id, 0 if it is not a process of ours.
func (r *Running) PID() int { return r.held.pid() }

// Apply tells the running target about another set of workers and returns when it
// is seen to have taken it over. Errors: *ApplyError, ErrNoApply, or ctx's.
func (r *Running) Apply(ctx context.Context, workers []Worker) error {
	return r.held.apply(ctx, workers)
}

// Exited is closed when the target has ended, by itself or by Stop. An external
// target never does.
func (r *Running) Exited() <-chan struct{} { return r.held.exited() }

// ExitError is a *ExitError if the target ended without being asked to, else nil.
func (r *Running) ExitError() error {
	select {
	case <-r.held.exited():
	default:
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	return &ExitError{How: r.held.how(), Lost: r.held.lost(), Log: r.held.logs().Excerpt()}
}

// Logs are the last 256 KiB of what the target wrote to standard output and error.
func (r *Running) Logs() []byte { return r.held.logs().Bytes() }

// LogTail is the last n lines of Logs.
func (r *Running) LogTail(n int) string { return r.held.logs().Tail(n) }

// Stop ends the target and everything it started, and returns when nothing is
// left. The end of ctx shortens the grace to nothing. Later calls wait for the
// first and return its result.
func (r *Running) Stop(ctx context.Context) error {
	r.stop.Do(func() {
		select {
		case <-r.held.exited(): // it was first: that stays an ExitError
		default:
			r.mu.Lock()
			r.stopped = true
			r.mu.Unlock()
		}
		r.stopErr = r.held.end(ctx)
	})
	return r.stopErr
}
