package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// Limits of what a client reads, so that no target can fill memory.
const (
	maxAnswer  = 4 << 20 // bytes of a body before it is cut off as oversize
	maxHeaders = 1 << 20
	maxEvents  = 8192 // events of a stream before it is cut off as oversize
	maxData    = 256  // bytes of an event's data that a history keeps
)

// expectWait is how long a request with `Expect: 100-continue` keeps its body back: a
// server need not ask for it (RFC 9110, 10.1.1).
const expectWait = 250 * time.Millisecond

// client sends requests to the target. Fresh connections are closed after one
// request, kept ones are pooled per client.
type client struct {
	base    string
	kept    *http.Transport
	now     func() time.Duration
	carrier carrier
}

func newClient(base string, now func() time.Duration, c carrier) *client {
	return &client{base: base, kept: newTransport(), now: now, carrier: c}
}

func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		DisableCompression:     true, // bytes are compared as sent
		ExpectContinueTimeout:  expectWait,
		MaxIdleConnsPerHost:    256,
		MaxResponseHeaderBytes: maxHeaders,
	}
}

// newTransportForOne is a transport for one request. forget makes the close of its
// connection a reset: call it once the answer is whole. A close in the ordinary way
// would leave an entry in the kernel's table of tracked connections for two minutes;
// at a thousand requests a second the table fills up, and then the kernel drops packets.
func newTransportForOne() (tr *http.Transport, forget func()) {
	tr = newTransport()
	dial := tr.DialContext
	var conns []net.Conn // dialed for one request: at most one at a time writes
	tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err == nil {
			conns = append(conns, c)
		}
		return c, err
	}
	return tr, func() {
		for _, c := range conns {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // fails only where the connection is closed already
			}
		}
	}
}

// Pending is a request under way.
type Pending struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change of req
	req     history.Request
	left    bool
}

// Cancel makes the client leave: its connection closes at once.
func (p *Pending) Cancel() {
	p.mu.Lock()
	p.left = true
	p.mu.Unlock()
	p.cancel()
}

// Wait blocks until the request has ended and returns it. It always ends: every
// request has a deadline.
func (p *Pending) Wait() history.Request {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.req
}

// Peek copies what is known of the request so far.
func (p *Pending) Peek() history.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.req
}

// Ended is closed when the request has ended.
func (p *Pending) Ended() <-chan struct{} { return p.done }

// AwaitEvents blocks until the client has seen n events, the request has ended,
// or max has passed; it says whether n were seen.
func (p *Pending) AwaitEvents(ctx context.Context, n int, max time.Duration) bool {
	return p.await(ctx, max, func(r *history.Request) bool { return len(r.Events) >= n })
}

// AwaitHeaders blocks until the client has the answer's headers, the request has
// ended, or max has passed; it says whether there are any.
func (p *Pending) AwaitHeaders(ctx context.Context, max time.Duration) bool {
	return p.await(ctx, max, func(r *history.Request) bool { return r.Status != 0 })
}

func (p *Pending) await(ctx context.Context, max time.Duration, holds func(*history.Request) bool) bool {
	ctx, stop := context.WithTimeout(ctx, max)
	defer stop()
	for {
		p.mu.Lock()
		seen, changed := holds(&p.req), p.changed
		p.mu.Unlock()
		if seen {
			return true
		}
		select {
		case <-changed:
		case <-p.done:
			p.mu.Lock()
			defer p.mu.Unlock()
			return holds(&p.req)
		case <-ctx.Done():
			return false
		}
	}
}

func (p *Pending) update(f func(r *history.Request)) {
	p.mu.Lock()
	f(&p.req)
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
}

// start sends q. The returned request ends by itself within its deadline; ended
// is told how before anybody who waits for it.
func (c *client) start(ctx context.Context, q Req, ended func(history.End)) (*Pending, error) {
	path, header, body, err := q.render(c.carrier)
	if err != nil {
		return nil, err
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(parent, q.Deadline)
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("request to %s%s: %w", c.base, path, err)
	}
	hr.Header = header
	if q.Chunked {
		hr.ContentLength, hr.GetBody = -1, nil
	}
	if q.Uploads {
		hr.Body, hr.GetBody = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), leaver{})), nil
	}
	sum := sha256.Sum256(body)
	p := &Pending{cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	p.req = history.Request{
		Key: q.Key, Session: cmp.Or(q.Counts, q.Session), Turn: q.Turn, Phase: q.Phase, Endpoint: q.Endpoint, Stream: q.Stream,
		Pin: q.Pin, PrefillPin: q.PrefillPin, Asks: q.Asks, Kept: q.Kept, Chunked: q.Chunked, Model: q.Model, Path: path, SentHeader: header.Clone(), SentBodySHA256: hex.EncodeToString(sum[:]),
		SentBodyBytes: int64(len(body)), Sent: c.now(), HeadersAt: history.Unset, Ended: history.Unset,
	}
	if len(body) <= ledger.KeepBody {
		p.req.SentBody = body
	} else {
		p.req.SentValue = ledger.ValueSHA256(body)
	}
	go func() {
		defer close(p.done)
		defer cancel()
		var end history.End
		var cause error
		tr := c.kept
		if !q.Kept {
			var forget func()
			tr, forget = newTransportForOne()
			defer tr.CloseIdleConnections()
			defer func() {
				if end == history.Complete {
					forget()
				}
			}()
		}
		end, cause = p.run(c.now, tr, hr, body)
		p.update(func(r *history.Request) {
			r.Ended, r.End = c.now(), end
			if errors.Is(cause, errLeft) {
				r.End = history.Cancelled
			} else if end != history.Complete && ctx.Err() != nil {
				switch {
				case p.left:
					r.End = history.Cancelled
				case parent.Err() != nil:
					r.End = history.Cut
				default:
					r.End = history.Timeout
				}
			}
			if cause != nil {
				r.Err = cause.Error()
			}
			end = r.End
		})
		ended(end)
	}()
	return p, nil
}

