package bench

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/history"
)

// A client that leaves in its upload has sent the headers and half of the body, tells of
// itself that it left, and does not come back, over a connection that was kept neither.
func TestAClientLeavesInItsUpload(t *testing.T) {
	type seen struct {
		got  int
		want int64
		err  error
	}
	all := make(chan seen, 4)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		all <- seen{len(b), r.ContentLength, err}
	}))
	defer s.Close()
	begin := time.Now()
	c := newClient(s.URL, func() time.Duration { return time.Since(begin) }, carrier{header: "X-Session-ID"})
	defer c.kept.CloseIdleConnections()
	for i, uploads := range []bool{false, true} { // the second over the first one's connection
		p, err := c.start(context.Background(), Req{Key: "k", Prompt: strings.Repeat("tokens and ", 3000), Kept: true, Uploads: uploads, Deadline: 10 * time.Second}, func(history.End) {})
		if err != nil {
			t.Fatal(err)
		}
		end, want := p.Wait().End, []history.End{history.Complete, history.Cancelled}[i]
		got := <-all
		switch {
		case end != want:
			t.Errorf("ended %s, not %s", end, want)
		case uploads && (!errors.Is(got.err, io.ErrUnexpectedEOF) || int64(got.got) != got.want/2):
			t.Errorf("the server read %d of %d bytes, then %v", got.got, got.want, got.err)
		case !uploads && got.err != nil:
			t.Error(got.err)
		}
	}
	if len(all) > 0 {
		t.Error("it came again")
	}
}
