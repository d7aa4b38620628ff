// Package faultproxy stands between a router under test and one node of a store.
// Its address stays the same whatever becomes of the node behind it, and on
// command it delays, loses or refuses what passes: connections are accepted, cut
// and refused by a listener of the mock workers' kind, bytes are delayed and lost
// by toxiproxy.
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
	toxics *toxic     // nil: nothing is delayed or lost here

	mu     sync.Mutex
	target string // where connections go; empty: nowhere
	node   string // the node's address; empty: it is down
	cut    bool
}

// Listen takes a free port on the loopback; connections are refused until Up.
func Listen() (*Proxy, error) { return listen(newToxic()) }

// ListenPlain is Listen without Latency and HalfOpen: bytes pass as they are.
func ListenPlain() (*Proxy, error) { return listen(nil) }

func listen(toxics *toxic) (*Proxy, error) {
	front, err := netfault.Listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	if err := front.SetMode(netfault.Refuse); err != nil {
		front.Close()
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	p := &Proxy{front: front, toxics: toxics}
	p.ctx, p.end = context.WithCancel(context.Background())
	p.relays.Go(p.accept)
	return p, nil
}

// Addr is HOST:PORT, the same for the proxy's whole life.
func (p *Proxy) Addr() string { return p.front.Addr().String() }

// Conns is the number of open connections.
func (p *Proxy) Conns() int { return p.front.Conns() }

// Up tells where the node listens, from now on. Connections to another address
// are reset, before anything behind them ends: what closes there would reach the
// clients as an orderly end.
func (p *Proxy) Up(node string) error {
	p.change.Lock()
	defer p.change.Unlock()
	p.mu.Lock()
	moved := p.node != node
	cut := p.cut
	p.mu.Unlock()
	if moved {
		p.front.Crash()
	}
	target := node
	var err error
	if p.toxics != nil {
		if target, err = p.toxics.aim(node); err != nil {
			node, target = "", ""
			err = fmt.Errorf("fault proxy %s: no way to the node: %w", p.Addr(), err)
		}
	}
	p.mu.Lock()
	p.node, p.target = node, target
	p.mu.Unlock()
	if cut || err != nil {
		return err
	}
	return p.front.SetMode(netfault.Open)
}

// Down is what the end of the node looks like: connections are reset and refused.
func (p *Proxy) Down() {
	p.change.Lock()
	defer p.change.Unlock()
	p.mu.Lock()
	p.node, p.target = "", ""
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

// errPlain is the answer of a proxy without toxics.
var errPlain = errors.New("this proxy passes bytes as they are")

// Latency delays every byte each way, from now on, in place of an earlier delay.
func (p *Proxy) Latency(ctx context.Context, delay time.Duration) error {
	p.change.Lock()
	defer p.change.Unlock()
	if p.toxics == nil {
		return errPlain
	}
	return p.toxics.delay(ctx, delay)
}

// HalfOpen loses every byte both ways, until Heal; connections stay.
func (p *Proxy) HalfOpen(ctx context.Context) error {
	p.change.Lock()
	defer p.change.Unlock()
	if p.toxics == nil {
		return errPlain
	}
	return p.toxics.lose(ctx)
}

// Heal ends all faults. Connections that may have lost bytes are reset.
func (p *Proxy) Heal(ctx context.Context) error {
	p.change.Lock()
	defer p.change.Unlock()
	var err error
	if p.toxics != nil {
		if p.toxics.losing() {
			p.front.ResetAll()
		}
		err = p.toxics.heal(ctx)
	}
	p.mu.Lock()
	p.cut = false
	up := p.node != ""
	p.mu.Unlock()
	if up {
		err = errors.Join(err, p.front.SetMode(netfault.Open))
	}
	return err
}

// Close resets what is open and gives the address back.
func (p *Proxy) Close() error {
	p.change.Lock()
	defer p.change.Unlock()
	p.end()
	p.front.ResetAll()
	err := p.front.Close()
	if p.toxics != nil {
		p.toxics.close()
	}
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
	target := p.target
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
	var up sync.WaitGroup
	up.Go(func() {
		io.Copy(node, client)
		node.Close()
	})
	if _, err := io.Copy(client, node); err != nil {
		client.Reset()
	}
	client.Close()
	node.Close()
	up.Wait()
}
