package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// cutWait is the longest that Shutdown waits for handlers to end once their
// connections are cut.
const cutWait = 5 * time.Second

// serving is the HTTP server around the router.
type serving struct {
	server   *http.Server
	router   *Router
	handlers sync.WaitGroup
	mu       sync.Mutex
	closed   bool
}

func (s *serving) init(r *Router, log *slog.Logger) {
	s.router = r
	s.server = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

func (s *serving) handle(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.handlers.Add(1)
	s.mu.Unlock()
	defer s.handlers.Done()
	s.router.ServeHTTP(w, req)
}

// Serve answers on the listener until Shutdown, and then returns nil. It may run
// on several listeners at once, and closes them.
func (s *serving) Serve(l net.Listener) error {
	if err := s.server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %v: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown stops accepting, lets running requests finish until ctx ends, cuts
// what still runs, and closes unused connections to workers. It returns nil if
// nothing had to be cut. The router cannot serve again.
func (s *serving) Shutdown(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("requests were cut: %w", err)
		_ = s.server.Close() // its errors are those of connections that are gone
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.handlers.Wait()
		close(ended)
	}()
	limit := time.NewTimer(cutWait)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
		err = errors.Join(err, fmt.Errorf("requests still run %v after they were cut", cutWait))
	}
	if t, ok := s.router.parts.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	return err
}
