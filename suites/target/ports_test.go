package target

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestPortsAreOutsideTheKernelsOwnRangeAndGivenOnce(t *testing.T) {
	kept, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Skip("only Linux tells its range")
	}
	var low, high int
	if _, err := fmt.Sscan(string(kept), &low, &high); err != nil {
		t.Fatal(err)
	}
	if candidates(string(kept)) == nil {
		t.Skipf("the kernel keeps %d to %d to itself", low, high)
	}
	seen := map[int]bool{}
	for range 20 {
		r, err := reserve(3)
		if err != nil {
			t.Fatal(err)
		}
		defer r.free()
		r.release() // as for the launch; from here on only the locks hold them
		for _, p := range r.ports {
			if p >= low && p <= high || seen[p] {
				t.Errorf("port %d is the kernel's own (%d to %d) or was given twice", p, low, high)
			}
			seen[p] = true
		}
	}
}

func TestCandidatesLeaveTheKernelsRangeAlone(t *testing.T) {
	for _, c := range []struct {
		kept      string
		low, high int // of what is given; 0 is nothing
	}{
		{"32768\t60999\n", lowest, highest},
		{"1024 65535", 0, 0},
		{"25000 65535", lowest, 24999},
		{"", 0, 0},
		{"x", 0, 0},
	} {
		next := candidates(c.kept)
		if (next == nil) != (c.low == 0) {
			t.Errorf("%q: gives none: %v", c.kept, next == nil)
			continue
		}
		for range 200 {
			if next == nil {
				break
			}
			if p := next(); p < c.low || p > c.high {
				t.Fatalf("%q: gives %d", c.kept, p)
			}
		}
	}
}

// sequence gives the ports in order.
func sequence(ports ...int) func() int {
	return func() int {
		p := ports[0]
		if len(ports) > 1 {
			ports = ports[1:]
		}
		return p
	}
}

func TestAPortThatSomebodyHoldsIsNotReserved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has abstract sockets")
	}
	first, err := reserve(4)
	if err != nil {
		t.Fatal(err)
	}
	defer first.free()
	first.release()
	locked, loop, all, good := first.ports[0], first.ports[1], first.ports[2], first.ports[3]
	for _, l := range first.locks[1:] {
		_ = l.Close()
	}
	for _, address := range []string{fmt.Sprintf("127.0.0.1:%d", loop), fmt.Sprintf("0.0.0.0:%d", all)} {
		l, err := net.Listen("tcp4", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	r, err := reserveFrom(1, sequence(locked, loop, all, good))
	if err != nil {
		t.Fatal(err)
	}
	defer r.free()
	if r.ports[0] != good {
		t.Errorf("port %d of %v, want %d: the first is locked, on the others somebody listens", r.ports[0], first.ports, good)
	}
	// Where all candidates are taken, the kernel is asked.
	k, err := reserveFrom(1, sequence(locked))
	if err != nil {
		t.Fatal(err)
	}
	defer k.free()
	if k.ports[0] == locked {
		t.Error("a locked port was given")
	}
}

func TestATargetsPortsAreLockedUntilItHasStopped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has abstract sockets")
	}
	m := parsed(t, strings.Replace(playManifest("ok"), "wiring:", "ports: [admin]\nwiring:", 1))
	r := started(t, m, Options{Workers: someWorkers(1)})
	held := r.held.(*process).data
	locks := func() (n int) {
		for _, port := range []int{held.Port, held.Ports["admin"]} {
			if l, err := net.Listen("unix", lockName(port)); err == nil {
				_ = l.Close()
			} else {
				n++
			}
		}
		return n
	}
	if n := locks(); n != 2 {
		t.Errorf("%d of 2 ports are locked while the target runs", n)
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := locks(); n != 0 {
		t.Errorf("%d ports are locked after the target has stopped", n)
	}
}

// A target that waits for its port while somebody else answers there.
func TestSomebodyElsesAnswerIsNotTheTargets(t *testing.T) {
	_, err := Start(context.Background(), playParsed(t, "impostor"), Options{Workers: someWorkers(1)})
	if err == nil || !strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), fmt.Sprintf("launched %d times", 1+relaunches)) {
		t.Errorf("Start: %v", err)
	}
}
