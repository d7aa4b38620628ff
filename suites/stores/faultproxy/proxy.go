// Package faultproxy stands between a router under test and one node of a store.
// Its address stays the same whatever becomes of the node behind it, and on
// command it delays, loses or refuses what passes: connections are accepted, cut
// and refused by a listener of the mock workers' kind. The delays and losses are its
// own: toxiproxy 2.5 leaves a goroutine behind whenever a destination ends while its
// source still sends.
package faultproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/routeproof/routeproof/mockers/netfault"
)

// dialing bounds how long a connection to the node may take to open.
const dialing = 2 * time.Second

// Proxy is one address and the node behind it. Safe for concurrent use.
type Proxy struct {
	front  *netfault.Listener
	ctx    context.Context
	end    context.CancelFunc
	relays sync.WaitGroup

	change sync.Mutex // one change at a time
	wire   *wire      // nil: nothing is delayed or lost here

	mu   sync.Mutex
	node string // the node's address; empty: it is down
	cut  bool
}

// Listen takes a free port on the loopback; connections are refused until Up.
func Listen() (*Proxy, error) { return listen(new(wire)) }

// ListenPlain is Listen without Latency and HalfOpen: bytes pass as they are.
func ListenPlain() (*Proxy, error) { return listen(nil) }

func listen(w *wire) (*Proxy, error) {
	front, err := netfault.Listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	if err := front.SetMode(netfault.Refuse); err != nil {
		front.Close()
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	p := &Proxy{front: front, wire: w}
	p.ctx, p.end = context.WithCancel(context.Background())
	p.relays.Go(p.accept)
	return p, nil
}

// Addr is HOST:PORT, the same for the proxy's whole life.
func (p *Proxy) Addr() string { return p.front.Addr().String() }

// Conns is the number of open connections.
func (p *Proxy) Conns() int { return p.front.Conns() }

// Up tells where the node listens, from now on. Connections to another address
// are reset.
func (p *Proxy) Up(node string) error {
	p.change.Lock()
	defer p.change.Unlock()
	p.mu.Lock()
	moved := p.node != node
	p.node = node
	cut := p.cut
	p.mu.Unlock()
	if moved {
		p.front.ResetAll()
	}
	if cut {
		return nil
	}
	return p.front.SetMode(netfault.Open)
}

// Down is what the end of the node looks like: connections are reset and refused.
func (p *Proxy) Down() {
	p.change.Lock()
	defer p.change.Unlock()
	p.mu.Lock()
	p.node = ""
	p.mu.Unlock()
	p.front.Crash()
}

// Cut resets all connections and refuses new ones, until Heal.
func (p *Proxy) Cut() {
	p.change.Lock()
	defer p.change.Unlock()
	p.mu.Lock()
	p.cut = true
	p.mu.Unlock()
	p.front.Crash()
}

// errPlain is the answer of a proxy without a wire.
var errPlain = errors.New("this proxy passes bytes as they are")

// Latency delays every byte each way that arrives from now on, in place of an earlier delay.
func (p *Proxy) Latency(delay time.Duration) error {
	if p.wire == nil {
		return errPlain
	}
	p.wire.setDelay(delay)
	return nil
}

// HalfOpen loses every byte both ways, and the ends of connections with them, until
// Heal; connections stay, and new ones are accepted.
func (p *Proxy) HalfOpen() error {
	if p.wire == nil {
		return errPlain
	}
	p.wire.lose()
	return nil
}

// Heal ends all faults. Connections that may have lost bytes are reset.
func (p *Proxy) Heal() error {
	p.change.Lock()
	defer p.change.Unlock()
	if p.wire != nil && p.wire.heal() {
		p.front.ResetAll()
	}
	p.mu.Lock()
	p.cut = false
	up := p.node != ""
	p.mu.Unlock()
	if !up {
		return nil
	}
	return p.front.SetMode(netfault.Open)
}

// Close resets what is open and gives the address back.
func (p *Proxy) Close() error {
	p.change.Lock()
	defer p.change.Unlock()
	p.end()
	p.front.ResetAll()
	err := p.front.Close()
	p.relays.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		c, err := p.front.Accept()
		if err != nil {
			return
		}
		p.relays.Go(func() { p.relay(c.(*netfault.Conn)) })
	}
}

// relay copies both ways until either end has gone, and passes on whether it was
// a reset.
func (p *Proxy) relay(client *netfault.Conn) {
	p.mu.Lock()
	target := p.node
	p.mu.Unlock()
	d := net.Dialer{Timeout: dialing}
	node, err := d.DialContext(p.ctx, "tcp", target)
	if err != nil || p.ctx.Err() != nil {
		if err == nil {
			node.Close()
		}
		client.Reset()
		return
	}
	var all sync.WaitGroup
	all.Go(func() {
		if errors.Is(p.pass(node, client, &all), errHole) {
			client.Reset()
		}
		node.Close()
	})
	if p.pass(client, node, &all) != nil {
		client.Reset()
	}
	client.Close()
	node.Close()
	all.Wait()
}

// pass is the wire's, if there is one.
func (p *Proxy) pass(dst io.Writer, src io.Reader, readers *sync.WaitGroup) error {
	if p.wire != nil {
		return p.wire.pass(p.ctx, dst, src, readers)
	}
	_, err := io.Copy(dst, src)
	return err
}
