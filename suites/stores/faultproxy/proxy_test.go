package faultproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// echo is a node: it sends back what it gets, line by line.
type echo struct {
	net.Listener
	name  string
	conns sync.WaitGroup
}

func startEcho(t *testing.T, name string) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{Listener: l, name: name}
	e.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			e.conns.Go(func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					io.WriteString(c, name+" "+lines.Text()+"\n")
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); e.conns.Wait() }) // after the proxy has closed its ends
	return e
}

func (e *echo) addr() string { return e.Listener.Addr().String() }

type bed struct {
	t *testing.T
	*Proxy
}

func open(t *testing.T) *bed {
	t.Helper()
	e := startEcho(t, "one")
	p, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	if err := p.Up(e.addr()); err != nil {
		t.Fatal(err)
	}
	return &bed{t, p}
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// client is a connection through the proxy.
type client struct {
	t *testing.T
	net.Conn
	lines *bufio.Reader
}

func (b *bed) dial() *client {
	b.t.Helper()
	c, err := net.Dial("tcp", b.Addr())
	b.must(err)
	b.t.Cleanup(func() { c.Close() })
	return &client{b.t, c, bufio.NewReader(c)}
}

// ask sends a line and waits for the answer, at most as long as given.
func (c *client) ask(line string, atMost time.Duration) (string, error) {
	c.SetDeadline(time.Now().Add(atMost))
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		return "", err
	}
	return c.lines.ReadString('\n')
}

func (c *client) want(line, answer string) {
	c.t.Helper()
	if got, err := c.ask(line, 10*time.Second); got != answer+"\n" || err != nil {
		c.t.Fatalf("%s was answered with %q, %v; want %s", line, got, err, answer)
	}
}

// wantReset waits for the reset of an idle connection.
func (c *client) wantReset() {
	c.t.Helper()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.lines.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
		c.t.Errorf("the connection ended with %v, want a reset", err)
	}
}

func (b *bed) wantRefused() {
	b.t.Helper()
	if c, err := net.Dial("tcp", b.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		b.t.Errorf("dial = %v, want refused", err)
		if err == nil {
			c.Close()
		}
	}
}

func TestBytesPassBothWays(t *testing.T) {
	b := open(t)
	c := b.dial()
	c.want("hello", "one hello")
	c.want("again", "one again")
	if b.Conns() != 1 {
		t.Errorf("%d connections", b.Conns())
	}
}

func TestACutResetsAndRefusesUntilItHeals(t *testing.T) {
	b := open(t)
	c := b.dial()
	c.want("hello", "one hello")
	addr := b.Addr()
	b.Cut()
	c.wantReset()
	b.wantRefused()
	b.must(b.Heal())
	b.dial().want("back", "one back")
	if b.Addr() != addr {
		t.Errorf("the address was %s and is %s", addr, b.Addr())
	}
}

func TestHalfOpenLosesBytesAndKeepsConnections(t *testing.T) {
	b := open(t)
	old := b.dial()
	old.want("hello", "one hello")
	b.must(b.HalfOpen())
	fresh := b.dial()
	for name, c := range map[string]*client{"an old": old, "a fresh": fresh} {
		if got, err := c.ask("lost", 300*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s connection: %q, %v; want silence", name, got, err)
		}
	}
	b.must(b.Heal())
	old.wantReset() // else it would go on with a hole in its bytes
	fresh.wantReset()
	b.dial().want("back", "one back")
}

func TestLatencyDelaysBothWaysAndIsReplaced(t *testing.T) {
	b := open(t)
	c := b.dial()
	for _, d := range []time.Duration{200 * time.Millisecond, 100 * time.Millisecond} {
		b.must(b.Latency(d))
		began := time.Now()
		c.want("slow", "one slow")
		if took := time.Since(began); took < 2*d {
			t.Errorf("an answer took %s, want at least twice %s", took, d)
		}
	}
	b.must(b.Heal())
	c.want("the same connection", "one the same connection")
}

