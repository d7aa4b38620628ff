package router

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// clientStall is the longest that one write to a client may take before the
// client counts as gone. It frees the worker of a client that has stopped
// reading without closing its connection.
const clientStall = 60 * time.Second

const relayBuffer = 32 << 10

var buffers = sync.Pool{New: func() any { return new([relayBuffer]byte) }}

// StreamRelay flushes after every read, so that each event of a stream leaves
// the moment it has come. Status, end-to-end headers, body bytes and trailers
// arrive as the worker sent them; nothing is added.
type StreamRelay struct{}

// Relay implements Relay.
func (StreamRelay) Relay(w http.ResponseWriter, resp *http.Response) error {
	rc := http.NewResponseController(w)
	h := w.Header()
	copyHeader(h, resp.Header)
	for _, name := range [...]string{"Content-Type", "Date"} {
		if _, ok := h[name]; !ok {
			h[name] = nil // the server would make one up
		}
	}
	defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()
	w.WriteHeader(resp.StatusCode)
	if resp.ContentLength < 0 { // a stream: its first byte may be a long way off
		if err := flush(rc); err != nil {
			return err
		}
	}
	buf := buffers.Get().(*[relayBuffer]byte)
	defer buffers.Put(buf)
	for {
		n, readErr := resp.Body.Read(buf[:])
		if n > 0 {
			_ = rc.SetWriteDeadline(time.Now().Add(clientStall)) // not every writer has deadlines
			if _, err := w.Write(buf[:n]); err != nil {
				return fmt.Errorf("writing to the client: %w", err)
			}
			if err := flush(rc); err != nil {
				return err
			}
		}
		switch {
		case readErr == io.EOF:
			for name, values := range resp.Trailer {
				h[http.TrailerPrefix+name] = values
			}
			return nil
		case readErr != nil:
			_ = flush(rc) // the headers at least are true
			return fmt.Errorf("reading the worker's response: %w", readErr)
		}
	}
}

func flush(rc *http.ResponseController) error {
	if err := rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("writing to the client: %w", err)
	}
	return nil
}
