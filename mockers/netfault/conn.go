package netfault

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Conn is an accepted connection.
type Conn struct {
	net.Conn
	tcp  *net.TCPConn
	l    *Listener
	once sync.Once
	gone chan struct{} // closed with the connection
	cut  atomic.Bool

	// Under l.mu.
	busy   bool // a request has begun to arrive and is not answered yet
	parked bool // its reader waits for the end of Hang
	doomed bool // about to be closed: what arrives now is not served any more
}

// Read reads, unless the listener hangs and no request is under way: then it
// blocks until the connection is reset, whatever the read deadline says.
func (c *Conn) Read(p []byte) (int, error) {
	if err := c.hang(false); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		// Hang may have begun while this read was waiting for its first byte.
		if herr := c.hang(n > 0); herr != nil {
			return 0, herr
		}
	}
	return n, err
}

// hang blocks while the listener hangs and returns an error when that has ended
// the connection. got says that request bytes have been read.
func (c *Conn) hang(got bool) error {
	if !got && c.l.Mode() != Hang {
		return nil
	}
	c.l.mu.Lock()
	if c.doomed {
		c.l.mu.Unlock()
		return net.ErrClosed
	}
	if c.busy || c.l.Mode() != Hang {
		c.busy = c.busy || got
		c.l.mu.Unlock()
		return nil
	}
	c.parked = true
	c.l.mu.Unlock()
	<-c.gone
	return net.ErrClosed
}

// Close closes the connection in the ordinary way.
func (c *Conn) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		c.l.mu.Lock()
		delete(c.l.conns, c)
		c.l.mu.Unlock()
		close(c.gone)
		err = c.tcp.Close()
	})
	return err
}

// cutOff closes the connection and remembers that this side did it.
func (c *Conn) cutOff() {
	c.cut.Store(true)
	c.Close()
}

// Reset closes the connection with a TCP RST, at once: what the peer's kernel
// has not taken yet is lost.
func (c *Conn) Reset() {
	c.cut.Store(true)
	c.tcp.SetLinger(0) // fails only on a connection that is closed already
	c.Close()
}

// Cut says that a fault on this side ended the connection, not the peer.
func (c *Conn) Cut() bool { return c.cut.Load() }

// Drain waits until the peer's kernel has acknowledged every byte written, at
// most the time given, and says whether that was seen. Only Linux can see it;
// elsewhere it returns false at once. Call it before Reset so that the bytes
// before a reset arrive.
func (c *Conn) Drain(atMost time.Duration) bool {
	deadline := time.NewTimer(atMost)
	defer deadline.Stop()
	for wait := 50 * time.Microsecond; ; wait = min(2*wait, 5*time.Millisecond) {
		left, ok := unacknowledged(c.tcp)
		if !ok || left == 0 {
			return ok
		}
		select {
		case <-deadline.C:
			return false
		case <-c.gone:
			return false
		case <-time.After(wait):
		}
	}
}

// ConnState is the http.Server hook by which the listener learns which
// connections are between two requests.
func (l *Listener) ConnState(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*Conn)
	if !ok || state != http.StateIdle {
		return
	}
	l.mu.Lock()
	c.busy = false
	refuse := l.Mode() == Refuse
	l.mu.Unlock()
	if refuse {
		c.cutOff()
	}
}

type connKey struct{}

// ConnContext is the http.Server hook that makes ConnOf work in handlers.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// ConnOf is the connection that a request came in on, or nil if the server was
// not wired with ConnContext.
func ConnOf(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}