func TestWhileHalfOpenEndsAreLostToo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := open(t)
	b.must(b.Up(l.Addr().String()))
	c, gone := b.dial(), b.dial()
	var ends []net.Conn
	for range 2 {
		n, err := l.Accept()
		b.must(err)
		defer n.Close()
		ends = append(ends, n)
	}
	b.must(b.HalfOpen())
	gone.Close()
	for _, n := range ends {
		n.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if _, err := n.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a node saw %v, want nothing of its client's end", err)
		}
		n.Close()
	}
	if got, err := c.ask("lost", 200*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v, want silence though the node has ended", got, err)
	}
	b.must(b.Heal())
	c.wantReset()
}

func TestAnEndThatTakesNothingMoreLeavesNothingBehind(t *testing.T) {
	for _, delay := range []time.Duration{0, 50 * time.Millisecond} {
		b := open(t)
		b.must(b.Latency(delay))
		flood := []byte(strings.Repeat("x", 10_000) + "\n")
		for range 3 {
			c := b.dial()
			c.want("hello", "one hello")
			go func() { // who sends and does not read
				for {
					if _, err := c.Write(flood); err != nil {
						return
					}
				}
			}()
		}
		b.Down()
		b.must(b.Close()) // waits for all relays
	}
}

func TestANodeMayGoAndComeBackElsewhere(t *testing.T) {
	b := open(t)
	c := b.dial()
	c.want("hello", "one hello")
	b.must(b.Latency(50 * time.Millisecond))
	b.Down()
	c.wantReset()
	b.wantRefused()
	b.must(b.Heal())
	b.wantRefused() // there is no node to heal the way to
	b.must(b.Latency(50 * time.Millisecond))
	b.Cut()
	b.must(b.Up(startEcho(t, "two").addr()))
	b.wantRefused() // and a node does not heal the way
	b.must(b.Heal())
	c = b.dial()
	c.want("hello", "two hello")
	b.must(b.Latency(50 * time.Millisecond))
	b.must(b.Up(startEcho(t, "three").addr()))
	c.wantReset()
	began := time.Now()
	b.dial().want("hello", "three hello")
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("the latency is lost with the move: %s", took)
	}
}

func TestTheNodesResetIsPassedOn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := ListenPlain()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b := &bed{t, p}
	b.must(b.Up(l.Addr().String()))
	c := b.dial()
	n, err := l.Accept()
	b.must(err)
	b.must(n.(*net.TCPConn).SetLinger(0))
	n.Close()
	c.wantReset()
}

func TestANodeThatIsNotThereResets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	b := open(t)
	b.must(b.Up(gone))
	conn, err := net.Dial("tcp", b.Addr())
	if errors.Is(err, syscall.ECONNRESET) {
		return // so soon
	}
	b.must(err)
	defer conn.Close()
	c := &client{t, conn, bufio.NewReader(conn)}
	c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.lines.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read = %v, want the end", err)
	}
}

func TestAPlainProxyDelaysAndLosesNothing(t *testing.T) {
	g, err := ListenGroup(2, true)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.Latency(t.Context(), time.Second); err == nil {
		t.Error("Latency worked")
	}
	if err := g.HalfOpen(t.Context(), 1); err == nil {
		t.Error("HalfOpen worked")
	}
	if a := g.Addrs(); len(a) != 2 || a[0] == a[1] {
		t.Errorf("addresses %v", a)
	}
}

func TestAGroupReachesTheNamedOrAll(t *testing.T) {
	g, err := ListenGroup(2, false)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var beds []*bed
	for i, name := range []string{"a", "b"} {
		if err := g[i].Up(startEcho(t, name).addr()); err != nil {
			t.Fatal(err)
		}
		beds = append(beds, &bed{t, g[i]})
	}
	beds[0].must(g.Cut(t.Context(), 1))
	beds[0].dial().want("x", "a x")
	beds[1].wantRefused()
	beds[0].must(g.Cut(t.Context()))
	beds[0].wantRefused()
	beds[0].must(g.Heal(t.Context()))
	beds[0].dial().want("x", "a x")
	beds[1].dial().want("x", "b x")
	g.Close() // and the second Close, deferred, does no harm
}
