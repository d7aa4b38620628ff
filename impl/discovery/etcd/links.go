package etcd

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"
)

const dialWait = 2 * time.Second

// links are the connections to the servers. gRPC would notice one that has died in
// silence after ten seconds at the soonest, and does not tell when one was replaced.
type links struct {
	mu     sync.Mutex
	open   map[*link]struct{}
	ended  chan struct{}
	dialer net.Dialer
}

func newLinks() *links {
	return &links{
		open: make(map[*link]struct{}), ended: make(chan struct{}),
		dialer: net.Dialer{Timeout: dialWait, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 2}},
	}
}

// dial makes a connection for gRPC.
func (l *links) dial(ctx context.Context, address string) (net.Conn, error) {
	network := "tcp"
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	conn, err := l.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	k := &link{Conn: conn, links: l, since: time.Now()}
	l.mu.Lock()
	l.open[k] = struct{}{}
	l.mu.Unlock()
	return k, nil
}

// broken returns a channel that is closed when the next connection ends, whoever
// ends it.
func (l *links) broken() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// cut ends the connections that were there at that moment, and have not answered
// since, so that others are made.
func (l *links) cut(before time.Time) {
	l.mu.Lock()
	var old []*link
	for k := range l.open {
		if k.since.Before(before) {
			old = append(old, k)
		}
	}
	l.mu.Unlock()
	for _, k := range old {
		_ = k.Close() // it is dead
	}
}

// link is one connection.
type link struct {
	net.Conn
	links *links
	since time.Time
}

func (k *link) Close() error {
	l := k.links
	l.mu.Lock()
	if _, ok := l.open[k]; ok {
		delete(l.open, k)
		close(l.ended)
		l.ended = make(chan struct{})
	}
	l.mu.Unlock()
	return k.Conn.Close()
}
