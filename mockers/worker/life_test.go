package worker

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
)

func TestACrashResetsEverythingAndRunningAttemptsEndCrashed(t *testing.T) {
	b := start(t, Timing{})
	b.plan("headers", Plan{HoldHeaders: true})
	b.plan("midstream", Plan{Step: true}).Advance()
	b.plan("hung", Plan{Fault: &Fault{Kind: HangRequests}})
	idle := b.dial()
	idle.send("GET", "/health", "")
	idle.recv()
	conns := []*wire{idle}
	for i, key := range []string{"headers", "midstream", "hung"} {
		c := b.dial()
		c.send("POST", "/v1/chat/completions", chat(key, true, 4))
		b.arrived(i)
		conns = append(conns, c)
	}
	b.events(1, 1)
	b.w.Crash()
	for i, a := range b.l.Snapshot(0) { // no waiting: Crash has waited
		if a.End != ledger.Crashed || a.AbortSeen != ledger.Unset {
			t.Errorf("attempt %d: %s, abort seen %v", i, a.End, a.AbortSeen)
		}
	}
	for i, c := range conns {
		r := c.recv()
		b.wantReset(fmt.Sprint("connection ", i), r.err)
		if i == 2 {
			b.accounts(b.l.Snapshot(1)[0], r)
		}
	}
	if b.w.Alive() {
		t.Error("alive after a crash")
	}
	if _, err := net.Dial("tcp", b.w.net.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v; want refused", err)
	}
}

func TestARestartIsANewIncarnationAtTheSameAddressWithoutTheFault(t *testing.T) {
	b := start(t, Timing{})
	url := b.w.URL()
	for want := 2; want <= 4; want++ {
		b.fault(Fault{Kind: Status, Status: 500})
		b.w.Crash()
		b.w.Crash() // changes nothing
		if err := b.w.SetFault(Fault{Kind: Hang}); err == nil || !strings.Contains(err.Error(), "not alive") {
			t.Errorf("SetFault on a dead worker: %v", err)
		}
		b.must(b.w.ClearFault())
		b.must(b.w.Restart())
		r := b.chat("k", false, 1)
		a := b.ended(want-2, ledger.Complete)
		if r.status != 200 || r.header.Get("x-mock-incarnation") != fmt.Sprint(want) || a.Incarnation != want || b.w.Incarnation() != want || b.w.URL() != url {
			t.Errorf("life %d: %+v, attempt of incarnation %d at %s", want, r, a.Incarnation, b.w.URL())
		}
	}
	if err := b.w.Restart(); err == nil || !strings.Contains(err.Error(), "alive") {
		t.Errorf("Restart of a living worker: %v", err)
	}
}

func TestCrashEndsEveryFault(t *testing.T) {
	for _, kind := range []Kind{Refuse, Hang, HangRequests} {
		t.Run(string(kind), func(t *testing.T) {
			b := start(t, Timing{})
			b.fault(Fault{Kind: kind})
			if kind != Refuse {
				c := b.dial()
				c.send("POST", "/v1/chat/completions", chat("k", false, 1))
				if kind == HangRequests {
					b.arrived(0)
				} else {
					c.silent()
				}
				b.w.Crash()
				b.wantReset("hung connection", c.recv().err)
			}
			b.w.Crash()
			b.must(b.w.Restart())
			b.healthy()
		})
	}
}

