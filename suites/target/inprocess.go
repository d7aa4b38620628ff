package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/routeproof/routeproof/suites/target/guard"
)

// localGrace is how long a router inside this process may finish its requests.
const localGrace = 5 * time.Second

// local is a router inside this process.
type local struct {
	router Local
	url    string
	over   chan struct{}
	err    error // of Serve, after over
}

func startLocal(m *Manifest, v Variant, opt Options) (holder, error) {
	factory := opt.Local
	if factory == nil {
		factory = ReferenceFactory
	}
	router, err := factory(LocalConfig{
		Seed: opt.Seed, Session: v.Session, Models: m.Models, Aliases: m.Aliases,
		HeaderTimeout: cmp.Or(v.Headers, localHeaderTimeout), Policy: localPolicy, Store: opt.Store,
	})
	if err != nil {
		return nil, &UnreachableError{Reason: "in-process router: " + err.Error()}
	}
	l := &local{router: router, over: make(chan struct{})}
	if opt.Store.Kind == "" {
		err = router.SetWorkers(opt.Workers)
	}
	if err != nil {
		close(l.over)
		return nil, errors.Join(&UnreachableError{Reason: "in-process router: workers: " + err.Error()}, l.end(context.Background()))
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		close(l.over)
		return nil, errors.Join(&UnreachableError{Reason: err.Error()}, l.end(context.Background()))
	}
	l.url = "http://" + listener.Addr().String()
	go func() {
		defer close(l.over)
		defer listener.Close()
		l.err = router.Serve(listener)
	}()
	return l, nil
}

func (l *local) baseURL() string         { return l.url }
func (l *local) pid() int                { return 0 }
func (l *local) lost() bool              { return false }
func (l *local) exited() <-chan struct{} { return l.over }
func (l *local) logs() *guard.Log        { return nil }

func (l *local) how() string {
	if l.err != nil && !errors.Is(l.err, http.ErrServerClosed) {
		return "Serve: " + l.err.Error()
	}
	return "Serve returned"
}

func (l *local) apply(ctx context.Context, workers []Worker) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.router.SetWorkers(workers)
}

func (l *local) end(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, localGrace)
	defer cancel()
	err := l.router.Shutdown(limited)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = nil // the grace was used up; what still ran was cut
	}
	late := time.NewTimer(localGrace)
	defer late.Stop()
	select {
	case <-l.over:
	case <-late.C:
		err = errors.Join(err, fmt.Errorf("in-process router: Serve did not return within %v of Shutdown", localGrace))
	}
	return err
}
