package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxLine bounds a line of a client, in bytes.
const maxLine = 64 << 10

// parse reads a line: labels, all of which a thing must have. Anything else is
// refused, and no label at all above all: that would mean everything there is.
func parse(line string) (labels []string, err error) {
	values, err := url.ParseQuery(strings.TrimSpace(line))
	if err != nil {
		return nil, fmt.Errorf("line %q: %w", line, err)
	}
	for name, vs := range values {
		if name != "label" {
			return nil, fmt.Errorf("line %q: %q is not supported; send label=NAME=VALUE", line, name)
		}
		for _, v := range vs {
			if strings.TrimSpace(strings.SplitN(v, "=", 2)[0]) == "" {
				return nil, fmt.Errorf("line %q: a label without a name", line)
			}
			labels = append(labels, v)
		}
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("line %q: no label; it would mean everything", line)
	}
	slices.Sort(labels)
	return slices.Compact(labels), nil
}

// collector knows who is connected and what was asked for.
type collector struct {
	mu      sync.Mutex
	conns   map[net.Conn]bool
	filters map[string][]string
	over    bool
	changed chan struct{} // a client came or went; holds one
}

// collect serves clients until the last has gone for good, and returns what they
// asked for. After that nobody gets an ACK any more.
func collect(ctx context.Context, l net.Listener, c config) [][]string {
	k := &collector{conns: map[net.Conn]bool{}, filters: map[string][]string{}, changed: make(chan struct{}, 1)}
	var served sync.WaitGroup
	served.Go(func() { k.accept(l, &served) })
	defer served.Wait()
	defer l.Close()
	k.await(ctx, l, c)
	return k.asked()
}

// await returns when it is over: nobody is connected, and nobody has been for
// long enough.
func (k *collector) await(ctx context.Context, l net.Listener, c config) {
	deadline := time.NewTimer(c.connection)
	defer deadline.Stop()
	done := ctx.Done()
	for {
		select {
		case <-deadline.C:
			// Somebody may have come at the last moment, and have his ACK.
			if k.finish(done == nil) {
				return
			}
		case <-k.changed:
			switch {
			case done == nil:
				if k.finish(false) {
					return
				}
			case k.connected() > 0:
				deadline.Stop()
			default:
				deadline.Reset(c.reconnection)
			}
		case <-done:
			// Told to end: the clients that are there may stay, for a while.
			l.Close()
			if k.finish(false) {
				return
			}
			done = nil
			deadline.Reset(c.shutdown)
		}
	}
}

func (k *collector) accept(l net.Listener, served *sync.WaitGroup) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if !k.enter(conn) {
			conn.Close()
			continue
		}
		served.Go(func() {
			defer k.leave(conn)
			k.serve(conn)
		})
	}
}

// serve reads lines until the client goes. A bad line gets no ACK, and ends it.
func (k *collector) serve(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		labels, err := parse(lines.Text())
		if err != nil {
			log.Printf("client %s: %v", conn.RemoteAddr(), err)
			return
		}
		fresh, ok := k.add(labels)
		if !ok {
			return
		}
		if fresh {
			log.Printf("client %s: %s", conn.RemoteAddr(), strings.Join(labels, " "))
		}
		if _, err := conn.Write([]byte("ACK\n")); err != nil {
			return
		}
	}
}

func (k *collector) enter(conn net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return false
	}
	k.conns[conn] = true
	k.signal()
	return true
}

func (k *collector) leave(conn net.Conn) {
	conn.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.conns, conn)
	k.signal()
}

// signal wakes await. The caller holds mu.
func (k *collector) signal() {
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

func (k *collector) connected() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.conns)
}

// add takes labels in, unless it is over; fresh ones are new.
func (k *collector) add(labels []string) (fresh, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return false, false
	}
	key := strings.Join(labels, "\x00")
	_, known := k.filters[key]
	k.filters[key] = labels
	return !known, true
}

// finish ends it, unless somebody is connected and may not be turned out: from
// then on nobody gets an ACK.
func (k *collector) finish(turnOut bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.conns) > 0 && !turnOut {
		return false
	}
	k.over = true
	for conn := range k.conns {
		conn.Close()
	}
	return true
}

// asked is what was asked for, in a fixed order.
func (k *collector) asked() (all [][]string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(k.filters)) {
		all = append(all, k.filters[key])
	}
	return all
}
