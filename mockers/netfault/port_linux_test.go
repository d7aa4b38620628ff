package netfault

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func reusePort(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
}

func TestNoOtherListenerCanTakeThePortInAnyMode(t *testing.T) {
	l, _, _ := serve(t)
	for _, m := range []Mode{Open, Refuse, Hang, Refuse} {
		set(t, l, m)
		if other, err := net.Listen("tcp", l.Addr().String()); err == nil {
			other.Close()
			t.Errorf("mode %s: a plain listener took the port", m)
		} else if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("mode %s: %v; want address in use", m, err)
		}
		if other, err := Listen(l.Addr().String()); err == nil {
			other.Close()
			t.Errorf("mode %s: a second fault listener took the port", m)
		} else if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("mode %s: %v; want address in use", m, err)
		}
	}
}

func TestAFreePortIsNeverAReservedOne(t *testing.T) {
	reserved := map[string]bool{}
	for range 200 {
		l, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		set(t, l, Refuse)
		if reserved[l.Addr().String()] {
			t.Fatalf("%s was given out twice", l.Addr())
		}
		reserved[l.Addr().String()] = true
	}
	for _, lc := range []net.ListenConfig{{}, {Control: reusePort}} {
		for range 200 {
			other, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			if reserved[other.Addr().String()] {
				t.Fatalf("%s, reserved, was given to another listener", other.Addr())
			}
		}
	}
}

func TestAFixedPortCanBeTakenAgainRightAfterItsConnectionsClosed(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	for range 3 {
		c := dial(t, l)
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		s.Close() // this side first: TIME_WAIT stays here
		c.br.ReadByte()
		c.Close()
		l.Close()
		if l, err = Listen(addr); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
}

func TestAnIPv6LoopbackWorksToo(t *testing.T) {
	l, err := Listen("[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 loopback here: %v", err)
	}
	defer l.Close()
	set(t, l, Refuse)
	if _, err := net.Dial("tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial while refusing: %v; want connection refused", err)
	}
	set(t, l, Open)
	dial(t, l).Close()
}
