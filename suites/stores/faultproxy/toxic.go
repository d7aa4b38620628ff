package faultproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// toxic is the part of a proxy that delays and loses: a toxiproxy behind the
// proxy's own listener. Calls come one at a time.
type toxic struct {
	server *toxiproxy.ApiServer // never listens; a proxy wants one for its settings
	proxy  *toxiproxy.Proxy     // nil until there is a node
	node   string
	wait   time.Duration
	lost   bool
}

func newToxic() *toxic {
	return &toxic{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())}
}

// aim leads to a node, with the faults that are in force, and returns where.
func (t *toxic) aim(node string) (string, error) {
	if t.proxy != nil && t.node == node {
		return t.proxy.Listen, nil
	}
	t.close()
	p := toxiproxy.NewProxy(t.server, "store", "127.0.0.1:0", node)
	if err := p.Start(); err != nil {
		return "", err
	}
	t.proxy, t.node = p, node
	wait, lost := t.wait, t.lost
	t.wait, t.lost = 0, false
	ctx := context.Background() // nothing is connected yet: it returns at once
	var err error
	if wait > 0 {
		err = t.delay(ctx, wait)
	}
	if lost {
		err = errors.Join(err, t.lose(ctx))
	}
	return p.Listen, err
}

func (t *toxic) losing() bool { return t.lost }

// delay replaces the delay.
func (t *toxic) delay(ctx context.Context, delay time.Duration) error {
	if err := t.remove(ctx, "latency", t.wait > 0); err != nil {
		return err
	}
	t.wait = delay
	if delay <= 0 {
		return nil
	}
	return t.add("latency", map[string]int64{"latency": delay.Milliseconds()})
}

// lose loses everything from now on.
func (t *toxic) lose(context.Context) error {
	if t.lost {
		return nil
	}
	t.lost = true
	return t.add("timeout", map[string]int64{"timeout": 0})
}

func (t *toxic) heal(ctx context.Context) error {
	err := errors.Join(t.remove(ctx, "timeout", t.lost), t.remove(ctx, "latency", t.wait > 0))
	t.wait, t.lost = 0, false
	return err
}

// add puts a toxic into both directions; without a proxy it waits for aim.
func (t *toxic) add(kind string, attributes map[string]int64) error {
	if t.proxy == nil {
		return nil
	}
	for _, stream := range []string{"upstream", "downstream"} {
		b, err := json.Marshal(map[string]any{"name": kind + "-" + stream, "type": kind, "stream": stream, "attributes": attributes})
		if err != nil {
			return err
		}
		if _, err := t.proxy.Toxics.AddToxicJson(bytes.NewReader(b)); err != nil {
			return err
		}
	}
	return nil
}

func (t *toxic) remove(ctx context.Context, kind string, there bool) error {
	if t.proxy == nil || !there {
		return nil
	}
	return errors.Join(t.proxy.Toxics.RemoveToxic(ctx, kind+"-upstream"), t.proxy.Toxics.RemoveToxic(ctx, kind+"-downstream"))
}

func (t *toxic) close() {
	if t.proxy != nil {
		t.proxy.Stop()
		t.proxy = nil
	}
}
