package timeline

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/linear"
	"github.com/routeproof/routeproof/suites/script"
)

func printed(t *testing.T, h *history.History, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, h, names...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func holds(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestATimelineHoldsWhatHappenedInOrderOfTime(t *testing.T) {
	h := moved(2, "w0", "w1")
	h.Marks = []history.Mark{{At: time.Hour + 500*time.Millisecond, What: "crash", Worker: "w0", Text: "killed\x1b[2J"}}
	h.Stalls = []history.Stall{{At: time.Hour + 600*time.Millisecond, For: 100 * time.Millisecond}}
	h.Attempts[1].AbortSeen, h.Attempts[1].Fault = time.Hour+1100*time.Millisecond, "reset"
	got := printed(t, h)
	holds(t, got, "AFF-001/turns, seed 0\n", "4 requests, 3 attempts, 1 marks, 1 stalls",
		"request  k-1       200: session s turn 0, phase turns", "at w1, fault reset, saw its client leave at 1.100",
		`0.500        mark     crash w0  killed\x1b[2J`, "0.600-0.700  stall")
	last := -1
	for _, part := range []string{"request  k-1", "attempt  k-1", "mark", "stall ", "request  k-2"} {
		at := strings.LastIndex(got, part)
		if at < last {
			t.Errorf("%s comes too early:\n%s", part, got)
		}
		last = at
	}
	if strings.Contains(got, "body") || strings.Contains(got, "\x1b") {
		t.Errorf("holds a body, or a control character:\n%s", got)
	}
}

func TestANameSelectsARequestOrASessionWithItsBodies(t *testing.T) {
	h := moved(2, "w0")
	h.Requests[0].SentBodyBytes = 5000
	h.Requests[0].SentHeader = map[string][]string{"Authorization": {"Bearer sk-verysecret123"}}
	for range maxShown + 3 {
		h.Requests[1].Events = append(h.Requests[1].Events, history.Event{At: time.Hour + time.Second, Data: "{}"})
		h.Attempts[1].Events = append(h.Attempts[1].Events, time.Hour)
	}
	one, both := printed(t, h, "k-1"), printed(t, h, "s")
	holds(t, one, `sent body {"n":1} (7 of 5000 bytes are kept)`, `answered body amber\x1b[2J`, "attempt  k-1")
	holds(t, both, "k-1", "k-2", "event 15 at 1.000 {}", "and 3 more events")
	if strings.Contains(one, "k-2") || strings.Contains(both, "alone") || strings.Contains(one, "verysecret") {
		t.Errorf("holds what was not asked for:\n%s\n%s", one, both)
	}
	var b bytes.Buffer
	var unknown *UnknownError
	if err := Print(&b, h, "k-1", "k-22"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), `"k-22" is no request and no session of AFF-001/turns; near: k-2`) || b.Len() > 0 {
		t.Errorf("%v, after %q", err, b.String())
	}
	if err := Print(&b, &history.History{Case: "c"}, "k"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "holds no requests") {
		t.Error(err)
	}
}

func TestConversationsAreTold(t *testing.T) {
	s := script.New(script.Config{IdleTTL: time.Second})
	s.Acquire("a", script.Ask{Session: "x"})
	turns := []script.Turn{{Step: "acquire a", Answers: []script.Answer{{Name: "a", Outcome: script.Fails("stale"), Text: "why"}}, Waiting: []string{"b"}}, {Step: "next", Left: "cut off"}}
	h := &history.History{Case: "AFF-020/random",
		Talk: &script.Talk{Adapter: "me 1", Claims: []string{"affinity"}, Turns: turns, Fault: "no JSON", Lines: []script.Line{
			{At: time.Second, Sent: true, Text: `{"id":1}`}, {At: 1500 * time.Millisecond, Text: "\x00"}}},
		Held: []script.Held{{Script: s, Turns: turns[:1], Replay: []string{"{}"}}},
		Lineages: []lineage.Held{{Script: &lineage.Script{Steps: []*lineage.Step{{Op: lineage.Dump}, {Op: lineage.Dump}, {Op: lineage.Dump}}},
			Turns: []lineage.Turn{{Answer: lineage.Answer{State: lineage.StateError, Kind: "unavailable"}}, {Unable: true}}}},
		Ops: []linear.Op{{Caller: 2, Kind: linear.Commit, Session: "late", Call: 3e6, Return: 4e6}, {Caller: 1, Kind: linear.Acquire, Session: "s", Call: 1e6, Return: 2500000}},
	}
	got := printed(t, h)
	holds(t, got, "adapter me 1, claims affinity", "1  acquire a -> a: an error of kind stale (why); waiting: b\n", "2  next -> not asked: cut off", "fault: no JSON",
		"0.000 > {\"id\":1}\n", `0.500 < \x00`, "conversation 1 of 1, with idleTTL 1s: it went wrong", `acquire a of session "x" -> a: an error`,
		"dump -> an error", "dump -> not asked: a claim is lacking", "dump -> not asked\n",
		"2 operations of concurrent callers", "0.000-1.500  caller 1: acquire s", "2.000-3.000  caller 2: commit late")
	if strings.Index(got, "caller 1") > strings.Index(got, "caller 2") {
		t.Error("operations are not in order of their calls")
	}
}

func TestWhatIsNoEvidenceIsRefused(t *testing.T) {
	pack := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return b.String()
	}
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"plain.json":   {"{}", "is not packed with gzip"},
		"empty.gz":     {"", "is not packed with gzip"},
		"garbage.gz":   {pack("hello"), "holds no whole history (invalid character"},
		"half.gz":      {pack(`{"case": "AFF-001/turns", "requests": [`), "it ends too early"},
		"other.gz":     {pack(`{"format": "x"}`), "is JSON, but no history of a case"},
		"replay.jsonl": {"{}", "routeproof adapter check --conversation"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "name a .json.gz file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "nope")} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "name a .json.gz file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	good := filepath.Join(dir, "good.json.gz")
	if err := os.WriteFile(good, []byte(pack(`{"case": "AFF-001/turns", "attempts": [{"key": "k"}]}`)), 0o644); err != nil {
		t.Fatal(err)
	}
	if h, err := Read(good); err != nil || len(h.Attempts) != 1 || h.Attempts[0].Rank != ledger.NoRank {
		t.Errorf("%+v, %v", h, err)
	}
}
