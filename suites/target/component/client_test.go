package component

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAnswersMayOvertake(t *testing.T) {
	const n = 50
	c := opened(t, func(f *fake) {
		var ids []string
		for range n {
			r, _ := f.hear()
			ids = append(ids, string(r.ID))
		}
		rand.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		for _, id := range ids {
			f.say(`{"id":%s,"ok":{"instance":"i%s"}}`, id, id)
		}
		f.listen()
	})
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			id, err := c.Start(patient(t), OpNew, NewArgs{Component: "x", Config: struct{}{}})
			if err != nil {
				t.Error(err)
				return
			}
			a, err := c.Await(patient(t), id)
			var i Instance
			if err == nil {
				err = a.Into(&i)
			}
			if err != nil || a.ID != id || i.Instance != "i"+id.String() {
				t.Errorf("operation %v got %+v, %v", id, a, err)
			}
			lines := c.Transcript(0)
			if !lines[a.Asked].Sent || lines[a.Arrived].Sent || !strings.Contains(lines[a.Arrived].Text, i.Instance+`"`) {
				t.Errorf("its lines are %v and %v", lines[a.Asked], lines[a.Arrived])
			}
		})
	}
	all.Wait()
	lines := c.Transcript(0)
	if len(lines) != 2*n {
		t.Fatalf("%d lines", len(lines))
	}
	for i := range n { // requests left in the order of their ids
		if want := fmt.Sprintf(`{"id":%d,`, i+1); !strings.HasPrefix(lines[i].Text, want) || i > 0 && lines[i].At < lines[i-1].At {
			t.Errorf("line %d is %v", i, lines[i])
		}
	}
}

