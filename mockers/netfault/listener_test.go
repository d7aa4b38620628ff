package netfault

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = 5 * time.Second

// serve runs a server on a fresh listener: /slow answers when its gate opens.
func serve(t *testing.T) (l *Listener, entered chan struct{}, gate chan struct{}) {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	entered, gate = make(chan struct{}, 16), make(chan struct{})
	srv := &http.Server{
		ConnState:   l.ConnState,
		ConnContext: ConnContext,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				entered <- struct{}{}
				<-gate
			}
			if r.URL.Path == "/rst" {
				w.Header().Set("Content-Length", "10")
				w.Write([]byte("12345"))
				http.NewResponseController(w).Flush()
				c := ConnOf(r.Context())
				c.Drain(time.Second)
				c.Reset()
				panic(http.ErrAbortHandler)
			}
			w.Write([]byte("ok"))
		}),
	}
	served := make(chan struct{})
	go func() { defer close(served); srv.Serve(l) }()
	t.Cleanup(func() {
		l.ResetAll()
		srv.Close()
		l.Close()
		<-served
	})
	return l, entered, gate
}

func dial(t *testing.T, l *Listener) *client {
	t.Helper()
	c, err := net.DialTimeout("tcp", l.Addr().String(), patience)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { c.Close() })
	return &client{c, bufio.NewReader(c)}
}

type client struct {
	net.Conn
	br *bufio.Reader
}

func (c *client) send(t *testing.T, path string) {
	t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

// recv reads one answer and returns its body, or the error.
func (c *client) recv() (string, error) {
	res, err := http.ReadResponse(c.br, nil)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

func (c *client) get(t *testing.T, path string) {
	t.Helper()
	c.send(t, path)
	if got, err := c.recv(); err != nil || got != "ok" {
		t.Fatalf("GET %s = %q, %v; want ok", path, got, err)
	}
}

func set(t *testing.T, l *Listener, m Mode) {
	t.Helper()
	if err := l.SetMode(m); err != nil {
		t.Fatal(err)
	}
}

func TestRefuseMakesConnectsFailAndOpenServesTheSamePortAgain(t *testing.T) {
	l, _, _ := serve(t)
	for range 20 {
		dial(t, l).get(t, "/")
		set(t, l, Refuse)
		if c, err := net.Dial("tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
			if err == nil {
				c.Close()
			}
			t.Fatalf("dial while refusing: %v; want connection refused", err)
		}
		set(t, l, Open)
	}
	dial(t, l).get(t, "/")
}

func TestRefuseClosesIdleConnectionsAndLetsRunningRequestsFinish(t *testing.T) {
	l, entered, gate := serve(t)
	idle, running := dial(t, l), dial(t, l)
	idle.get(t, "/")
	running.send(t, "/slow")
	<-entered
	set(t, l, Refuse)
	if _, err := idle.br.ReadByte(); err != io.EOF {
		t.Errorf("idle connection: %v; want EOF", err)
	}
	close(gate)
	if got, err := running.recv(); err != nil || got != "ok" {
		t.Errorf("running request = %q, %v; want ok", got, err)
	}
	if _, err := running.br.ReadByte(); err != io.EOF {
		t.Errorf("after its request the running connection gave %v; want EOF", err)
	}
}

// parked is how many connections hang.
func parked(l *Listener) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.parked {
			n++
		}
	}
	return n
}

func TestHangNeverAnswersNewOrIdleConnectionsAndResetsThemAtItsEnd(t *testing.T) {
	for _, next := range []Mode{Open, Refuse} {
		t.Run(next.String(), func(t *testing.T) {
			l, entered, gate := serve(t)
			kept, running := dial(t, l), dial(t, l)
			kept.get(t, "/")
			running.send(t, "/slow")
			<-entered
			set(t, l, Hang)
			fresh := dial(t, l)
			fresh.send(t, "/")
			kept.send(t, "/")
			close(gate)
			if got, err := running.recv(); err != nil || got != "ok" {
				t.Errorf("request under way before the hang = %q, %v; want ok", got, err)
			}
			for name, c := range map[string]*client{"fresh": fresh, "kept": kept} {
				c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
				if b, err := c.br.ReadByte(); err == nil || !err.(net.Error).Timeout() {
					t.Fatalf("%s connection gave %q, %v during the hang; want silence", name, b, err)
				}
				c.SetReadDeadline(time.Now().Add(patience))
			}
			// The third is the one whose request was under way.
			for end := time.Now().Add(patience); parked(l) < 3; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d connections hang, want 3", parked(l))
				}
			}
			set(t, l, next)
			for name, c := range map[string]*client{"fresh": fresh, "kept": kept} {
				if _, err := c.br.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("%s connection after the hang: %v; want a reset", name, err)
				}
			}
			set(t, l, Open)
			dial(t, l).get(t, "/")
		})
	}
}

