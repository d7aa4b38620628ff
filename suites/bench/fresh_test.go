package bench

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// A fresh connection that is closed in the ordinary way stays in the kernel's table for
// minutes. So it is reset, but only behind an answer that is whole: a client that leaves
// before closes as clients do.
func TestAFreshConnectionIsResetOnceItsAnswerIsWhole(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		want   error
	}{
		"whole":     {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", syscall.ECONNRESET},
		"malformed": {"what?\r\n\r\n", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			ended := make(chan error, 1)
			go func() {
				c, err := l.Accept()
				if err != nil {
					ended <- err
					return
				}
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				in := bufio.NewReader(c)
				r, err := http.ReadRequest(in)
				if err == nil {
					_, err = io.Copy(io.Discard, r.Body)
				}
				if err == nil {
					_, err = io.WriteString(c, tc.answer)
				}
				if err == nil {
					_, err = in.ReadByte()
				}
				ended <- err
			}()
			send(t, t.Context(), "http://"+l.Addr().String(), Req{Key: "k"})
			if err := <-ended; !errors.Is(err, tc.want) {
				t.Errorf("the connection ended with %v, want %v", err, tc.want)
			}
		})
	}
}

func TestALimitLeavesASlowRouterItsTime(t *testing.T) {
	if got, want := LimitFor(600), DefaultLimit+time.Minute; got != want {
		t.Errorf("LimitFor(600) = %v, want %v", got, want)
	}
}
