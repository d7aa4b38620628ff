package etcd

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/routeproof/routeproof/impl/discovery/storetest"
)

// What a proxy does.
type mode int

const (
	passing  mode = iota
	refusing      // connections are reset, new ones at once
	silent        // connections are accepted and kept, and nothing passes
)

// conn is one connection through a proxy.
type conn struct {
	client, server net.Conn
	frozen         bool // nothing passes, whatever the mode
}

// proxy is a TCP proxy in front of a server.
type proxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu      sync.Mutex
	mode    mode
	changed chan struct{}
	conns   map[*conn]struct{}
	dials   int // connections accepted
}

func newProxy(t *testing.T, target string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	storetest.Must(t, err)
	p := &proxy{listener: l, target: target, changed: make(chan struct{}), conns: make(map[*conn]struct{})}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.set(refusing)
		p.wg.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	close(p.changed)
	p.changed = make(chan struct{})
	if m == refusing {
		for c := range p.conns {
			_, _ = c.client.Close(), c.server.Close()
		}
	}
}

// freeze keeps everything from passing on the connections that there are. New ones
// work: that is a firewall that has forgotten its connections.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.frozen = true
	}
}

func (p *proxy) accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dials
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(c) })
	}
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	c := &conn{client: client, server: server}
	p.mu.Lock()
	p.dials++
	if p.mode == refusing {
		_, _ = client.Close(), server.Close()
	}
	p.conns[c] = struct{}{}
	p.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() { p.pass(c, server, client) })
	wg.Go(func() { p.pass(c, client, server) })
	wg.Wait()
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}

// pass copies until either side ends. While the proxy is silent it holds what it has
// read.
func (p *proxy) pass(c *conn, to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || !p.wait(c) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// wait waits while the proxy is silent. It returns false if nothing is to pass ever.
func (p *proxy) wait(c *conn) bool {
	for {
		p.mu.Lock()
		m, changed, frozen := p.mode, p.changed, c.frozen
		p.mu.Unlock()
		switch {
		case m == refusing:
			return false
		case m == passing && !frozen:
			return true
		case m == passing:
			_, _ = io.Copy(io.Discard, c.client) // until the client gives up
			return false
		}
		<-changed
	}
}