func TestAnAdapterThatNeverReadsStopsNobody(t *testing.T) {
	over := make(chan struct{})
	c := opened(t, func(*fake) { <-over })
	defer close(over)
	var f *Fault
	for name, try := range map[string]func() error{ // the pipe takes nothing: the first is handed over and stuck
		"the first":  func() error { _, err := c.Sync(limited(t)); return err },
		"the second": func() error { _, err := c.Sync(limited(t)); return err },
	} {
		if err := try(); !errors.As(err, &f) || f.Kind != NoAnswer {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	cancel(why)
	if _, err := c.Start(ctx, OpSync, nil); !errors.Is(err, why) {
		t.Errorf("with a context that ended: %v", err)
	}
	err := c.Close(t.Context())
	if !errors.As(err, &f) || f.Kind != Stays {
		t.Errorf("Close = %v, want that it stays", err)
	}
	if again := c.Close(t.Context()); again != err {
		t.Errorf("a second Close = %v", again)
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	c := opened(t, (*fake).listen)
	id, err := c.Start(patient(t), OpSync, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	time.AfterFunc(5*time.Millisecond, func() { cancel(why) })
	if _, err := c.Await(ctx, id); !errors.Is(err, why) {
		t.Errorf("Await = %v", err)
	}
}

func TestAClosedClientAnswersNothing(t *testing.T) {
	c := opened(t, (*fake).listen)
	id, err := c.Start(patient(t), OpSync, nil)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := c.Await(patient(t), id)
		waiting <- err
	}()
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; !errors.Is(err, errClosed) {
		t.Errorf("Await = %v", err)
	}
	if _, err := c.Start(patient(t), OpSync, nil); !errors.Is(err, errClosed) {
		t.Errorf("Start = %v", err)
	}
	if c.Fault() != nil {
		t.Errorf("Fault() = %v", c.Fault())
	}
}

// Who is trusted sends what the schema forbids, and still nothing that no line can hold.
func TestTheTrustedAreNotHeldAgainstTheSchema(t *testing.T) {
	c := opened(t, (*fake).listen)
	c.Trust()
	ctx := patient(t)
	if _, err := c.Start(ctx, OpCancel, map[string]any{"op": 1}); err != nil {
		t.Errorf("a request of the trusted was held against the schema: %v", err)
	}
	if _, err := c.Start(ctx, OpQuery, Ask{Instance: "i", Session: "a\xff"}); err == nil {
		t.Error("a string that is not UTF-8 was sent")
	}
}

func TestOurOwnMistakesAreNoFaults(t *testing.T) {
	c := opened(t, (*fake).listen)
	ctx := patient(t)
	for name, start := range map[string]func() error{
		"an operation without args":   func() error { _, err := c.Start(ctx, OpNew, nil); return err },
		"args that are misspelt":      func() error { _, err := c.Start(ctx, OpCancel, map[string]any{"op": 1}); return err },
		"a name that is no name":      func() error { _, err := c.Start(ctx, "Hello World", nil); return err },
		"a batch in a batch":          func() error { _, err := c.Batch(ctx, Part{OpBatch, BatchArgs{}}); return err },
		"a batch of nothing":          func() error { _, err := c.Batch(ctx); return err },
		"a lease by index, alone":     func() error { _, err := c.Start(ctx, OpRelease, LeaseArgs{0}); return err },
		"a session that is not UTF-8": func() error { _, err := c.Start(ctx, OpQuery, Ask{Instance: "i", Session: "a\xff"}); return err },
		"args that cannot be encoded": func() error { _, err := c.Start(ctx, OpSync, make(chan int)); return err },
		"a line longer than the limit": func() error {
			_, err := c.Start(ctx, OpQuery, Ask{Instance: "i", Session: strings.Repeat("x", MaxLine)})
			return err
		},
		"an id that is too long":          func() error { return c.StartAs(ctx, StringID(strings.Repeat("x", 65)), OpSync, nil) },
		"a wait for an unknown operation": func() error { _, err := c.Await(ctx, NumberID(99)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			err := start()
			var f *Fault
			if err == nil || errors.As(err, &f) {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := c.StartAs(ctx, NumberID(50), OpSync, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.StartAs(ctx, NumberID(50), OpSync, nil); err == nil || !strings.Contains(err.Error(), "used already") {
		t.Errorf("an id twice: %v", err)
	}
	if c.Fault() != nil {
		t.Errorf("Fault() = %v", c.Fault())
	}
}

func TestWhatIsUnicodeIsSentAsItIs(t *testing.T) {
	heard := make(chan string, 1)
	c := opened(t, func(f *fake) {
		line, _ := f.from.ReadString('\n')
		heard <- line
		f.listen()
	})
	session := "\ufffd \\ufffd <&>\u2028 \x00 語"
	if _, err := c.Start(patient(t), OpQuery, Ask{Instance: "i", Model: "m", Session: session}); err != nil {
		t.Fatal(err)
	}
	if line := <-heard; !strings.Contains(line, "\ufffd \\\\ufffd <&>") || !strings.Contains(line, "語") {
		t.Errorf("sent %s", line)
	}
}

func TestALongLineIsCutInTheTranscriptAlone(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	c := opened(t, func(f *fake) {
		f.hear()
		f.say(`{"id":1,"error":{"kind":"internal","message":"%s"}}`, long)
		f.listen()
	})
	a, err := c.Call(patient(t), OpSync, nil)
	if err != nil || a.Err.Message != long {
		t.Fatalf("the answer was cut: %v", err)
	}
	if l := c.Transcript(0)[a.Arrived]; len(l.Text) > keepLine+100 || !strings.HasSuffix(l.Text, "bytes)") {
		t.Errorf("the transcript keeps %d bytes", len(l.Text))
	}
}

func TestIDsKeepTheirSpelling(t *testing.T) {
	for text, want := range map[string]ID{`7`: NumberID(7), `"7"`: StringID("7"), `"\u0037"`: StringID("7"), `7.0`: {"7.0", true}} {
		var id ID
		if err := id.UnmarshalJSON([]byte(text)); err != nil || id != want {
			t.Errorf("%s is %v, %v", text, id, err)
		}
	}
	for _, text := range []string{``, `null`, `-1`, `[1]`, `true`} {
		if err := new(ID).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is an id", text)
		}
	}
	if NumberID(7) == StringID("7") {
		t.Error("7 and \"7\" are one")
	}
}

// play is an adapter that is a process.
func play(mode string) {
	f := &fake{from: bufio.NewReader(os.Stdin), to: os.Stdout}
	fmt.Fprintln(os.Stderr, "playing", mode)
	switch mode {
	case "dies": // in the middle of an operation
		f.hear()
		fmt.Fprintln(os.Stderr, "panic: index out of range")
		os.Exit(3)
	case "stays": // when its input has ended
		f.listen()
		time.Sleep(time.Minute)
	case "deaf":
		time.Sleep(time.Minute)
	case "bad end":
		f.listen()
		os.Exit(7)
	case "silent end": // closes its output and runs on
		f.hear()
		_ = os.Stdout.Close()
		time.Sleep(time.Minute)
	}
	for {
		r, ok := f.hear()
		if !ok {
			os.Exit(0)
		}
		f.say(`{"id":%s,"ok":{"parked":[]}}`, r.ID)
	}
}

func TestAnAdapterThatIsAProcess(t *testing.T) {
	for name, c := range map[string]struct {
		mode        string
		call, close FaultKind
		text        string
	}{
		"that is as it should be":          {"good", "", "", ""},
		"that dies":                        {"dies", Ended, "", "exit status 3\nfrom its log:\n  playing dies\n  panic: index out of range"},
		"that stays when its input ends":   {"stays", NoAnswer, Stays, "ended by force"},
		"that neither reads nor writes":    {"deaf", NoAnswer, Stays, "ended by force"},
		"that does not end well":           {"bad end", NoAnswer, Ended, "exit status 7"},
		"that closes its output and stays": {"silent end", Ended, "", "ended before its input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := Launch(patient(t), []string{os.Args[0], "play", c.mode})
			if err != nil {
				t.Fatal(err)
			}
			client.opt.Grace = 20 * time.Second
			if c.close == Stays || c.mode == "silent end" { // these use it up
				client.opt.Grace = 100 * time.Millisecond
			}
			ctx := patient(t)
			if c.call == NoAnswer {
				ctx = limited(t)
			}
			_, err = client.Sync(ctx)
			text := fmt.Sprint(err)
			var f *Fault
			if errors.As(err, &f); (f == nil) != (c.call == "") || f != nil && f.Kind != c.call {
				t.Errorf("Sync = %v", err)
			}
			f = nil
			err = client.Close(t.Context())
			if errors.As(err, &f); (err == nil) != (c.close == "") || f != nil && f.Kind != c.close {
				t.Errorf("Close = %v", err)
			}
			if text += fmt.Sprint(err); !strings.Contains(text, c.text) {
				t.Errorf("nothing says %q:\n%s", c.text, text)
			}
		})
	}
}

func TestAnAdapterThatCannotBeStartedIsNamed(t *testing.T) {
	if _, err := Launch(t.Context(), nil); err == nil {
		t.Error("no command")
	}
	if _, err := Launch(t.Context(), []string{"no-such-adapter"}); err == nil || !strings.Contains(err.Error(), `"no-such-adapter" cannot be run`) {
		t.Errorf("Launch = %v", err)
	}
	file := t.TempDir() + "/text"
	if err := os.WriteFile(file, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Launch(t.Context(), []string{file}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Launch = %v", err)
	}
}

func TestTheEnvironmentReachesTheAdapter(t *testing.T) {
	sh := "/bin/sh"
	if _, err := os.Stat(sh); err != nil {
		t.Skip("no shell; install one as " + sh)
	}
	c, err := Launch(t.Context(), []string{sh, "-c", `echo "$GREETING" >&2; read x; exit 0`}, "GREETING=good morning")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Sync(patient(t))
	if cerr := c.Close(t.Context()); cerr != nil {
		t.Error(cerr)
	}
	if err == nil || !strings.Contains(err.Error(), "good morning") {
		t.Errorf("got %v", err)
	}
}
