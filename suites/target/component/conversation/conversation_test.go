package conversation

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/suites/target/component"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	askNew   = `{"id":1,"op":"new","args":{"component":"affinity","config":{"idleTTL":1000}}}` + "\n"
	madeNew  = `{"id":1,"ok":{"instance":"$i"}}` + "\n"
	askQuery = `{"id":2,"op":"query","args":{"instance":"$i","model":"m","session":"s"}}` + "\n"
)

func TestABadConversationIsNamedByItsLine(t *testing.T) {
	for name, c := range map[string]struct{ text, problem string }{
		"nothing":                      {"\n\n", "no request in it"},
		"no JSON":                      {askNew + "\nwhat?", "x.jsonl:3: "},
		"a line of another protocol":   {`{"id":1,"op":"new","args":{"component":"affinity"}}`, "config"},
		"an answer first":              {madeNew, "x.jsonl:1: no request with id 1 waits"},
		"an answer to something else":  {askNew + `{"id":2,"ok":{}}`, "x.jsonl:2: no request with id 2"},
		"a second answer":              {askNew + madeNew + madeNew, "x.jsonl:3: no request with id 1"},
		"an id twice":                  {askNew + madeNew + askNew, "x.jsonl:3: id 1 was asked before"},
		"a variable out of nowhere":    {askNew + strings.Replace(madeNew, "$i", "i", 1) + askQuery, "x.jsonl:3: $i stands in no answer"},
		"a variable in a later answer": {askQuery, "$i stands in no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse("x.jsonl", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("Parse = %v, want %q", err, c.problem)
			}
		})
	}
}

func TestLoadReadsAFolderByName(t *testing.T) {
	files := fstest.MapFS{"b-second.jsonl": {Data: []byte(askNew)}, "a-first.jsonl": {Data: []byte(askNew)}, "README": {Data: []byte("no")}}
	all, err := Load(files)
	if err != nil || len(all) != 2 || all[0].Name != "a first" || all[1].Name != "b second" {
		t.Errorf("Load = %v, %v", all, err)
	}
	files["c.jsonl"] = &fstest.MapFile{Data: []byte("{}")}
	if _, err := Load(files); err == nil || !strings.Contains(err.Error(), "c.jsonl:1") {
		t.Errorf("Load = %v", err)
	}
	files["d.jsonl"] = &fstest.MapFile{Mode: fs.ModeDir}
	if _, err := Load(files); err == nil {
		t.Error("a folder was read")
	}
}

