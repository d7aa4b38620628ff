package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/router"
)

// grace is how long running requests get to finish once Run is to end.
const grace = 5 * time.Second

// GenerationPath answers the file's generation as plain text, so that a reload
// can be verified from outside.
const GenerationPath = "/routeproof/generation"

// Run serves the router that the file describes until ctx ends, then lets
// running requests finish for a short while and returns. Each value on reload
// makes it read the file again: workers and generation take effect, in this
// order; a file that is bad, or changes anything else, is logged as an error and
// changes nothing. Workers that come from a store are followed all the time; while
// the store is out of reach, those that were known last stay.
//
// It returns nil after a clean end, a *FileError for a file that is bad at the
// start, and otherwise what kept the router from serving.
func Run(ctx context.Context, name string, reload <-chan struct{}, log *slog.Logger) error {
	return run(ctx, name, reload, log, func(net.Addr) {})
}

func run(ctx context.Context, name string, reload <-chan struct{}, log *slog.Logger, listening func(net.Addr)) error {
	f, err := load(name)
	if err != nil {
		return err
	}
	parts, err := router.DefaultParts(f.config())
	if err != nil {
		return err
	}
	parts.Log = log
	r, err := router.New(f.config(), parts)
	if err != nil {
		return err
	}
	workers := &roster{use: r.SetWorkers}
	if err := workers.set(f.workers()); err != nil {
		return err
	}
	r.Handle(WorkersPath, workers)
	var generation atomic.Pointer[string]
	generation.Store(&f.Generation)
	r.Handle(GenerationPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, *generation.Load()) // a client that has left needs no answer
	}))
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", f.Listen)
	if err != nil {
		return fmt.Errorf("%s: listen %q: %w; choose a free address", name, f.Listen, err)
	}
	if f.Discovery != nil {
		stop, err := follow(ctx, f.Discovery, workers, log)
		if err != nil {
			_ = l.Close() // nobody has connected to it
			return fmt.Errorf("%s: %w", name, err)
		}
		defer stop()
	}
	log.Info("serving", "address", l.Addr().String(), "workers", len(f.Workers), "generation", f.Generation)
	served := make(chan error, 1)
	go func() { served <- r.Serve(l) }()
	listening(l.Addr())

	for {
		select {
		case _, ok := <-reload:
			if !ok {
				reload = nil // nobody will ask any more
				continue
			}
			next, err := reread(name, f)
			if err == nil && next.Discovery == nil {
				err = workers.set(next.workers())
			}
			if err != nil {
				log.Error("reload refused, the last good configuration stays", "file", name, "error", err.Error())
				continue
			}
			f = next
			generation.Store(&f.Generation)
			log.Info("reloaded", "workers", len(f.Workers), "generation", f.Generation)
		case err := <-served:
			return errors.Join(err, shutdown(ctx, r))
		case <-ctx.Done():
			err := shutdown(ctx, r)
			return errors.Join(err, <-served)
		}
	}
}

// follow keeps the workers as they are in the store, until stop is called.
func follow(ctx context.Context, from *source, workers *roster, log *slog.Logger) (stop func(), err error) {
	store, err := from.open(log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // to the end of the last request
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := discovery.NewFollower(store, "", workers.set, log).Run(ctx); err != nil {
			log.Error("workers are not followed any more", "error", err.Error())
		}
	}()
	return func() {
		cancel()
		<-ended
		if err := store.Close(); err != nil {
			log.Warn("closing the store", "error", err.Error())
		}
	}, nil
}

func reread(name string, now *file) (*file, error) {
	next, err := load(name)
	if err != nil {
		return nil, err
	}
	if changed := now.fixed(next); len(changed) > 0 {
		return nil, &FileError{File: name, Problem: fmt.Sprintf("changes %s, which only a restart can: leave it as it was", strings.Join(changed, ", "))}
	}
	return next, nil
}

// shutdown ends the router within its grace. Requests that had to be cut are
// not an error of Run.
func shutdown(ctx context.Context, r *router.Router) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := r.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
