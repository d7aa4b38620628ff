package adapter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talk is a conversation with Serve over pipes.
type talk struct {
	t      *testing.T
	ask    *io.PipeWriter
	heard  chan string // lines, closed at the end
	served chan error
}

func begin(t *testing.T) *talk {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	// The room is for whoever says more before it hears what has come: an adapter may
	// wait until it is heard.
	k := &talk{t, inW, make(chan string, 10_000), make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		k.served <- Serve(ctx, inR, outW)
		outW.Close()
	}()
	go func() {
		defer close(k.heard)
		for from := bufio.NewReaderSize(outR, 1<<20); ; {
			line, err := from.ReadString('\n')
			if err != nil {
				return
			}
			k.heard <- line
		}
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		for range k.heard {
		}
	})
	return k
}

func (k *talk) say(line string) {
	k.t.Helper()
	if _, err := io.WriteString(k.ask, line+"\n"); err != nil {
		k.t.Fatal(err)
	}
}

// hear returns the next answer.
func (k *talk) hear() string {
	k.t.Helper()
	select {
	case line, ok := <-k.heard:
		if !ok {
			k.t.Fatal("the conversation has ended")
		}
		return strings.TrimSpace(line)
	case <-time.After(time.Minute): // only against hanging; 16 MiB under the race detector take a while
		k.t.Fatal("no answer")
	}
	return ""
}

// get asks for something that is answered at once.
func (k *talk) get(format string, args ...any) string {
	k.t.Helper()
	k.say(fmt.Sprintf(format, args...))
	return k.hear()
}

// wants asks and compares a part of the answer.
func (k *talk) wants(part, format string, args ...any) {
	k.t.Helper()
	if got := k.get(format, args...); !strings.Contains(got, part) {
		k.t.Errorf("%s\n got %s\nwant %s", fmt.Sprintf(format, args...), got, part)
	}
}

// instance makes i1, where worker w lives.
func (k *talk) instance() {
	k.t.Helper()
	k.wants(`"i1"`, `{"id":"new","op":"new","args":{"component":"affinity","config":{"idleTTL":10000}}}`)
	k.wants(`"ok"`, `{"id":"set","op":"workers.set","args":{"instance":"i1","workers":[{"id":"w","ranks":1}]}}`)
}

func TestALineThatIsNoRequestIsAnsweredWithoutAnID(t *testing.T) {
	k := begin(t)
	for name, line := range map[string]string{
		"not JSON":             `hello`,
		"not UTF-8":            "{\"id\":1,\"op\":\"sync\xff\"}",
		"an array":             `[1]`,
		"null":                 `null`,
		"two objects":          `{"id":1,"op":"sync"}{"id":2,"op":"sync"}`,
		"an unknown member":    `{"id":1,"op":"sync","arg":{}}`,
		"no id":                `{"op":"sync"}`,
		"an id that is a list": `{"id":[1],"op":"sync"}`,
		"an id that is null":   `{"id":null,"op":"sync"}`,
		"an id below zero":     `{"id":-1,"op":"sync"}`,
		"binary":               "\x00\x01\x02",
	} {
		t.Run(name, func(t *testing.T) {
			if got := k.get("%s", line); !strings.HasPrefix(got, `{"id":null,"error":{"kind":"invalid_argument","message":"`) {
				t.Errorf("answered %s", got)
			}
		})
	}
	k.say("") // no request at all
	k.wants(`{"id":"still here","ok":{"parked":[]}}`, `{"id":"still here","op":"sync"}`)
}

func TestArgsThatAreWrongAreRefused(t *testing.T) {
	k := begin(t)
	k.instance()
	for _, call := range []string{
		`"op":"hello","args":{}`, // no protocol is another protocol
		`"op":"hello","args":{"protocol":"1"}`, `"op":"new","args":{"component":"affinity","config":{}}`,
		`"op":"new","args":{"component":"affinity","config":{"idleTTL":1e3}}`, `"op":"new","args":{"component":"affinity","config":{"idleTTL":1000,"capacity":0}}`,
		`"op":"new","args":{"component":"affinity","config":{"idleTTL":1000,"initWait":0}}`, `"op":"new","args":{"component":"affinity","config":{"idleTTL":1000,"atCapacity":"shrug"}}`,
		`"op":"new","args":{"component":"affinity","config":{"idleTTL":9223372036854775807}}`,
		`"op":"sync","args":{"x":1}`, `"op":"close","args":{"instance":"i9"}`, `"op":"clock.advance","args":{"instance":"i1","by":-1}`,
		`"op":"clock.advance","args":{"instance":"i1","by":9007199254740991}`, `"op":"clock.advance","args":{"instance":"i9","by":1}`,
		`"op":"workers.set","args":{"instance":"i1","workers":[{"id":"w","ranks":0}]}`, `"op":"workers.set","args":{"instance":"i1","workers":[{"id":"","ranks":1}]}`,
		`"op":"workers.set","args":{"instance":"i9","workers":[]}`, `"op":"acquire"`, `"op":"acquire","args":{"instance":"i1","session":7}`,
		`"op":"acquire","args":{"instance":"i1","model":"m","session":"s","phase":"warmup"}`, `"op":"acquire","args":{"instance":"i1","model":"m","session":"s","sesion":"s"}`,
		`"op":"commit","args":{"lease":"l1"}`, `"op":"commit","args":{"lease":0,"target":{"worker":"w"}}`, `"op":"release","args":{"lease":0}`, `"op":"release","args":{}`,
		`"op":"count","args":{"instance":"i9"}`, `"op":"batch","args":{}`, `"op":"batch","args":{"ops":[]}`,
	} {
		got := k.get(`{"id":1,%s}`, call)
		if !strings.HasPrefix(got, `{"id":1,"error":{"kind":"invalid_argument"`) && !strings.HasPrefix(got, `{"id":1,"error":{"kind":"unsupported"`) {
			t.Errorf("%s was answered %s", call, got)
		}
	}
	k.wants(`"kind":"unsupported"`, `{"id":2,"op":"new","args":{"component":"kvindex","config":{}}}`)
	k.wants(`[{"error":{"kind":"unsupported"`, `{"id":3,"op":"batch","args":{"ops":[{"op":"sync"}]}}`)
	k.wants(`[{"error":{"kind":"unsupported"`, `{"id":4,"op":"batch","args":{"ops":[{"op":"batch","args":{"ops":[]}}]}}`)
}