func TestNeedsFollowFromWhatIsAsked(t *testing.T) {
	for args, want := range map[string]string{
		`"op":"sync"`: "[]",
		`"op":"clock.advance","args":{"instance":"i","by":1}`:                                                              "[clock]",
		`"op":"count","args":{"instance":"i"}`:                                                                             "[count]",
		`"op":"new","args":{"component":"affinity","config":{"idleTTL":1},"concurrent":true}`:                              "[concurrency]",
		`"op":"acquire","args":{"instance":"i","model":"m","session":"s","tenant":"t","phase":"prefill"}`:                  "[phases tenant]",
		`"op":"acquire","args":{"instance":"i","model":"m","session":"s","phase":"decode","pin":{"worker":"w"}}`:           "[]",
		`"op":"acquire","args":{"instance":"i","model":"m","session":"s","pin":{"rank":0}}`:                                "[ranks]",
		`"op":"dump","args":{"instance":"i"}`:                                                                              "[dump]",
		`"op":"remove.await","args":{"token":"t"}`:                                                                         "[admission]",
		`"op":"flush","args":{"instance":"i"}`:                                                                             "[barrier]",
		`"op":"worker.remove","args":{"instance":"i","worker":"w"}`:                                                        "[lifecycle]",
		`"op":"physical.set","args":{"instance":"i","worker":"w","rank":0,"blocks":[]}`:                                    "[physical]",
		`"op":"store","args":{"instance":"i","session":"s","worker":"w","rank":0,"blocks":[]}`:                             "[]",
		`"op":"store","args":{"instance":"i","session":"s","worker":"w","rank":0,"blocks":[],"incarnation":"a"}`:           "[lifecycle]",
		`"op":"batch","args":{"ops":[{"op":"commit","args":{"lease":0,"target":{"worker":"w","rank":0}}},{"op":"other"}]}`: "[batch ranks]",
	} {
		v, err := Parse("x", []byte(`{"id":1,`+args+`}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(v.Needs()); got != want {
			t.Errorf("%s needs %s, want %s", args, got, want)
		}
	}
}

// scripted is an adapter that answers what it is told to, whatever is asked; a blank
// answer is none, and ASKED the id of the request.
func scripted(t *testing.T, claims string, answers ...string) *component.Client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() {
		defer outW.Close()
		from := bufio.NewReader(inR)
		answers := append([]string{`{"id":"hello","ok":{"name":"n","version":"v","protocol":1,"components":["x"],"claims":[` + claims + `]}}` + "\n"}, answers...)
		for {
			line, err := from.ReadString('\n')
			if err != nil {
				return
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(line, `{"id":`), ",")
			if len(answers) > 0 {
				_, _ = io.WriteString(outW, strings.ReplaceAll(answers[0], "ASKED", id))
				answers = answers[1:]
			}
		}
	}()
	c := component.Open(inW, outR, component.Options{})
	t.Cleanup(func() {
		if err := c.Close(t.Context()); err != nil && c.Fault() == nil {
			t.Error(err)
		}
	})
	return c
}

const (
	asks  = `{"id":1,"op":"acquire","args":{"instance":"i","model":"m","session":"s"}}` + "\n"
	parks = `{"id":2,"op":"acquire","args":{"instance":"i","model":"m","session":"s"}}` + "\n"
	moves = `{"id":3,"op":"commit","args":{"lease":"$l","target":{"worker":"w"}}}` + "\n"
	leads = `{"id":1,"ok":{"state":"initializer","lease":"$l"}}` + "\n"
)

func TestEveryDifferenceIsSeen(t *testing.T) {
	bound := func(id int, lease, worker string) string {
		return fmt.Sprintf(`{"id":%d,"ok":{"state":"bound","lease":"%s","target":{"worker":"%s"}}}`+"\n", id, lease, worker)
	}
	initial := `{"id":1,"ok":{"state":"initializer","lease":"l"}}` + "\n"
	whole := asks + leads + parks + moves + bound(2, "$k", "w") + `{"id":3,"ok":{}}`
	for name, c := range map[string]struct {
		text    string
		answers []string
		problem string // "" for none
	}{
		"none":                    {whole, []string{initial, "", bound(2, "k", "w") + `{"id":3,"ok":{}}` + "\n", `{"id":ASKED,"ok":{"parked":[]}}` + "\n"}, ""},
		"none, in another order":  {whole, []string{initial, "", `{"id":3,"ok":{}}` + "\n" + bound(2, "k", "w")}, ""},
		"another value":           {whole, []string{initial, "", bound(2, "k", "v") + `{"id":3,"ok":{}}` + "\n"}, `x:5: /ok/target/worker is "v", want "w"`},
		"a lease that is taken":   {whole, []string{initial, "", bound(2, "l", "w") + `{"id":3,"ok":{}}` + "\n"}, `is "l", which is $l already`},
		"a lease by another name": {asks + leads + parks + `{"id":2,"ok":{"state":"initializer","lease":"$l"}}`, []string{initial, `{"id":2,"ok":{"state":"initializer","lease":"k"}}` + "\n"}, `want "l" as before`},
		"another state":           {asks + leads, []string{bound(1, "l", "w")}, `/ok/state is "bound"`},
		"an error instead":        {asks + leads, []string{`{"id":1,"error":{"kind":"internal","message":"m"}}` + "\n"}, "/ok is missing"},
		"ok instead of an error":  {asks + `{"id":1,"error":{"kind":"stale","message":"m"}}`, []string{initial}, "/error is missing"},
		"another kind":            {asks + `{"id":1,"error":{"kind":"stale","message":"m"}}`, []string{`{"id":1,"error":{"kind":"internal","message":"m"}}` + "\n"}, `/error/kind is "internal"`},
		"another message":         {asks + `{"id":1,"error":{"kind":"stale","message":"m"}}`, []string{`{"id":1,"error":{"kind":"stale","message":"k","more":1}}` + "\n"}, ""},
		"a member too many":       {asks + bound(1, "$l", "w"), []string{`{"id":1,"ok":{"state":"bound","lease":"l","target":{"worker":"w","rank":0}}}` + "\n"}, "/ok/target/rank should not be there"},
		"a member too few":        {asks + `{"id":1,"ok":{"state":"bound","lease":"$l","target":{"worker":"w","rank":0}}}`, []string{bound(1, "l", "w")}, "/ok/target/rank is missing"},
		"an answer before its cause": {strings.Replace(whole, moves, `{"id":9,"op":"query","args":{"instance":"i","model":"m","session":"s"}}`+"\n"+`{"id":9,"ok":{"bound":false}}`+"\n"+moves, 1),
			[]string{initial, "", bound(2, "k", "w") + `{"id":9,"ok":{"bound":false}}` + "\n", `{"id":3,"ok":{}}` + "\n"}, "the answer to 2 came before commit was asked for"},
		"an answer that should park":  {asks + leads + parks, []string{initial, bound(2, "k", "w")}, "operation 2 was answered, and should be parked"},
		"a parked one that is listed": {asks + leads + parks, []string{initial, "", `{"id":ASKED,"ok":{"parked":[2]}}` + "\n"}, ""},
		"no answer":                   {asks + leads, []string{""}, "x:2: adapter fault: no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Parse("x", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			limit := 20 * time.Second
			if name == "no answer" {
				limit = 30 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			answers := c.answers
			for len(answers) < strings.Count(c.text, `"op"`) {
				answers = append(answers, "")
			}
			if !slices.ContainsFunc(answers, func(a string) bool { return strings.Contains(a, "parked") }) {
				answers = append(answers, `{"id":ASKED,"ok":{"parked":[]}}`+"\n") // the sync at the end
			}
			client := scripted(t, "", answers...)
			err = v.Play(ctx, client)
			if c.problem == "" && err != nil || c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)) {
				t.Errorf("Play = %v, want %q", err, c.problem)
			}
		})
	}
}

func TestADifferenceShowsNumbersAndStringsAsTheyCame(t *testing.T) {
	query := `,"op":"query","args":{"instance":"i","model":"m","session":"s"}}` + "\n"
	bound := `,"ok":{"bound":true,"target":{"worker":"w","rank":7}}}`
	for name, c := range map[string]struct{ text, answer, want string }{
		"an id that is a number": {`{"id":7` + query + `{"id":7` + bound, `{"id":7,"ok":{"bound":false}}`,
			`x:2: /ok/bound is false, want true` + "\n" + `  want {"id":7` + bound + "\n" + `  got  {"id":7,"ok":{"bound":false}}`},
		"an id that is a string": {`{"id":"7"` + query + `{"id":"7"` + bound, `{"id":"7","ok":{"bound":true,"target":{"worker":"7","rank":7}}}`,
			`x:2: /ok/target/worker is "7", want "w"` + "\n" + `  want {"id":"7"` + bound + "\n" + `  got  {"id":"7","ok":{"bound":true,"target":{"worker":"7","rank":7}}}`},
		"an id that is markup, and an error": {`{"id":"<7>"` + query + `{"id":"<7>"` + bound, `{"id":"<7>","error":{"kind":"internal","message":"a & b"}}`,
			`x:2: /ok is missing` + "\n" + `  want {"id":"<7>"` + bound + "\n" + `  got  {"id":"<7>","error":{"kind":"internal","message":"a & b"}}`},
		"an answer that should park": {`{"id":"7"` + query, `{"id":"7","ok":{"bound":false}}`,
			`x:1: operation "7" was answered, and should be parked at the end` + "\n" + `  want no answer` + "\n" + `  got  {"id":"7","ok":{"bound":false}}`},
		"an id that came back as a string": {`{"id":7` + query + `{"id":7` + bound, `{"id":"7","ok":{"bound":false}}`,
			`no operation with id "7" was sent, but 7 was: answer with the id exactly as it came`},
		"a worker that came as a number": {`{"id":7` + query + `{"id":7` + bound, `{"id":7,"ok":{"bound":true,"target":{"worker":7,"rank":7}}}`,
			`at '/target/worker': got number, want string`},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Parse("x", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			err = v.Play(t.Context(), scripted(t, "", c.answer+"\n", `{"id":ASKED,"ok":{"parked":[]}}`+"\n"))
			var d *Difference
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &d) && err.Error() != c.want {
				t.Errorf("Play = %v\nwant   %s", err, c.want)
			}
		})
	}
}

func TestSomeOperationsAnswerLast(t *testing.T) {
	for _, late := range []bool{true, false} {
		v, err := Parse("x", []byte(`{"id":1,"op":"acquire","args":{"instance":"i","model":"m","session":"s"}}
{"id":7,"op":"cancel","args":{"id":1}}
{"id":1,"error":{"kind":"cancelled","message":"m"}}
{"id":7,"ok":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		own, other := `{"id":7,"ok":{}}`+"\n", `{"id":1,"error":{"kind":"cancelled","message":"m"}}`+"\n"
		both := other + own
		if late {
			both = own + other
		}
		err = v.Play(t.Context(), scripted(t, "", "", both, `{"id":ASKED,"ok":{"parked":[]}}`+"\n"))
		var d *Difference
		if errors.As(err, &d) != late || late && !strings.Contains(err.Error(), "came after that of cancel") || !late && err != nil {
			t.Errorf("late = %v: %v", late, err)
		}
	}
}

func TestWhatIsNotClaimedIsDeclined(t *testing.T) {
	v, err := Parse("x", []byte(`{"id":1,"op":"count","args":{"instance":"i"}}`+"\n"+`{"id":1,"ok":{"sessions":0,"leases":0}}`))
	if err != nil {
		t.Fatal(err)
	}
	var d *DeclinedError
	if err := v.Play(t.Context(), scripted(t, `"batch"`)); !errors.As(err, &d) || d.Claim != component.ClaimCount {
		t.Errorf("Play = %v", err)
	}
	if err := v.Play(t.Context(), scripted(t, `"count"`, `{"id":1,"ok":{"sessions":0,"leases":0}}`+"\n", `{"id":ASKED,"ok":{"parked":[]}}`+"\n")); err != nil {
		t.Errorf("Play = %v", err)
	}
}

func TestAConversationWithAnotherComponentIsDeclined(t *testing.T) {
	v, err := Parse("x", []byte(`{"id":1,"op":"new","args":{"component":"y","config":{}}}`+"\n"+`{"id":1,"ok":{"instance":"$i"}}`))
	if err != nil {
		t.Fatal(err)
	}
	var d *DeclinedError
	if err := v.Play(t.Context(), scripted(t, "")); !errors.As(err, &d) || d.Component != "y" || !strings.Contains(err.Error(), "no component y") {
		t.Errorf("Play = %v", err)
	}
}

const (
	askIndex  = `{"id":1,"op":"new","args":{"component":"x","config":{}}}` + "\n" + `{"id":1,"ok":{"instance":"$i"}}` + "\n"
	askStore  = `{"id":2,"op":"store","args":{"instance":"$i","session":"s","worker":"w","rank":0,"blocks":["00000000000000aa"]}}` + "\n"
	askReach  = `{"id":3,"op":"frontiers","args":{"instance":"$i","session":"s"}}` + "\n"
	askSize   = `{"id":4,"op":"size","args":{"instance":"$i"}}` + "\n"
	madeIndex = `{"id":1,"ok":{"instance":"i"}}` + "\n"
)

func TestAnErrorsBlockIsCompared(t *testing.T) {
	refusal := `{"id":2,"error":{"kind":"cyclic_parent","message":"m","block":"00000000000000aa"}}` + "\n"
	v, err := Parse("x", []byte(askIndex+askStore+refusal))
	if err != nil {
		t.Fatal(err)
	}
	end := `{"id":ASKED,"ok":{"parked":[]}}` + "\n"
	if err := v.Play(t.Context(), scripted(t, "", madeIndex, refusal, end)); err != nil {
		t.Error(err)
	}
	var d *Difference
	if err := v.Play(t.Context(), scripted(t, "", madeIndex, strings.Replace(refusal, "aa", "ab", 1), end)); !errors.As(err, &d) || !strings.Contains(err.Error(), "/error/block") {
		t.Errorf("Play = %v", err)
	}
}

func TestWorkersAreRegisteredWhereTheConversationDoesNotCare(t *testing.T) {
	stored, sized := `{"id":2,"ok":{"changed":true}}`+"\n", `{"id":4,"ok":{"blocks":1,"sessions":1}}`+"\n"
	reach := `{"id":3,"ok":{"frontiers":[{"worker":"w","rank":0,"block":"00000000000000aa"},{"worker":"v","rank":0,"block":"00000000000000aa"}]}}` + "\n"
	v, err := Parse("x", []byte(askIndex+askStore+stored+askReach+reach+askSize+sized))
	if err != nil {
		t.Fatal(err)
	}
	otherOrder := `{"id":3,"ok":{"frontiers":[{"worker":"v","rank":0,"block":"00000000000000aa"},{"worker":"w","rank":0,"block":"00000000000000aa"}]}}` + "\n"
	counted := strings.Replace(sized, "}}", `,"discarded":0}}`, 1)
	end := `{"id":ASKED,"ok":{"parked":[]}}` + "\n"
	c := scripted(t, `"lifecycle"`, madeIndex, `{"id":"register 1","ok":{}}`+"\n", stored, otherOrder, counted, end)
	if err := v.Play(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var told string
	for _, l := range c.Transcript(0) {
		if l.Sent {
			told += l.Text + "\n"
		}
	}
	if strings.Count(told, `"op":"register"`) != 1 || !strings.Contains(told, `"incarnation":"usual"`) {
		t.Errorf("it was told:\n%s", told)
	}
	if err := v.Play(t.Context(), scripted(t, "", madeIndex, stored, reach, sized, end)); err != nil {
		t.Errorf("without lifecycle: %v", err)
	}
}
