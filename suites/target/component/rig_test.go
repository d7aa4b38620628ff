package component

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary plays adapters that are processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "play" {
		play(os.Args[2])
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every process sleeps for a second at its end
	goleak.VerifyTestMain(m)
}

// fake is the adapter's side of a conversation.
type fake struct {
	from *bufio.Reader
	to   io.Writer
}

// heard is a request as a fake hears it.
type heard struct {
	ID   json.RawMessage `json:"id"`
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

// hear returns the next request; ok is false at the end.
func (f *fake) hear() (r heard, ok bool) {
	line, err := f.from.ReadString('\n')
	return r, err == nil && json.Unmarshal([]byte(line), &r) == nil
}

// say writes a line, formatted.
func (f *fake) say(format string, args ...any) {
	_, _ = fmt.Fprintf(f.to, format+"\n", args...)
}

// listen hears requests until the end.
func (f *fake) listen() {
	for ok := true; ok; {
		_, ok = f.hear()
	}
}

// opened has a conversation with a fake, which ends its output when it returns.
func opened(t *testing.T, adapter func(*fake)) *Client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer outW.Close()
		adapter(&fake{bufio.NewReader(inR), outW})
	}()
	c := Open(inW, outR, Options{Grace: 50 * time.Millisecond, End: func(context.Context) error {
		_ = inR.Close()
		return nil
	}})
	t.Cleanup(func() {
		_ = c.Close(t.Context())
		<-ended
	})
	return c
}

// limited is a context that ends soon, for what must not come.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// patient is a context for what must come.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

const helloOK = `{"name":"n","version":"v","protocol":1,"components":["affinity"],"claims":[]}`