// run makes the round trip and reads the answer.
func (p *Pending) run(now func() time.Duration, tr *http.Transport, hr *http.Request, body []byte) (history.End, error) {
	var reused bool
	traced := hr.WithContext(httptrace.WithClientTrace(hr.Context(), &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused },
	}))
	resp, err := tr.RoundTrip(traced)
	if err != nil && reused && hr.Context().Err() == nil && !errors.Is(err, errLeft) {
		// A server may close an idle connection at any time, also as a request is on
		// its way; a client then sends it again over a fresh one (RFC 9112, 9.3.1). If
		// it had been taken after all, the ledger shows two dispatches.
		p.update(func(r *history.Request) { r.Resent = true })
		fresh := newTransport()
		defer fresh.CloseIdleConnections()
		again := hr.Clone(hr.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		resp, err = fresh.RoundTrip(again)
	}
	if err != nil {
		if strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), "exceeded") {
			return history.Malformed, err
		}
		return history.Failed, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 {
		return history.Malformed, fmt.Errorf("status %d is no answer to this request", resp.StatusCode)
	}
	p.update(func(r *history.Request) {
		r.HeadersAt, r.Status, r.Header = now(), resp.StatusCode, resp.Header
	})
	sum := sha256.New()
	in := &tee{r: resp.Body, each: func(b []byte) {
		sum.Write(b)
		p.mu.Lock()
		p.req.BodyBytes += int64(len(b))
		if room := ledger.KeepBody - len(p.req.Body); room > 0 {
			p.req.Body = append(p.req.Body, b[:min(room, len(b))]...)
		}
		p.mu.Unlock()
	}}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		err = p.events(now, in)
	} else {
		_, err = io.Copy(io.Discard, in)
	}
	p.update(func(r *history.Request) { r.BodySHA256 = hex.EncodeToString(sum.Sum(nil)) })
	switch {
	case err == nil:
		return history.Complete, nil
	case errors.Is(err, errOversize):
		return history.Oversize, err
	case errors.Is(err, io.ErrUnexpectedEOF), isReset(err):
		return history.Truncated, err
	default:
		return history.Malformed, err
	}
}

// errLeft is how an upload ends whose client leaves.
var errLeft = errors.New("the client left in the middle of its upload")

// leaver is the rest of such an upload. The transport closes the connection on it.
type leaver struct{}

func (leaver) Read([]byte) (int, error) { return 0, errLeft }

func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

// lineReaders are the buffers of answers that are read: one for each stream of a
// run would be a sixth of all that it allocates.
var lineReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

// events reads server-sent events line by line and notes each one's arrival at
// the blank line that ends it.
func (p *Pending) events(now func() time.Duration, body io.Reader) error {
	in := lineReaders.Get().(*bufio.Reader)
	in.Reset(body)
	defer func() {
		in.Reset(nil)
		lineReaders.Put(in)
	}()
	var data []byte
	var has bool
	seen := 0
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil // a long line is read in pieces; only its start is kept
		}
		if err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		text := bytes.TrimRight(line, "\r\n")
		switch {
		case bytes.HasPrefix(text, []byte("data:")):
			data = append(data, bytes.TrimPrefix(text[len("data:"):], []byte(" "))...)
			has = true
		case len(text) == 0 && has:
			whole := string(data)
			p.update(func(r *history.Request) {
				r.Events = append(r.Events, history.Event{At: now(), Data: whole[:min(len(whole), maxData)]})
				r.Done = r.Done || whole == "[DONE]"
			})
			if seen++; seen > maxEvents {
				return errOversize
			}
			data, has = data[:0], false
		}
		if len(data) > maxAnswer {
			return errOversize
		}
	}
}

var errOversize = fmt.Errorf("the answer is longer than %d bytes or %d events; reading stopped", maxAnswer, maxEvents)

// tee shows every byte read to each, and stops at maxAnswer.
type tee struct {
	r    io.Reader
	n    int
	each func([]byte)
}

func (t *tee) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	t.each(b[:n])
	if t.n += n; t.n > maxAnswer {
		return n, errOversize
	}
	return n, err
}
