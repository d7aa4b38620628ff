package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
)

// answering serves every connection with the same raw bytes, then closes it, or
// keeps it open if the bytes are empty.
func answering(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	t.Cleanup(func() { close(over); l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if answer == "" {
					<-over
					return
				}
				_, _ = io.WriteString(c, answer)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func send(t *testing.T, ctx context.Context, base string, q Req) history.Request {
	t.Helper()
	begin := time.Now()
	c := newClient(base, func() time.Duration { return time.Since(begin) }, carrier{header: "X-Session-ID"})
	defer c.kept.CloseIdleConnections()
	if q.Deadline == 0 {
		q.Deadline = 10 * time.Second
	}
	told := make(chan history.End, 1)
	p, err := c.start(ctx, q, func(e history.End) { told <- e })
	if err != nil {
		t.Fatal(err)
	}
	r := p.Wait()
	if e := <-told; e != r.End {
		t.Errorf("told %s, recorded %s", e, r.End)
	}
	return r
}

func TestEveryEndOfARequestHasItsName(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	for name, tc := range map[string]struct {
		answer string
		end    history.End
		status int
		good   bool
	}{
		"a whole answer":                 {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", history.Complete, 200, true},
		"a whole error":                  {"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno", history.Complete, 503, false},
		"a body cut short":               {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", history.Truncated, 200, false},
		"a chunked body cut short":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", history.Truncated, 200, false},
		"a connection closed at once":    {" ", history.Malformed, 0, false},
		"bytes that are no HTTP":         {"\x00\x01garbage\r\n\r\n", history.Malformed, 0, false},
		"chunks that are no chunks":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n", history.Malformed, 200, false},
		"a header without an end":        {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeaders), history.Malformed, 0, false},
		"a switch of protocols":          {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", history.Malformed, 0, false},
		"a stream of too many events":    {ok + "\r\n" + strings.Repeat("data: {}\n\n", 2*maxEvents), history.Oversize, 200, false},
		"an answer that is too long":     {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 2*maxAnswer, strings.Repeat("x", 2*maxAnswer)), history.Oversize, 200, false},
		"a stream that is too long":      {ok + "\r\ndata: " + strings.Repeat("x", 2*maxAnswer), history.Oversize, 200, false},
		"a line of a stream, very long":  {ok + "Connection: close\r\n\r\ndata: " + strings.Repeat("x", 100<<10) + "\n\n", history.Complete, 200, true},
		"a stream without its last word": {ok + "Connection: close\r\n\r\ndata: {}\n\n", history.Complete, 200, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := send(t, t.Context(), answering(t, tc.answer), Req{Key: "k", Endpoint: history.Chat})
			if r.End != tc.end || r.Status != tc.status || r.OK() != tc.good {
				t.Errorf("got %s, status %d, OK %v, %s", r.End, r.Status, r.OK(), r.Err)
			}
			if r.Ended < r.Sent || r.Ended == history.Unset {
				t.Errorf("sent %v, ended %v", r.Sent, r.Ended)
			}
		})
	}
}

func TestNobodyThereIsAFailure(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	l.Close()
	if r := send(t, t.Context(), base, Req{Key: "k"}); r.End != history.Failed {
		t.Errorf("got %s", r.End)
	}
}

func TestAStreamIsOKOnlyWithItsLastWord(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n"
	r := send(t, t.Context(), answering(t, head+"data: {\"a\":1}\n\ndata: one\ndata: two\n\ndata: [DONE]\n\n"), Req{Key: "k", Stream: true})
	if !r.OK() || !r.Done || len(r.Events) != 3 || r.Events[1].Data != "onetwo" {
		t.Errorf("got %+v", r)
	}
	if r := send(t, t.Context(), answering(t, head+"data: {\"a\":1}\n\n"), Req{Key: "k", Stream: true}); r.OK() || r.End != history.Complete {
		t.Errorf("without [DONE]: %+v", r)
	}
}

func TestTimeoutCutAndCancelAreToldApart(t *testing.T) {
	silent := answering(t, "")
	if r := send(t, t.Context(), silent, Req{Key: "k", Deadline: 20 * time.Millisecond}); r.End != history.Timeout {
		t.Errorf("own deadline: %s", r.End)
	}
	limited, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if r := send(t, limited, silent, Req{Key: "k"}); r.End != history.Cut {
		t.Errorf("case's limit: %s", r.End)
	}
	c := newClient(silent, func() time.Duration { return 0 }, carrier{})
	p, err := c.start(t.Context(), Req{Key: "k", Deadline: 10 * time.Second}, func(history.End) {})
	if err != nil {
		t.Fatal(err)
	}
	p.Cancel()
	if r := p.Wait(); r.End != history.Cancelled {
		t.Errorf("client left: %s", r.End)
	}
}

func TestTheSessionTravelsWhereTheManifestWantsIt(t *testing.T) {
	q := Req{Key: "k", Session: "s1", Endpoint: history.Chat}
	_, h, _, err := q.render(carrier{header: "X-Session-ID"})
	if err != nil || map[string][]string(h)["X-Session-ID"][0] != "s1" {
		t.Errorf("header: %v, %v", h, err)
	}
	q.Lower = true
	if _, h, _, err = q.render(carrier{header: "X-Session-ID"}); err != nil || map[string][]string(h)["x-session-id"][0] != "s1" {
		t.Errorf("lower-case header: %v, %v", h, err)
	}
	if _, h, _, err = q.render(carrier{cookie: "sid"}); err != nil || h.Get("Cookie") != "sid=s1" {
		t.Errorf("cookie: %v, %v", h, err)
	}
	_, _, body, err := q.render(carrier{body: "session_params.session_id"})
	if err != nil || !strings.Contains(string(body), `"session_params":{"session_id":"s1"}`) {
		t.Errorf("body: %s, %v", body, err)
	}
	if _, _, _, err = q.render(carrier{}); err == nil || !strings.Contains(err.Error(), "no session carrier") {
		t.Errorf("no carrier: %v", err)
	}
	if _, _, _, err = q.render(carrier{body: "model.id"}); err != nil {
		t.Errorf("a field that this request does not use: %v", err)
	}
	q.Model = "mock"
	if _, _, _, err = q.render(carrier{body: "model.id"}); err == nil || !strings.Contains(err.Error(), "is no object") {
		t.Errorf("a field inside a string: %v", err)
	}
}

func TestTheJoinKeyTravelsThreeWays(t *testing.T) {
	for _, endpoint := range []string{history.Chat, history.Completions} {
		_, h, body, err := Req{Key: "k-1", Endpoint: endpoint}.render(carrier{})
		if err != nil || h.Get("X-Request-Id") != "k-1" || !strings.Contains(string(body), `"user":"k-1"`) || !strings.Contains(string(body), "[[rp:k-1]]") {
			t.Errorf("%s: %v %s %v", endpoint, h, body, err)
		}
	}
}
