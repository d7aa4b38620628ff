package main

import (
	"bufio"
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// never is longer than any test.
const never = time.Hour

// collecting serves in the background and tells what was asked for in the end.
type collecting struct {
	t      *testing.T
	addr   string
	cancel context.CancelFunc
	asked  chan [][]string
}

func startCollecting(t *testing.T, c config) *collecting {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &collecting{t: t, addr: l.Addr().String(), cancel: cancel, asked: make(chan [][]string, 1)}
	done := make(chan struct{})
	go func() { defer close(done); s.asked <- collect(ctx, l, c) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("collect does not end")
		}
	})
	return s
}

// client is one connection.
type client struct {
	net.Conn
	lines *bufio.Reader
}

func (s *collecting) dial() *client {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	return &client{conn, bufio.NewReader(conn)}
}

// ask sends a line and returns the answer, empty where the connection ended.
func (c *client) ask(line string) string {
	c.Write([]byte(line + "\n"))
	answer, _ := c.lines.ReadString('\n')
	return answer
}

func (s *collecting) wantAsked(want ...string) {
	s.t.Helper()
	select {
	case asked := <-s.asked:
		got := []string{}
		for _, labels := range asked {
			got = append(got, strings.Join(labels, " "))
		}
		if !slices.Equal(got, want) {
			s.t.Errorf("asked for %q, want %q", got, want)
		}
	case <-time.After(10 * time.Second):
		s.t.Fatal("it does not end")
	}
}

func (s *collecting) wantRunning(why string) {
	s.t.Helper()
	select {
	case asked := <-s.asked:
		s.t.Fatalf("it ended with %q, although %s", asked, why)
	case <-time.After(200 * time.Millisecond):
	}
}

func TestLinesAreAcknowledgedAndCountOnceTheLastClientHasGone(t *testing.T) {
	s := startCollecting(t, config{connection: never, reconnection: 10 * time.Millisecond, shutdown: never})
	a, b := s.dial(), s.dial()
	for _, c := range []struct {
		client *client
		line   string
	}{
		{a, "label=org.testcontainers=true&label=org.testcontainers.sessionId=1"},
		{b, "label=x=y"},
		{b, "label=org.testcontainers.sessionId=1&label=org.testcontainers=true"}, // the same again
	} {
		if got := c.client.ask(c.line); got != "ACK\n" {
			t.Errorf("%s: %q", c.line, got)
		}
	}
	a.Close()
	s.wantRunning("a client is connected")
	b.Close()
	s.wantAsked("org.testcontainers.sessionId=1 org.testcontainers=true", "x=y")
}

func TestAClientThatComesBackInTimeKeepsItFromEnding(t *testing.T) {
	s := startCollecting(t, config{connection: never, reconnection: 500 * time.Millisecond, shutdown: never})
	a := s.dial()
	a.ask("label=a")
	a.Close()
	b := s.dial()
	if got := b.ask("label=b"); got != "ACK\n" {
		t.Fatalf("second client: %q", got)
	}
	select {
	case <-s.asked:
		t.Fatal("it ended while a client was connected")
	case <-time.After(time.Second):
	}
	b.Close()
	s.wantAsked("a", "b")
}

func TestWithoutAnyClientItEndsByItself(t *testing.T) {
	s := startCollecting(t, config{connection: 10 * time.Millisecond, reconnection: never, shutdown: never})
	s.wantAsked()
}

func TestALineThatIsNotUnderstoodGetsNoACK(t *testing.T) {
	s := startCollecting(t, config{connection: never, reconnection: 10 * time.Millisecond, shutdown: never})
	keep := s.dial()
	keep.ask("label=good")
	for _, line := range []string{"", "label=", "label==x", "label= ", "status=exited", "label=a&status=exited", "label=%zz", "nonsense", strings.Repeat("x", maxLine+1)} {
		if got := s.dial().ask(line); got != "" {
			t.Errorf("%.40q was answered with %q", line, got)
		}
	}
	keep.Close()
	s.wantAsked("good")
}

func TestToldToEndItWaitsForClientsAndTakesNoNewOnes(t *testing.T) {
	s := startCollecting(t, config{connection: never, reconnection: never, shutdown: never})
	a := s.dial()
	a.ask("label=a")
	s.cancel()
	s.wantRunning("a client is connected")
	if conn, err := net.Dial("tcp", s.addr); err == nil {
		conn.Close()
		t.Error("a new client was let in")
	}
	if got := a.ask("label=b"); got != "ACK\n" {
		t.Errorf("the old client: %q", got)
	}
	a.Close()
	s.wantAsked("a", "b")
}

func TestToldToEndItWaitsOnlySoLong(t *testing.T) {
	s := startCollecting(t, config{connection: never, reconnection: never, shutdown: 50 * time.Millisecond})
	a := s.dial()
	a.ask("label=a")
	s.cancel()
	s.wantAsked("a")
	if _, err := a.lines.ReadByte(); err == nil {
		t.Error("the client is still connected")
	}
}

func TestTheEnvironmentConfiguresAndMistakesAreNamed(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for _, p := range pairs {
				if v, ok := strings.CutPrefix(p, name+"="); ok {
					return v
				}
			}
			return ""
		}
	}
	c, err := read(env("RYUK_PORT=9", "RYUK_CONNECTION_TIMEOUT=5s", "RYUK_RECONNECTION_TIMEOUT=1s", "RYUK_SHUTDOWN_TIMEOUT=2m", "RYUK_REQUEST_TIMEOUT=3s", "DOCKER_HOST=unix:///x/y.sock"))
	if want := (config{":9", "/x/y.sock", 5 * time.Second, time.Second, 2 * time.Minute, 3 * time.Second}); err != nil || c != want {
		t.Errorf("got %+v, %v; want %+v", c, err, want)
	}
	for _, bad := range []string{"RYUK_PORT=0", "RYUK_PORT=x", "RYUK_CONNECTION_TIMEOUT=5", "RYUK_RECONNECTION_TIMEOUT=-1s", "DOCKER_HOST=tcp://1.2.3.4:1"} {
		if _, err := read(env(bad)); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