func TestAClientThatLeavesIsSeenInEveryState(t *testing.T) {
	for _, c := range []struct {
		name   string
		plan   Plan
		fault  Fault
		timing Timing
		stream bool
		events int
	}{
		{"headers held back", Plan{HoldHeaders: true}, Fault{}, Timing{}, true, 0},
		{"before a whole answer", Plan{}, Fault{}, Timing{TTFT: time.Hour}, false, 0},
		{"before the first token", Plan{}, Fault{}, Timing{TTFT: time.Hour}, true, 0},
		{"hung", Plan{}, Fault{Kind: HangRequests}, Timing{}, false, 0},
		{"stepping, with no bytes flowing", Plan{Step: true}, Fault{}, Timing{}, true, 2},
		{"between two tokens", Plan{}, Fault{}, Timing{Interval: time.Hour}, true, 2},
	} {
		for _, rst := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reset %v", c.name, rst), func(t *testing.T) {
				b := start(t, c.timing)
				h := b.plan("k", c.plan)
				for range c.events {
					h.Advance()
				}
				if c.fault.Kind != "" {
					b.fault(c.fault)
				}
				conn := b.dial()
				conn.send("POST", "/v1/chat/completions", chat("k", c.stream, 9))
				b.events(0, c.events)
				if rst {
					conn.Conn.(*net.TCPConn).SetLinger(0)
				}
				left := b.l.Now()
				conn.Close()
				a := b.ended(0, ledger.Aborted)
				if a.AbortSeen < left || a.Ended < a.AbortSeen || len(a.Events) != c.events {
					t.Errorf("left at %v: %+v", left, a)
				}
			})
		}
	}
}

func TestAClientThatLeavesWhileSendingItsBodyIsRecorded(t *testing.T) {
	b := start(t, Timing{})
	c := b.dial()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Request-Id: r\r\nContent-Length: 100\r\n\r\n{\"half\"")
	c.Close()
	a := b.ended(0, ledger.Aborted)
	if a.Key != "r" || string(a.Body) != `{"half"` || a.Status != 0 {
		t.Errorf("attempt %+v", a)
	}
}

func TestCloseEndsRunningAttemptsAndIsIdempotent(t *testing.T) {
	b := start(t, Timing{TTFT: time.Hour})
	c := b.dial()
	c.send("POST", "/v1/chat/completions", chat("k", true, 4))
	b.arrived(0)
	begun := time.Now()
	for range 2 {
		b.must(b.w.Close())
	}
	if d := time.Since(begun); d > 2*time.Second {
		t.Errorf("Close took %s", d)
	}
	b.ended(0, ledger.Crashed)
	if err := b.w.Restart(); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("Restart after Close: %v", err)
	}
}

func TestACrashEndsAWriteToAClientThatDoesNotRead(t *testing.T) {
	b := start(t, Timing{})
	c := b.dial()
	c.send("POST", "/v1/chat/completions", chat("k", true, 1<<20))
	// Nothing is read, so the buffers fill and the worker stands in a write.
	last := 0
	for {
		n := b.attempt(0, "events", func(a *ledger.Attempt) bool { return len(a.Events) > 0 }).BytesSent
		if int(n) == last {
			break
		}
		last = int(n)
		time.Sleep(100 * time.Millisecond)
	}
	b.w.Crash()
	b.ended(0, ledger.Crashed)
}

func TestWorkersSurviveFaultsCrashesAndRequestsAtOnce(t *testing.T) {
	b := start(t, Timing{Interval: time.Millisecond})
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				c, err := net.DialTimeout("tcp", b.w.net.Addr().String(), time.Second)
				if err != nil {
					continue
				}
				c.SetDeadline(time.Now().Add(100 * time.Millisecond))
				body := chat(fmt.Sprint(i, "-", n), n%2 == 0, 3)
				fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				buf := make([]byte, 4096)
				c.Read(buf)
				c.Close()
			}
		})
	}
	faults := []Fault{{Kind: Refuse}, {Kind: Hang}, {Kind: HangRequests}, {Kind: ResetAfterEvents, Events: 1}, {Kind: Status, Status: 503, Count: 1}}
	for i := range 40 {
		b.must(b.w.SetFault(faults[i%len(faults)]))
		time.Sleep(2 * time.Millisecond)
		if i%8 == 7 {
			b.w.Crash()
			b.must(b.w.Restart())
		} else if i%2 == 0 {
			b.must(b.w.ClearFault())
			time.Sleep(2 * time.Millisecond)
		}
	}
	close(stop)
	clients.Wait()
	b.must(b.w.Close())
	for _, a := range b.l.Snapshot(0) {
		if a.End == ledger.Running {
			t.Errorf("attempt %d (%s) never ended", a.Seq, a.Fault)
		}
	}
}
