package netfault

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reservation holds a port by a socket that is bound and never listens. Beside
// it our own listening sockets come and go, by SO_REUSEPORT. Once bound it has
// SO_REUSEADDR off: with it on, any process that sets it too, as every Go
// listener does by default, could take the port while nothing listens.
type reservation struct{ fd int }

func reserve(want netip.AddrPort) (*reservation, netip.AddrPort, error) {
	family, sa := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(want.Port()), Addr: want.Addr().As16()})
	if want.Addr().Unmap().Is4() {
		family, sa = unix.AF_INET, &unix.SockaddrInet4{Port: int(want.Port()), Addr: want.Addr().Unmap().As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, want, os.NewSyscallError("socket", err)
	}
	r := &reservation{fd: fd}
	port, err := r.bind(sa, want.Port() != 0)
	if err != nil {
		r.close()
		return nil, want, err
	}
	return r, netip.AddrPortFrom(want.Addr().Unmap(), port), nil
}

// bind takes the port for this process alone, and only then lets sockets of the
// same user in beside it: were SO_REUSEPORT on from the start, two fleets told
// to use the same port would share it and neither would notice.
func (r *reservation) bind(sa unix.Sockaddr, fixed bool) (uint16, error) {
	// A fixed port may still have connections in TIME_WAIT from an earlier run.
	if fixed {
		if err := r.set(unix.SO_REUSEADDR, 1); err != nil {
			return 0, err
		}
	}
	if err := unix.Bind(r.fd, sa); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	if err := errors.Join(r.set(unix.SO_REUSEADDR, 0), r.set(unix.SO_REUSEPORT, 1)); err != nil {
		return 0, err
	}
	bound, err := unix.Getsockname(r.fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	switch b := bound.(type) {
	case *unix.SockaddrInet4:
		return uint16(b.Port), nil
	case *unix.SockaddrInet6:
		return uint16(b.Port), nil
	}
	return 0, errors.New("getsockname: not an internet address")
}

func (r *reservation) set(option, value int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(r.fd, unix.SOL_SOCKET, option, value))
}

func (r *reservation) listen(addr string) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var serr error
		err := raw.Control(func(fd uintptr) {
			serr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		return errors.Join(err, serr)
	}}
	return lc.Listen(context.Background(), "tcp", addr)
}

func (r *reservation) close() { unix.Close(r.fd) }

// unacknowledged is the number of written bytes that the peer's kernel has not
// acknowledged.
func unacknowledged(c *net.TCPConn) (int, bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var n int
	var serr error
	err = raw.Control(func(fd uintptr) { n, serr = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	return n, err == nil && serr == nil
}
