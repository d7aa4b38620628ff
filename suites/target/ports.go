package target

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

const loopback = "127.0.0.1"

func baseURL(host string, port int) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// reservation holds free ports: by listening on them until the target needs them,
// and, where they are not the kernel's choice, by locks until the target has ended.
type reservation struct {
	listeners []net.Listener
	locks     []io.Closer
	ports     []int
}

// maxCandidates is how many ports are tried before the kernel is asked for one.
const maxCandidates = 1000

// reserve finds n different free ports on loopback, where the kernel does not take
// any by itself: between our release and the target's bind, an outgoing connection
// of anybody could get such a port.
func reserve(n int) (*reservation, error) {
	kept, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		kept = nil // not Linux
	}
	return reserveFrom(n, candidates(string(kept)))
}

// reserveFrom is reserve with the source of candidates; nil leaves it all to the kernel.
func reserveFrom(n int, next func() int) (*reservation, error) {
	r := &reservation{}
	for tries := 0; len(r.ports) < n; tries++ {
		if next != nil && tries < maxCandidates {
			r.claim(next())
			continue
		}
		l, err := net.Listen("tcp4", loopback+":0")
		if err != nil {
			r.free()
			return nil, fmt.Errorf("no free port: %w", err)
		}
		r.hold(l)
	}
	return r, nil
}

// claim takes the port if nobody has it: no other routeproof, which the lock tells,
// and nobody else on any address, for the target may want them all.
func (r *reservation) claim(port int) {
	lock, err := net.Listen("unix", lockName(port))
	if err != nil {
		return
	}
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		_ = lock.Close()
		return
	}
	r.locks = append(r.locks, lock)
	r.hold(l)
}

func (r *reservation) hold(l net.Listener) {
	r.listeners = append(r.listeners, l)
	r.ports = append(r.ports, l.Addr().(*net.TCPAddr).Port)
}

// lockName is an address that one process at a time can listen on, and that is
// free again as soon as this one has ended, however it did (an abstract socket).
func lockName(port int) string { return fmt.Sprintf("@routeproof-port-%d", port) }

// Where ports for targets are looked for: below what Linux hands out by itself as
// it comes, above most servers' fixed ports.
const lowest, highest = 20000, 31999

// candidates gives ports at random, none of them in the kernel's own range, which
// reads "LOW HIGH". nil if there are none, or the range is not known.
func candidates(kept string) func() int {
	var low, high int
	if n, _ := fmt.Sscan(kept, &low, &high); n != 2 {
		return nil
	}
	var free []int
	for p := lowest; p <= highest; p++ {
		if p < low || p > high {
			free = append(free, p)
		}
	}
	if len(free) == 0 {
		return nil
	}
	return func() int { return free[rand.IntN(len(free))] }
}

// release lets the target bind the ports. Those that are locked stay so.
func (r *reservation) release() {
	for _, l := range r.listeners {
		_ = l.Close()
	}
	r.listeners = nil
}

// free gives the ports up: the target has ended. It may be called again, and on nil.
func (r *reservation) free() {
	if r == nil {
		return
	}
	r.release()
	for _, l := range r.locks {
		_ = l.Close()
	}
	r.locks = nil
}

// literalPort is the port of a rendered URL if the manifest itself fixed it, else 0.
func (r *reservation) literalPort(rendered string) int {
	u, err := url.Parse(rendered)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = 80
	}
	for _, p := range r.ports {
		if p == port {
			return 0
		}
	}
	return port
}

// taken says whether somebody listens on the port already.
func taken(port int) bool {
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err == nil {
		_ = l.Close()
	}
	return errors.Is(err, syscall.EADDRINUSE)
}

var (
	inUse  = regexp.MustCompile(`(?i)address already in use|EADDRINUSE|address in use`)
	digits = regexp.MustCompile(`[0-9]+`)
)

// portClash looks in a target's log for a port that it found taken; 0 if the log
// does not name it. ours says whether the port is, or may be, one that was
// reserved, so that others may do better.
func (r *reservation) portClash(log string) (port int, ours, found bool) {
	for line := range strings.Lines(log) {
		if !inUse.MatchString(line) {
			continue
		}
		found = true
		for _, p := range r.ports {
			for _, d := range digits.FindAllString(line, -1) {
				if d == strconv.Itoa(p) {
					return p, true, true
				}
			}
		}
		if m := afterColon.FindStringSubmatch(line); m != nil && port == 0 {
			port, _ = strconv.Atoi(m[1])
		}
	}
	return port, found && port == 0, found // unnamed: it may well be one of ours
}

var afterColon = regexp.MustCompile(`(?:\d|\]|\*|localhost):(\d{1,5})\b`)
