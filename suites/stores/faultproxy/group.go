package faultproxy

import (
	"context"
	"errors"
	"time"
)

// Group are the proxies of a store's nodes, in their order. It is a
// stores.Network: calls without node numbers mean all of them.
type Group []*Proxy

// ListenGroup makes n proxies with faults, or plain ones.
func ListenGroup(n int, plain bool) (Group, error) {
	listen := Listen
	if plain {
		listen = ListenPlain
	}
	var g Group
	for range n {
		p, err := listen()
		if err != nil {
			g.Close()
			return nil, err
		}
		g = append(g, p)
	}
	return g, nil
}

// Addrs are the proxies' addresses.
func (g Group) Addrs() []string {
	var all []string
	for _, p := range g {
		all = append(all, p.Addr())
	}
	return all
}

// each calls f for the given proxies, or for all.
func (g Group) each(nodes []int, f func(*Proxy) error) error {
	if len(nodes) == 0 {
		for i := range g {
			nodes = append(nodes, i)
		}
	}
	var err error
	for _, n := range nodes {
		err = errors.Join(err, f(g[n]))
	}
	return err
}

// Latency is stores.Network's.
func (g Group) Latency(_ context.Context, delay time.Duration, nodes ...int) error {
	return g.each(nodes, func(p *Proxy) error { return p.Latency(delay) })
}

// Cut is stores.Network's.
func (g Group) Cut(_ context.Context, nodes ...int) error {
	return g.each(nodes, func(p *Proxy) error { p.Cut(); return nil })
}

// HalfOpen is stores.Network's.
func (g Group) HalfOpen(_ context.Context, nodes ...int) error {
	return g.each(nodes, (*Proxy).HalfOpen)
}

// Heal is stores.Network's.
func (g Group) Heal(_ context.Context, nodes ...int) error {
	return g.each(nodes, (*Proxy).Heal)
}

// Close closes all.
func (g Group) Close() error { return g.each(nil, (*Proxy).Close) }