func TestAnIDGoesBackAsItCame(t *testing.T) {
	k := begin(t)
	for _, id := range []string{`0`, `9007199254740991`, `"7"`, `"\u00e9<&"`, `"` + strings.Repeat("x", 64) + `"`} {
		k.wants(`{"id":`+id+`,"ok"`, `{"id":%s,"op":"sync"}`, id)
	}
}

func TestALineAtTheLimitIsReadAndALongerOneEndsTheConversation(t *testing.T) {
	k := begin(t)
	k.instance()
	const before, after = `{"id":1,"op":"query","args":{"instance":"i1","model":"m","session":"`, `"}}`
	k.wants(`"kind":"invalid_argument"`, "%s", before+strings.Repeat("x", maxLine-len(before)-len(after))+after)
	go func() { _, _ = io.WriteString(k.ask, before+strings.Repeat("x", maxLine)+"\n") }()
	if got := k.hear(); !strings.HasPrefix(got, `{"id":null,"error":{"kind":"invalid_argument"`) {
		t.Errorf("answered %s", got)
	}
	if err := <-k.served; !errors.Is(err, errTooLong) {
		t.Errorf("Serve = %v", err)
	}
}

func TestTheEndOfTheInputEndsItWithoutAnswers(t *testing.T) {
	k := begin(t)
	k.instance()
	const acquire = `{"id":"%s","op":"acquire","args":{"instance":"i1","model":"m","session":"s"}}`
	k.wants(`"initializer"`, acquire, "a")
	k.say(fmt.Sprintf(acquire, "b"))
	k.wants(`["b"]`, `{"id":2,"op":"sync"}`)
	k.ask.Close()
	if err := <-k.served; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if rest, ok := <-k.heard; ok {
		t.Errorf("afterwards it said %s", rest)
	}
}

func TestALastLineWithoutLineFeedCounts(t *testing.T) {
	var out bytes.Buffer
	if err := Serve(t.Context(), strings.NewReader(`{"id":1,"op":"sync"}`), &out); err != nil || out.String() != `{"id":1,"ok":{"parked":[]}}`+"\n" {
		t.Errorf("Serve = %v, out %q", err, &out)
	}
}

// broken can be neither read nor written.
type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errors.New("no more") }
func (broken) Write([]byte) (int, error) { return 0, errors.New("no more") }

func TestErrorsOfTheConversationAreReturned(t *testing.T) {
	if err := Serve(t.Context(), broken{}, io.Discard); err == nil || !strings.Contains(err.Error(), "read: no more") {
		t.Errorf("a broken input: %v", err)
	}
	if err := Serve(t.Context(), strings.NewReader(`{"id":1,"op":"sync"}`), broken{}); err == nil || !strings.Contains(err.Error(), "write: no more") {
		t.Errorf("a broken output: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, strings.NewReader(`{"id":1,"op":"sync"}`), io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func TestAnIDUnderWayIsRefused(t *testing.T) {
	k := begin(t)
	k.instance()
	k.wants(`"initializer"`, `{"id":"a","op":"acquire","args":{"instance":"i1","model":"m","session":"s"}}`)
	k.say(`{"id":"b","op":"acquire","args":{"instance":"i1","model":"m","session":"s"}}`)
	k.wants(`"kind":"invalid_argument"`, `{"id":"\u0062","op":"acquire","args":{"instance":"i1","model":"m","session":"s"}}`)
	k.wants(`["b"]`, `{"id":3,"op":"sync"}`)
}

func TestALeaseIsRememberedForAThousandEnds(t *testing.T) {
	k := begin(t)
	k.instance()
	turn := func(id int) (lease string) {
		var a struct{ OK acquired }
		line := k.get(`{"id":%d,"op":"acquire","args":{"instance":"i1","model":"m","session":"s"}}`, id)
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.OK.Lease == "" {
			t.Fatal(line)
		}
		return a.OK.Lease
	}
	first := turn(0)
	k.wants(`"ok"`, `{"id":1,"op":"release","args":{"lease":"%s"}}`, first)
	for n := range remembered {
		if got := k.get(`{"id":2,"op":"commit","args":{"lease":"%s","target":{"worker":"w"}}}`, first); strings.Contains(got, "never was") {
			t.Fatalf("forgotten after %d: %s", n, got)
		}
		k.wants(`"ok"`, `{"id":3,"op":"release","args":{"lease":"%s"}}`, turn(4))
	}
	k.wants("never was", `{"id":5,"op":"commit","args":{"lease":"%s","target":{"worker":"w"}}}`, first)
	k.wants(`"ok"`, `{"id":6,"op":"release","args":{"lease":"%s"}}`, first)
}
