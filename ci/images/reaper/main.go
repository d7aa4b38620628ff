// Command reaper removes what tests in containers leave behind when they are
// killed. It stands in for the reaper that testcontainers starts beside them
// (called ryuk) where that one's image is out of reach, and speaks its protocol:
//
// A client connects to port 8080 and sends lines like label=a=b&label=c=d; each
// is answered with ACK and means every container, network, volume and image that
// has all these labels. While any client stays connected nothing happens. Once
// the last one has gone and none came back in time, what the lines mean is
// removed, and the reaper ends. It reaches the container engine by the socket
// that is mounted into it.
//
// Durations in the environment, as Go writes them: RYUK_CONNECTION_TIMEOUT (how
// long it waits for the first client; 1m), RYUK_RECONNECTION_TIMEOUT (how long
// for one to come back; 10s), RYUK_SHUTDOWN_TIMEOUT (how long clients may stay
// after SIGTERM; 10m), RYUK_REQUEST_TIMEOUT (one question to the engine; 10s).
// RYUK_PORT is the port, DOCKER_HOST the engine (unix:///PATH only).
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type config struct {
	address      string
	socket       string
	connection   time.Duration
	reconnection time.Duration
	shutdown     time.Duration
	request      time.Duration
}

// read takes the configuration from an environment.
func read(getenv func(string) string) (config, error) {
	c := config{address: ":8080", socket: "/var/run/docker.sock",
		connection: time.Minute, reconnection: 10 * time.Second, shutdown: 10 * time.Minute, request: 10 * time.Second}
	if p := getenv("RYUK_PORT"); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return c, fmt.Errorf("RYUK_PORT=%s: want a port, 1 to 65535", p)
		}
		c.address = ":" + p
	}
	if h := getenv("DOCKER_HOST"); h != "" {
		path, ok := strings.CutPrefix(h, "unix://")
		if !ok {
			return c, fmt.Errorf("DOCKER_HOST=%s: want unix:///PATH", h)
		}
		c.socket = path
	}
	for name, d := range map[string]*time.Duration{
		"RYUK_CONNECTION_TIMEOUT":   &c.connection,
		"RYUK_RECONNECTION_TIMEOUT": &c.reconnection,
		"RYUK_SHUTDOWN_TIMEOUT":     &c.shutdown,
		"RYUK_REQUEST_TIMEOUT":      &c.request,
	} {
		s := getenv(name)
		if s == "" {
			continue
		}
		v, err := time.ParseDuration(s)
		if err != nil || v <= 0 {
			return c, fmt.Errorf("%s=%s: want a duration above zero, like 10s", name, s)
		}
		*d = v
	}
	return c, nil
}

func main() {
	log.SetFlags(log.LUTC | log.Ltime)
	if err := run(); err != nil {
		log.Fatal("reaper: ", err)
	}
}

func run() error {
	c, err := read(os.Getenv)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.address)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log.Print("Started") // some versions of testcontainers wait for this word
	filters := collect(ctx, l, c)
	// A second signal ends the removal too.
	stop()
	removed, err := newEngine(c.socket, c.request).prune(context.Background(), filters)
	log.Printf("removed %s", removed)
	return err
}
