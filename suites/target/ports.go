package target

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

const loopback = "127.0.0.1"

func baseURL(host string, port int) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// reservation holds free ports by listening on them until the target needs them.
type reservation struct {
	listeners []net.Listener
	ports     []int
}

// reserve finds n different free ports on loopback.
func reserve(n int) (*reservation, error) {
	r := &reservation{}
	for range n {
		l, err := net.Listen("tcp4", loopback+":0")
		if err != nil {
			r.release()
			return nil, fmt.Errorf("no free port: %w", err)
		}
		r.listeners = append(r.listeners, l)
		r.ports = append(r.ports, l.Addr().(*net.TCPAddr).Port)
	}
	return r, nil
}

// release frees the ports. From here on anybody may take them.
func (r *reservation) release() {
	for _, l := range r.listeners {
		_ = l.Close()
	}
	r.listeners = nil
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

// portClash looks in a target's log for a port that it found taken. ours says
// whether the port is one that was reserved, so that others may do better.
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
