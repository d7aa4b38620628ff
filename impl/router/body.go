package router

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyStall is the longest that a client may send nothing in the middle of its
// request body.
const bodyStall = 30 * time.Second

// readBody reads the whole body, so that it can be sent again, and so that the
// server sees at once when the client leaves.
func readBody(w http.ResponseWriter, req *http.Request, limit int64) ([]byte, error) {
	tooLarge := errorf(BodyTooLarge, "the request body is larger than %d bytes", limit)
	if req.ContentLength > limit {
		return nil, tooLarge
	}
	rc := http.NewResponseController(w)
	in := http.MaxBytesReader(w, req.Body, limit)
	// A client's word on the length is believed only as far as it costs little.
	body := make([]byte, 0, min(max(req.ContentLength, 511), 1<<20)+1)
	for {
		_ = rc.SetReadDeadline(time.Now().Add(bodyStall)) // not every connection has deadlines
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == nil {
			if len(body) == cap(body) {
				body = append(body, 0)[:len(body)]
			}
			continue
		}
		_ = rc.SetReadDeadline(time.Time{})
		var timeout interface{ Timeout() bool }
		switch {
		case err == io.EOF:
			return body, nil
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, tooLarge
		case errors.As(err, &timeout) && timeout.Timeout():
			return nil, errorf(BodyTimeout, "the request body stalled for %v", bodyStall)
		}
		return nil, errorf(InvalidArgument, "the request body could not be read: %v", err)
	}
}
