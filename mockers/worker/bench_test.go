package worker

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/routeproof/routeproof/mockers/ledger"
)

func benchWorker(b *testing.B) *Worker {
	b.Helper()
	w, err := New(Config{ID: "w0", Models: []string{"mock"}, Ledger: ledger.New()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return w
}

// One operation is one server-sent event over loopback, ledger included.
func BenchmarkSSEEvent(b *testing.B) {
	w := benchWorker(b)
	c, err := net.Dial("tcp", w.net.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	br := bufio.NewReader(c)
	b.ReportAllocs()
	for n := b.N; n > 0; {
		tokens := min(n, 10_000)
		n -= tokens
		body := chat("k", true, tokens)
		fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		res, err := http.ReadResponse(br, nil)
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
	}
}

func BenchmarkWholeAnswer(b *testing.B) {
	w := benchWorker(b)
	c, err := net.Dial("tcp", w.net.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	br := bufio.NewReader(c)
	body := chat("k", false, 16)
	b.ReportAllocs()
	for b.Loop() {
		fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		res, err := http.ReadResponse(br, nil)
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
	}
}
