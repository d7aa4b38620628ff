package component

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// Each adapter is asked to sync and does something else.
func TestEveryBreachOfTheProtocolIsAFaultThatShowsTheLine(t *testing.T) {
	answer := func(text string) func(*fake) {
		return func(f *fake) {
			f.hear()
			f.say("%s", text)
			f.listen()
		}
	}
	for name, c := range map[string]struct {
		adapter func(*fake)
		kind    FaultKind
		text    string // in the error
	}{
		"a line that is no JSON":               {answer("Traceback (most recent call last):"), Malformed, "line: Traceback"},
		"an empty line":                        {answer(""), Malformed, "no answer"},
		"a number":                             {answer("7"), Malformed, "line: 7"},
		"two objects on a line":                {answer(`{"id":1,"ok":{"parked":[]}} {}`), Malformed, "{}"},
		"a byte order mark":                    {answer("\ufeff" + `{"id":1,"ok":{"parked":[]}}`), Malformed, `\ufeff`},
		"bytes that are no text":               {answer("\x00\xff\x1b[31m"), Malformed, `\x00\xff\x1b[31m`},
		"a string that is not UTF-8":           {answer("{\"id\":1,\"ok\":{\"parked\":[\"\xff\"]}}"), Malformed, "UTF-8"},
		"a member twice":                       {answer(`{"id":1,"ok":{"parked":[]},"id":2}`), Malformed, `"id" is there twice`},
		"a member twice, deeper":               {answer(`{"id":1,"ok":{"parked":[],"parked":[]}}`), Malformed, `"parked" is there twice`},
		"an unknown member":                    {answer(`{"id":1,"ok":{"parked":[]},"took":3}`), Malformed, "took"},
		"neither ok nor error":                 {answer(`{"id":1}`), Malformed, "line: "},
		"both ok and error":                    {answer(`{"id":1,"ok":{},"error":{"kind":"stale","message":"m"}}`), Malformed, "line: "},
		"an ok that is no object":              {answer(`{"id":1,"ok":true}`), Malformed, "line: "},
		"an error that is a text":              {answer(`{"id":1,"error":"went wrong"}`), Malformed, "line: "},
		"a kind that nobody knows":             {answer(`{"id":1,"error":{"kind":"oops","message":"m"}}`), Malformed, "kind"},
		"an error without a message":           {answer(`{"id":1,"error":{"kind":"stale"}}`), Malformed, "message"},
		"an empty message":                     {answer(`{"id":1,"error":{"kind":"stale","message":""}}`), Malformed, "message"},
		"a result of another operation":        {answer(`{"id":1,"ok":{"instance":"i"}}`), Malformed, "the result of sync"},
		"a result with more than it should":    {answer(`{"id":1,"ok":{"parked":[],"Parked":[]}}`), Malformed, "Parked"},
		"no id":                                {answer(`{"ok":{"parked":[]}}`), Malformed, "id"},
		"an id that is null":                   {answer(`{"id":null,"error":{"kind":"invalid_argument","message":"what?"}}`), UnknownID, "what?"},
		"a result for the id null":             {answer(`{"id":null,"ok":{}}`), Malformed, "line: "},
		"an id below zero":                     {answer(`{"id":-1,"ok":{"parked":[]}}`), Malformed, "id"},
		"an id that was never sent":            {answer(`{"id":2,"ok":{"parked":[]}}`), UnknownID, "no operation with id 2 was sent"},
		"a string for a number":                {answer(`{"id":"1","ok":{"parked":[]}}`), UnknownID, `no operation with id "1" was sent, but 1 was: answer with the id exactly as it came`},
		"another spelling of the number":       {answer(`{"id":1.0,"ok":{"parked":[]}}`), UnknownID, "no operation with id 1.0 was sent, but 1 was:"},
		"a request in the wrong direction":     {answer(`{"id":1,"op":"sync"}`), Malformed, "op"},
		"parked that was never sent":           {answer(`{"id":1,"ok":{"parked":[9]}}`), OutOfOrder, "9 as parked"},
		"itself as parked":                     {answer(`{"id":1,"ok":{"parked":[1]}}`), OutOfOrder, "1 as parked"},
		"parked twice":                         {answer(`{"id":1,"ok":{"parked":[9,9]}}`), Malformed, "parked"},
		"a line that ends in the middle":       {func(f *fake) { f.hear(); _, _ = io.WriteString(f.to, `{"id":1,"ok"`) }, Malformed, `middle of a line; line: {"id":1,"ok"`},
		"an end at once":                       {func(*fake) {}, Ended, "ended before its input"},
		"an end after the request":             {func(f *fake) { f.hear() }, Ended, `request: {"id":1,"op":"sync"}`},
		"a line without end":                   {func(f *fake) { f.hear(); flood(f, strings.Repeat("x", 1<<20)) }, TooLong, "bytes)"},
		"a line that is longer than the limit": {answer(`{"id":1,"ok":{"parked":["` + strings.Repeat("x", MaxLine) + `"]}}`), TooLong, `{"id":1,"ok":{"parked":["xxx`},
		"lines without end":                    {func(f *fake) { f.hear(); flood(f, `{"id":2,"ok":{}}`+"\n") }, UnknownID, "id 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := opened(t, c.adapter)
			_, err := client.Call(patient(t), OpSync, nil)
			var f *Fault
			if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("got %v\nwant a fault %q with %q", err, c.kind, c.text)
			}
			if n := len(err.Error()); n > 2500 {
				t.Errorf("the error has %d bytes", n)
			}
			if client.Fault() != f {
				t.Errorf("Fault() = %v", client.Fault())
			}
			if _, again := client.Start(patient(t), OpSync, nil); !errors.As(again, &f) {
				t.Errorf("a request after the fault: %v", again)
			}
		})
	}
}

