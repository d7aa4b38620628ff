//go:build !linux

package netfault

import (
	"context"
	"net"
	"net/netip"
)

// reservation is empty where a port cannot be held without listening: while a
// Listener refuses, another process may take its port, and opening it again
// then fails with an error.
type reservation struct{}

func reserve(want netip.AddrPort) (*reservation, netip.AddrPort, error) {
	return &reservation{}, want, nil
}

func (*reservation) listen(addr string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(context.Background(), "tcp", addr)
}

func (*reservation) close() {}

func unacknowledged(*net.TCPConn) (int, bool) { return 0, false }
