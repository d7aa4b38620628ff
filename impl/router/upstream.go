package router

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/routeproof/routeproof/impl/fleet"
	"github.com/routeproof/routeproof/impl/pins"
)

// idleUpstream is how long an unused connection to a worker is kept. It is short
// because a request that meets a connection the worker is just closing fails
// visibly and is not repeated behind Failover's back; common servers close
// theirs after 5 s.
const idleUpstream = 2 * time.Second

const maxDial = 5 * time.Second

// NewTransport makes the reference's transport: plain HTTP/1.1, no proxy from
// the environment, no Accept-Encoding of its own, connections kept for
// reuse. A connection that is not made within headerTimeout, or 5 s if that is
// less, has failed.
func NewTransport(headerTimeout time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: min(maxDial, headerTimeout), KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    maxDial,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        idleUpstream,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// once is a body that can be sent one time. Being no type that net/http knows,
// and coming without GetBody, it keeps the transport from repeating a request by
// itself.
type once struct{ io.Reader }

func (once) Close() error { return nil }

// outgoing makes the request for one attempt: method, path, query, end-to-end
// headers and body as the client sent them, but what it says to the router is
// taken out, and the rank that was chosen is said to the worker.
func outgoing(ctx context.Context, in *http.Request, body io.Reader, length int64, to fleet.Place) *http.Request {
	worker := to.URL()
	target := &url.URL{Scheme: worker.Scheme, Host: worker.Host, RawQuery: in.URL.RawQuery, ForceQuery: in.URL.ForceQuery}
	if path, _, _ := strings.Cut(in.RequestURI, "?"); strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") {
		target.Opaque = path // the very bytes, not an equivalent spelling
	} else {
		target.Path, target.RawPath = in.URL.Path, in.URL.RawPath
	}
	header := make(http.Header, len(in.Header)+1)
	copyHeader(header, in.Header)
	delete(header, "Expect") // answered already: the body is here
	delete(header, QueryHeader)
	pins.Strip(header)
	if r, ok := to.Rank().Value(); ok {
		header[pins.RankHeader] = []string{strconv.FormatUint(uint64(r), 10)}
	}
	if _, ok := header["User-Agent"]; !ok {
		header["User-Agent"] = []string{""} // none, instead of net/http's own
	}
	out := &http.Request{
		Method: in.Method, URL: target, Host: worker.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: length, Body: once{body},
	}
	return out.WithContext(ctx)
}

// ending calls onEnd when the body has been read to its end, well or badly.
type ending struct {
	io.ReadCloser
	onEnd func()
}

func (e ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil {
		e.onEnd()
	}
	return n, err
}