// flood writes a text until nobody reads any more.
func flood(f *fake, text string) {
	for err := error(nil); err == nil; {
		_, err = io.WriteString(f.to, text)
	}
}

// Each adapter is asked to acquire, and answers with a result that is wrong.
func TestEveryWrongResultOfAnAcquireIsMalformed(t *testing.T) {
	for name, ok := range map[string]string{
		"no state":                      `{}`,
		"another state":                 `{"state":"waiting","lease":"l"}`,
		"an initializer without lease":  `{"state":"initializer"}`,
		"an initializer with a target":  `{"state":"initializer","lease":"l","target":{"worker":"w"}}`,
		"bound to nothing":              `{"state":"bound","lease":"l"}`,
		"bound to a misspelt target":    `{"state":"bound","lease":"l","traget":{"worker":"w"}}`,
		"bound to a worker's name":      `{"state":"bound","lease":"l","target":"w"}`,
		"bound to a rank alone":         `{"state":"bound","lease":"l","target":{"rank":0}}`,
		"a rank that is null":           `{"state":"bound","lease":"l","target":{"worker":"w","rank":null}}`,
		"a rank below zero":             `{"state":"bound","lease":"l","target":{"worker":"w","rank":-1}}`,
		"a rank that is no whole":       `{"state":"bound","lease":"l","target":{"worker":"w","rank":0.5}}`,
		"a lease that is a number":      `{"state":"initializer","lease":1}`,
		"an empty lease":                `{"state":"initializer","lease":""}`,
		"a lease of the unpinned":       `{"state":"unpinned","lease":"l"}`,
		"a name in another case":        `{"State":"initializer","lease":"l"}`,
		"a list instead of an object":   `[]`,
		"a target that knows its model": `{"state":"bound","lease":"l","target":{"worker":"w","model":"m"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := opened(t, func(f *fake) {
				r, _ := f.hear()
				f.say(`{"id":%s,"ok":%s}`, r.ID, ok)
				f.listen()
			})
			_, err := Do[Acquired](patient(t), c, OpAcquire, Ask{Instance: "i", Model: "m", Session: "s"})
			var f *Fault
			if !errors.As(err, &f) || f.Kind != Malformed || f.Line == "" {
				t.Errorf("got %v, want a malformed line", err)
			}
		})
	}
}

func TestAnErrorMaySayMoreThanItMust(t *testing.T) {
	c := opened(t, func(f *fake) {
		f.hear()
		f.say(`{"id":1,"error":{"kind":"stale","message":"gone","lease":"l7"}}` + "\r")
		f.listen()
	})
	_, err := Do[struct{}](patient(t), c, OpRelease, LeaseArgs{"l7"})
	var e *Error
	if !errors.As(err, &e) || e.Kind != Stale || err.Error() != "stale: gone" {
		t.Errorf("got %v", err)
	}
}

func TestASecondAnswerIsAFaultBeforeAndAfterTheFirstWasTaken(t *testing.T) {
	for name, takeFirst := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			again := make(chan struct{})
			c := opened(t, func(f *fake) {
				f.hear()
				f.say(`{"id":1,"ok":{"parked":[]}}`)
				<-again
				f.say(`{"id":1,"ok":{"parked":[]}}`)
				f.listen()
			})
			id, err := c.Start(patient(t), OpSync, nil)
			if err != nil {
				t.Fatal(err)
			}
			if takeFirst {
				if _, err := c.Await(patient(t), id); err != nil {
					t.Fatal(err)
				}
			}
			close(again)
			<-c.over
			if f := c.Fault(); f == nil || f.Kind != SecondAnswer {
				t.Errorf("Fault() = %v", f)
			}
			if _, err := c.Await(patient(t), id); !takeFirst && err != nil {
				t.Errorf("the first answer was lost: %v", err)
			}
		})
	}
}

func TestNoAnswerInTimeAndALateOne(t *testing.T) {
	now := make(chan struct{})
	c := opened(t, func(f *fake) {
		f.hear()
		<-now
		f.say(`{"id":1,"ok":{"parked":[]}}`)
		f.listen()
	})
	_, err := c.Sync(limited(t))
	var f *Fault
	if !errors.As(err, &f) || f.Kind != NoAnswer || f.Request != `{"id":1,"op":"sync"}` {
		t.Fatalf("got %v, want no answer to the request", err)
	}
	if c.Fault() != nil {
		t.Fatalf("the conversation is over: %v", c.Fault())
	}
	close(now)
	<-c.over
	if f := c.Fault(); f == nil || f.Kind != LateAnswer || f.Line == "" {
		t.Errorf("Fault() = %v, want a late answer", f)
	}
}

func TestAForgottenLineFeedIsNamed(t *testing.T) {
	said := make(chan struct{})
	c := opened(t, func(f *fake) {
		f.hear()
		f.say(`{"id":1,"ok":{"parked":[]}}`)
		f.hear()
		_, _ = io.WriteString(f.to, `{"id":2,"ok":{"parked":[]}}`)
		close(said)
		f.listen()
	})
	if _, err := c.Sync(patient(t)); err != nil {
		t.Fatal(err)
	}
	id, err := c.Start(patient(t), OpSync, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-said // it has been read, as pipes have no room
	_, err = c.Await(limited(t), id)
	var f *Fault
	if !errors.As(err, &f) || f.Kind != NoAnswer || !strings.Contains(f.Problem, "without line feed") || f.Line != `{"id":2,"ok":{"parked":[]}}` {
		t.Errorf("got %v", err)
	}
}

func TestSyncIsHeldAgainstWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ parked, fault string }{
		"all that is open, in order": {`["a","b"]`, ""},
		"one that is answered":       {`["a","b","c"]`, `"c" as parked`},
		"one forgotten":              {`["b"]`, `"a" came earlier and is neither answered nor listed`},
		"in the wrong order":         {`["b","a"]`, "order of their lines"},
	} {
		t.Run(name, func(t *testing.T) {
			client := opened(t, func(f *fake) {
				f.hear()
				f.hear()
				f.hear()
				f.say(`{"id":"c","ok":{"state":"unpinned"}}`)
				f.hear()
				f.say(`{"id":1,"ok":{"parked":%s}}`, c.parked)
				f.listen()
			})
			for _, id := range []string{"a", "b", "c"} {
				if err := client.StartAs(patient(t), StringID(id), OpAcquire, Ask{Instance: "i", Model: "m", Session: "s"}); err != nil {
					t.Fatal(err)
				}
			}
			parked, err := client.Sync(patient(t))
			var f *Fault
			switch {
			case c.fault == "" && (err != nil || len(parked) != 2):
				t.Errorf("Sync = %v, %v", parked, err)
			case c.fault != "" && (!errors.As(err, &f) || f.Kind != OutOfOrder || !strings.Contains(err.Error(), c.fault)):
				t.Errorf("got %v, want %q", err, c.fault)
			}
		})
	}
}

func TestABatchIsCheckedPartByPart(t *testing.T) {
	part := Part{OpRelease, LeaseArgs{"l"}}
	for name, c := range map[string]struct{ claims, ok, fault string }{
		"as it should be":         {``, `{"answers":[{"ok":{}},{"error":{"kind":"stale","message":"m"}}],"ns":1}`, ""},
		"with steps":              {`"steps"`, `{"answers":[{"ok":{}},{"ok":{}}],"ns":1,"steps":0}`, ""},
		"one answer too few":      {``, `{"answers":[{"ok":{}}],"ns":1}`, "1 answers to a batch of 2"},
		"a part that is wrong":    {``, `{"answers":[{"ok":{}},{"ok":{"x":1}}],"ns":1}`, "answer 1 of the batch, the result of release"},
		"no time":                 {``, `{"answers":[{"ok":{}},{"ok":{}}]}`, "ns"},
		"steps without a claim":   {``, `{"answers":[{"ok":{}},{"ok":{}}],"ns":1,"steps":0}`, "steps must be there"},
		"a claim without steps":   {`"steps"`, `{"answers":[{"ok":{}},{"ok":{}}],"ns":1}`, "steps must be there"},
		"a part with both":        {``, `{"answers":[{"ok":{}},{"ok":{},"error":{"kind":"stale","message":"m"}}],"ns":1}`, "answers"},
		"a time that is no whole": {``, `{"answers":[{"ok":{}},{"ok":{}}],"ns":1.5}`, "ns"},
	} {
		t.Run(name, func(t *testing.T) {
			client := opened(t, func(f *fake) {
				f.hear()
				f.say(`{"id":"hello","ok":%s}`, strings.Replace(helloOK, `"claims":[`, `"claims":[`+c.claims, 1))
				f.hear()
				f.say(`{"id":1,"ok":%s}`, c.ok)
				f.listen()
			})
			if _, err := client.Hello(patient(t)); err != nil {
				t.Fatal(err)
			}
			got, err := client.Batch(patient(t), part, part)
			var f *Fault
			switch {
			case c.fault == "" && (err != nil || len(got.Answers) != 2 || got.NS != 1 || (got.Steps != nil) != (c.claims != "")):
				t.Errorf("Batch = %+v, %v", got, err)
			case c.fault != "" && (!errors.As(err, &f) || f.Kind != Malformed || !strings.Contains(err.Error(), c.fault)):
				t.Errorf("got %v, want %q", err, c.fault)
			}
		})
	}
}

func TestHello(t *testing.T) {
	for name, c := range map[string]struct{ answer, wrong string }{
		"an adapter of this protocol": {`"ok":` + helloOK, ""},
		"one of another":              {`"error":{"kind":"unsupported","message":"I speak 2"}`, "unsupported: I speak 2"},
		"one that says another":       {`"ok":` + strings.Replace(helloOK, `1`, `2`, 1), "protocol"},
		"a claim that is misspelt":    {`"ok":` + strings.Replace(helloOK, `[]`, `["concurency"]`, 1), "claims"},
		"no component":                {`"ok":` + strings.Replace(helloOK, `["affinity"]`, `[]`, 1), "components"},
		"no name":                     {`"ok":` + strings.Replace(helloOK, `"n"`, `""`, 1), "name"},
	} {
		t.Run(name, func(t *testing.T) {
			client := opened(t, func(f *fake) {
				f.hear()
				f.say(`{"id":"hello",%s}`, c.answer)
				f.listen()
			})
			h, err := client.Hello(patient(t))
			if c.wrong == "" && (err != nil || h.Name != "n" || h.Has(ClaimClock)) || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("Hello = %+v, %v", h, err)
			}
		})
	}
}

func TestALineIsShortenedAndMadePrintable(t *testing.T) {
	long := shorten([]byte(strings.Repeat("é", 10000)))
	if len(long) > 400 || !strings.Contains(long, "(20000 bytes)") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
	if got := shorten([]byte("a\tb\u202e\xff")); got != `a\tb\u202e\xff` {
		t.Errorf("got %s", got)
	}
}
