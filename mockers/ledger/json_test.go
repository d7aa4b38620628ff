package ledger

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// full has every field set to something that is not its zero value.
func full() Attempt {
	return Attempt{
		Seq: 3, Key: "k", Keys: Keys{Header: "h", User: "u", Marker: "k"}, Worker: "w0", Incarnation: 2, Role: "decode", Ranks: 4,
		Remote: "127.0.0.1:1", Proto: "HTTP/1.1", Method: "POST", Target: "/v1/completions", Endpoint: "completions",
		Header: map[string][]string{"X-Data-Parallel-Rank": {"3"}}, Body: []byte("{}"), BodySHA256: "aa", BodyBytes: 2, ValueSHA256: "bb",
		Model: "mock", Stream: true, MaxTokens: 1, HasRank: true, RankAsked: "3", Rank: 3, RankChoice: RankRequested,
		Handoff: &Handoff{Asked: AskedUse, Outcome: Consumed, ID: "cmpl-1-0", Engine: "w1-1_dp0", Issuer: 2},
		Fault:   "status", Status: 503, Arrived: 1, HeadersAt: 2, SentHeader: map[string][]string{"A": {"b"}}, Events: times(3, 4), BytesSent: 9, SentSHA256: "cc",
		AbortSeen: 5, Ended: 6, End: Aborted,
	}
}

func TestAnAttemptsJSONReadsBackWithEveryField(t *testing.T) {
	want := full()
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("field %s is not tried: give it a value", v.Type().Field(i).Name)
		}
	}
	zero := Attempt{Rank: NoRank}
	for _, want := range []Attempt{want, zero} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Attempt
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s reads back differently (-want +got):\n%s", b, d)
		}
	}
}

func TestTheNamesInAnAttemptsJSONStay(t *testing.T) {
	b, err := json.Marshal(full())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"seq":3`, `"role":"decode"`, `"ranks":4`, `"maxTokens":1`, `"hasRank":true`, `"rankAsked":"3"`, `"rank":3`, `"rankChoice":"requested"`,
		`"handoff":{"asked":"use","outcome":"consumed","id":"cmpl-1-0","engine":"w1-1_dp0","issuer":2}`,
	} {
		if !strings.Contains(string(b), part) {
			t.Errorf("no %s in %s", part, b)
		}
	}
	b, err = json.Marshal(Attempt{Rank: 0})
	if err != nil || !strings.Contains(string(b), `"rank":0`) || strings.Contains(string(b), "handoff") {
		t.Errorf("rank 0 without a hand-off: %s, %v", b, err)
	}
}

func TestAnAttemptFromBeforeRanksHasNone(t *testing.T) {
	for doc, want := range map[string]int{`{"seq":1}`: NoRank, `{"rank":0}`: 0, `{"rank":-1}`: NoRank, `{"rank":2}`: 2} {
		a := Attempt{Rank: 7, Key: "old"}
		if err := json.Unmarshal([]byte(doc), &a); err != nil || a.Rank != want || a.Key != "" {
			t.Errorf("%s: rank %d, key %q, %v; want rank %d", doc, a.Rank, a.Key, err, want)
		}
	}
	var a Attempt
	if err := json.Unmarshal([]byte(`{"rank":"0"}`), &a); err == nil {
		t.Error("a rank that is no number was read")
	}
}
