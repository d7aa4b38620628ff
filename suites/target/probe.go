package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	probeDeadline = time.Second           // for one probe
	probeEvery    = 20 * time.Millisecond // between two
	probeBody     = 64 << 10              // bytes of an answer that are read
)

// answer is what a probe saw.
type answer struct {
	status int
	body   []byte // at most probeBody
}

// probe asks once, over a connection of its own, straight (no proxy, no redirects),
// and reads no more than probeBody. Whatever answers cannot hold it longer than
// limit.
func probe(ctx context.Context, url string, limit time.Duration) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no whole answer within %v", limit))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	transport := &http.Transport{
		DialContext:            (&net.Dialer{}).DialContext,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: probeBody,
	}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return answer{}, cause(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, probeBody))
	if err != nil {
		return answer{}, cause(ctx, err)
	}
	return answer{status: res.StatusCode, body: body}, nil
}

func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// describe puts the outcome of a probe into words.
func describe(a answer, err error) string {
	if err != nil {
		return err.Error()
	}
	const shown = 120
	if len(a.body) > shown {
		return fmt.Sprintf("status %d with a body of %d bytes or more that begins %q", a.status, len(a.body), a.body[:shown])
	}
	return fmt.Sprintf("status %d with the body %q", a.status, a.body)
}

// answers returns nil as soon as url speaks HTTP, whatever it says.
func answers(ctx context.Context, url string) error {
	var refused error
	for range 3 {
		_, err := probe(ctx, url, 2*probeDeadline)
		if err == nil {
			return nil
		}
		refused = err
	}
	return refused
}

var errEnded = errors.New("its process ended")

// alive derives a context that also ends, with the cause errEnded, when the
// process does.
func alive(ctx context.Context, exited <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-exited:
			cancel(errEnded)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled); <-done }
}

// pause waits; false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitStatus polls until url answers with the status. The error says what was
// seen last.
func awaitStatus(ctx context.Context, url string, status int) error {
	last := "nothing yet"
	for {
		a, err := probe(ctx, url, probeDeadline)
		if err == nil && a.status == status && ctx.Err() == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = describe(a, err)
		}
		if !pause(ctx, probeEvery) {
			return fmt.Errorf("%w; GET %s last saw: %s", context.Cause(ctx), url, last)
		}
	}
}
