// Package netfault owns one TCP address for the whole life of a mock worker and
// breaks it on command: refused, hung, reset. An http.Server serves on the
// Listener once and stays there while the modes change below it.
//
// Wire it up like this:
//
//	l, err := netfault.Listen("127.0.0.1:0")
//	srv := &http.Server{ConnState: l.ConnState, ConnContext: netfault.ConnContext, ...}
//	go srv.Serve(l)
//	err = l.SetMode(netfault.Refuse)
package netfault

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Mode is what a Listener does with connections.
type Mode int32

const (
	// Open accepts and serves.
	Open Mode = iota
	// Refuse lets new connections fail with "connection refused" and closes
	// idle ones; requests already being read or answered finish, and their
	// connections are closed after that.
	Refuse
	// Hang accepts and never reads nor answers. Idle connections hang too;
	// requests already being read or answered finish. Leaving Hang resets the
	// connections on which something was left unread.
	Hang
)

func (m Mode) String() string {
	switch m {
	case Open:
		return "open"
	case Refuse:
		return "refuse"
	case Hang:
		return "hang"
	}
	return fmt.Sprintf("Mode(%d)", int32(m))
}

// Listener is a net.Listener whose Accept blocks across mode changes and ends
// only with Close. It keeps its port in every mode. Safe for concurrent use.
type Listener struct {
	addr     *net.TCPAddr
	accepted chan *Conn
	done     chan struct{}
	loops    sync.WaitGroup
	mode     atomic.Int32 // written under mu; read without it on the fast path

	mu     sync.Mutex
	port   *reservation
	inner  net.Listener // nil while nothing listens
	conns  map[*Conn]struct{}
	closed bool
}

// Listen takes the address, an IP and a port (0 for any free one), and opens it.
func Listen(addr string) (*Listener, error) {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("netfault: address %q: want an IP and a port like 127.0.0.1:0: %w", addr, err)
	}
	port, bound, err := reserve(ap)
	if err != nil {
		return nil, fmt.Errorf("netfault: cannot take %s (choose another port or 0): %w", addr, err)
	}
	l := &Listener{
		addr:     net.TCPAddrFromAddrPort(bound),
		accepted: make(chan *Conn),
		done:     make(chan struct{}),
		port:     port,
		conns:    map[*Conn]struct{}{},
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.listen(); err != nil {
		port.close()
		return nil, err
	}
	// Without a reservation the first listening socket chose the port.
	l.addr = l.inner.Addr().(*net.TCPAddr)
	return l, nil
}

// listen opens the listening socket. The caller holds mu.
func (l *Listener) listen() error {
	inner, err := l.port.listen(l.addr.String())
	if err != nil {
		return fmt.Errorf("netfault: cannot listen on %s again: %w", l.addr, err)
	}
	l.inner = inner
	l.loops.Add(1)
	go l.acceptLoop(inner)
	return nil
}

func (l *Listener) acceptLoop(inner net.Listener) {
	defer l.loops.Done()
	for {
		c, err := inner.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors, or a peer gone before it was accepted:
			// neither ends the listener, but a tight loop would starve others.
			select {
			case <-l.done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			continue
		}
		l.deliver(inner, c.(*net.TCPConn))
	}
}

func (l *Listener) deliver(inner net.Listener, tcp *net.TCPConn) {
	c := &Conn{Conn: tcp, tcp: tcp, l: l, gone: make(chan struct{})}
	l.mu.Lock()
	if l.inner != inner { // the mode changed between accept and here
		l.mu.Unlock()
		c.Reset()
		return
	}
	l.conns[c] = struct{}{}
	l.mu.Unlock()
	select {
	case l.accepted <- c:
	case <-c.gone:
	case <-l.done:
		c.Reset()
	}
}

// Accept returns the next connection, a *Conn, or net.ErrClosed after Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Addr is the address, the same in every mode.
func (l *Listener) Addr() net.Addr { return l.addr }

// Mode is the mode in force.
func (l *Listener) Mode() Mode { return Mode(l.mode.Load()) }

// SetMode changes the mode; when it returns, the new mode is in force. It fails
// after Close, for a mode that does not exist, and where the port cannot be
// listened on again; then the old mode stays.
func (l *Listener) SetMode(m Mode) error {
	if m != Open && m != Refuse && m != Hang {
		return fmt.Errorf("netfault: no mode %d; use Open, Refuse or Hang", int32(m))
	}
	parked, idle, err := l.change(m)
	resetEach(parked)
	for _, c := range idle {
		c.cutOff()
	}
	return err
}

// change puts the mode in force and returns the connections that it ends: none
// of them begins a request any more, however long their closing takes.
func (l *Listener) change(m Mode) (parked, idle []*Conn, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, fmt.Errorf("netfault: %s: mode %s after Close: %w", l.addr, m, net.ErrClosed)
	}
	switch {
	case m == Refuse && l.inner != nil:
		l.inner.Close()
		l.inner = nil
	case m != Refuse && l.inner == nil:
		if err := l.listen(); err != nil {
			return nil, nil, err
		}
	}
	l.mode.Store(int32(m))
	for c := range l.conns {
		switch {
		case c.parked && m != Hang:
			parked = append(parked, c)
		case !c.busy && m == Refuse:
			c.doomed = true
			idle = append(idle, c)
		}
	}
	return parked, idle, nil
}

// Crash is what the death of a process looks like: from one moment to the next
// connections are refused and every open one is reset, busy or idle. The mode
// is Refuse afterwards.
func (l *Listener) Crash() {
	l.mu.Lock()
	if l.inner != nil {
		l.inner.Close()
		l.inner = nil
	}
	l.mode.Store(int32(Refuse))
	all := l.doomAll()
	l.mu.Unlock()
	resetEach(all)
}

// ResetAll resets every open connection, whatever it is doing.
func (l *Listener) ResetAll() {
	l.mu.Lock()
	all := l.doomAll()
	l.mu.Unlock()
	resetEach(all)
}

// doomAll is every open connection; none of them begins a request any more. The
// caller holds mu.
func (l *Listener) doomAll() []*Conn {
	all := make([]*Conn, 0, len(l.conns))
	for c := range l.conns {
		c.doomed = true
		all = append(all, c)
	}
	return all
}

func resetEach(conns []*Conn) {
	for _, c := range conns {
		c.Reset()
	}
}

// Conns is the number of open connections.
func (l *Listener) Conns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// Close gives the address back and ends Accept. Connections that hang are
// reset; the others belong to the server that accepted them. Idempotent.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.done)
	if l.inner != nil {
		l.inner.Close()
		l.inner = nil
	}
	l.port.close()
	l.mode.Store(int32(Refuse))
	var parked []*Conn
	for c := range l.conns {
		if c.parked {
			parked = append(parked, c)
		}
	}
	l.mu.Unlock()
	resetEach(parked)
	l.loops.Wait()
	return nil
}
