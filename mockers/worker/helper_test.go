package worker

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/mockers/ledger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

type bed struct {
	*testing.T
	w     *Worker
	l     *ledger.Ledger
	plans *Plans
}

func start(t *testing.T, timing Timing) *bed {
	t.Helper()
	return startAs(t, Shape{}, timing)
}

// startAs starts a worker of some shape; it serves the models mock and other.
func startAs(t *testing.T, s Shape, timing Timing) *bed {
	t.Helper()
	b := &bed{T: t, l: ledger.New(), plans: &Plans{}}
	b.run(Config{ID: "w0", Shape: s, Timing: timing})
	return b
}

// beside starts another worker that shares everything with b's.
func (b *bed) beside(id string, s Shape) *bed {
	b.Helper()
	c := &bed{T: b.T, l: b.l, plans: b.plans}
	c.run(Config{ID: id, Shape: s, Handoffs: b.w.handoffs})
	return c
}

func (b *bed) run(c Config) {
	b.Helper()
	c.Models, c.Ledger, c.Plans = []string{"mock", "other"}, b.l, b.plans
	var err error
	b.w, err = New(c)
	b.must(err)
	b.Cleanup(func() {
		if err := b.w.Close(); err != nil {
			b.Error(err)
		}
	})
}

func chat(key string, stream bool, tokens int) string {
	return fmt.Sprintf(`{"model":"mock","stream":%v,"max_tokens":%d,"messages":[{"role":"user","content":"say [[rp:%s]]"}]}`, stream, tokens, key)
}

func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// fault sets a fault.
func (b *bed) fault(f Fault) {
	b.Helper()
	b.must(b.w.SetFault(f))
}

func (b *bed) plan(key string, p Plan) *Handle {
	b.Helper()
	h, err := b.plans.Set(key, p)
	b.must(err)
	return h
}

// reply is one answer, read to its end or to the error that ended it.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

// do sends a request on a connection of its own.
func (b *bed) do(method, path, body string, header ...string) reply {
	b.Helper()
	c := b.dial()
	defer c.Close()
	c.send(method, path, body, header...)
	return c.recv()
}

func (b *bed) chat(key string, stream bool, tokens int) reply {
	b.Helper()
	return b.do("POST", "/v1/chat/completions", chat(key, stream, tokens))
}

// wire is a raw TCP client.
type wire struct {
	net.Conn
	t  *bed
	br *bufio.Reader
}

func (b *bed) dial() *wire {
	b.Helper()
	c, err := net.DialTimeout("tcp", b.w.net.Addr().String(), patience)
	b.must(err)
	c.SetDeadline(time.Now().Add(patience))
	b.Cleanup(func() { c.Close() })
	return &wire{c, b, bufio.NewReader(c)}
}

func (c *wire) send(method, path, body string, header ...string) {
	c.t.Helper()
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s HTTP/1.1\r\nHost: router.test\r\nContent-Length: %d\r\n", method, path, len(body))
	for _, h := range header {
		s.WriteString(h + "\r\n")
	}
	s.WriteString("\r\n" + body)
	_, err := io.WriteString(c, s.String())
	c.t.must(err)
}

func (c *wire) recv() (r reply) {
	res, err := http.ReadResponse(c.br, nil)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(body), err}
}

// silent says that nothing arrives for a moment.
func (c *wire) silent() {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	defer c.SetReadDeadline(time.Now().Add(patience))
	if b, err := c.br.Peek(1); err == nil || !err.(net.Error).Timeout() {
		c.t.Fatalf("got %q, %v; want silence", b, err)
	}
}

// until waits for the ledger.
func (b *bed) until(what string, holds func(ledger.View) bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	if err := b.l.Wait(ctx, holds); err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// attempt waits until attempt n is as asked, and returns it.
func (b *bed) attempt(n int, what string, is func(*ledger.Attempt) bool) ledger.Attempt {
	b.Helper()
	b.until(fmt.Sprintf("attempt %d: %s", n, what), func(v ledger.View) (yes bool) {
		v.Each(n, func(a *ledger.Attempt) bool { yes = is(a); return false })
		return yes
	})
	return b.l.Snapshot(n)[0]
}

// ended waits until attempt n is over, and checks how.
func (b *bed) ended(n int, want ledger.End) ledger.Attempt {
	b.Helper()
	a := b.attempt(n, "over", func(a *ledger.Attempt) bool { return a.End != ledger.Running })
	if a.End != want {
		b.Fatalf("attempt %d ended %s; want %s", n, a.End, want)
	}
	return a
}

func (b *bed) arrived(n int) ledger.Attempt {
	b.Helper()
	return b.attempt(n, "arrived", func(*ledger.Attempt) bool { return true })
}

func (b *bed) events(n, count int) {
	b.Helper()
	b.attempt(n, fmt.Sprintf("%d events", count), func(a *ledger.Attempt) bool { return len(a.Events) >= count })
}

// accounts checks that the ledger has exactly the body bytes that the client got.
func (b *bed) accounts(a ledger.Attempt, r reply) {
	b.Helper()
	if a.Status != r.status || a.BytesSent != int64(len(r.body)) || a.SentSHA256 != digest(r.body) {
		b.Errorf("ledger: status %d, %d bytes, %.8s; client: status %d, %d bytes, %.8s",
			a.Status, a.BytesSent, a.SentSHA256, r.status, len(r.body), digest(r.body))
	}
}

func digest(s string) string {
	d := sha256.Sum256([]byte(s))
	return hex.EncodeToString(d[:])
}