// What a connection sends after the mode changed is not served, however long the
// closing of the connection takes.
func TestAConnectionThatIsAboutToBeClosedIsNotServed(t *testing.T) {
	for name, end := range map[string]func(*Listener){
		"refuse": func(l *Listener) { l.change(Refuse) },
		"crash":  func(l *Listener) { l.mu.Lock(); l.doomAll(); l.mu.Unlock() },
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			c := dial(t, l)
			server, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			c.send(t, "/")
			end(l)
			if n, err := server.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("read %d bytes, %v; want net.ErrClosed", n, err)
			}
		})
	}
}

func TestAReadDeadlineDoesNotEndAHang(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := dial(t, l)
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() { _, err := server.Read(make([]byte, 1)); read <- err }()
	set(t, l, Hang)
	server.SetReadDeadline(time.Unix(1, 0)) // as an http.Server's header timeout does
	select {
	case err := <-read:
		t.Fatalf("the read of a hung connection ended: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	set(t, l, Open)
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the read ended with %v; want net.ErrClosed", err)
	}
	if _, err := c.br.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client got %v; want a reset", err)
	}
}

// bothReset demands that what is done to a listener resets an idle connection and one
// with a request that runs until the gate opens.
func bothReset(t *testing.T, done func(*Listener)) (l *Listener, gate chan struct{}) {
	t.Helper()
	l, entered, gate := serve(t)
	idle, running := dial(t, l), dial(t, l)
	idle.get(t, "/")
	running.send(t, "/slow")
	<-entered
	done(l)
	for name, c := range map[string]*client{"idle": idle, "running": running} {
		if _, err := c.br.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s connection: %v; want a reset", name, err)
		}
	}
	return l, gate
}

func TestResetAllResetsIdleAndRunningConnections(t *testing.T) {
	l, gate := bothReset(t, (*Listener).ResetAll)
	close(gate)
	if n := l.Conns(); n != 0 {
		t.Errorf("%d connections are still tracked", n)
	}
}

func TestCrashResetsAndRefusesAtOnceAndOpenComesBack(t *testing.T) {
	l, gate := bothReset(t, (*Listener).Crash)
	if _, err := net.Dial("tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v; want connection refused", err)
	}
	close(gate)
	set(t, l, Open)
	dial(t, l).get(t, "/")
}

func TestWhatWasWrittenBeforeAResetArrives(t *testing.T) {
	l, _, _ := serve(t)
	for range 50 {
		c := dial(t, l)
		c.send(t, "/rst")
		got, err := c.recv()
		if got != "12345" || !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("read %q, %v; want 12345 and a reset", got, err)
		}
	}
}

func TestABadAddressOrModeIsRefusedWithItsName(t *testing.T) {
	for _, addr := range []string{"", "localhost:0", "127.0.0.1", "127.0.0.1:70000"} {
		if l, err := Listen(addr); err == nil {
			l.Close()
			t.Errorf("Listen(%q) succeeded", addr)
		} else if !strings.Contains(err.Error(), `"`+addr+`"`) {
			t.Errorf("Listen(%q): %v; want the address named", addr, err)
		}
	}
	l, _, _ := serve(t)
	if err := l.SetMode(7); err == nil || !strings.Contains(err.Error(), "7") {
		t.Errorf("SetMode(7) = %v", err)
	}
}

func TestCloseEndsAcceptAndLaterModes(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan error)
	go func() { _, err := l.Accept(); accepted <- err }()
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v; want net.ErrClosed", err)
	}
	if err := l.SetMode(Hang); !errors.Is(err, net.ErrClosed) {
		t.Errorf("SetMode after Close = %v; want net.ErrClosed", err)
	}
}
