package worker

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/mockers/ledger"
)

func TestTheRankHeaderIsHeardInAnyCaseAndAnyRankServes(t *testing.T) {
	b := startAs(t, Shape{Ranks: 4}, Timing{})
	for i, c := range []struct {
		header string
		rank   int
	}{
		{"X-data-parallel-rank: 0", 0},
		{"x-data-parallel-rank: 3", 3},
		{"X-DATA-PARALLEL-RANK:  2 ", 2},
		{"X-data-parallel-rank: 01", 1},
		{"X-data-parallel-rank: 1\r\nX-data-parallel-rank: 2", 1}, // the first counts
	} {
		r := b.do("POST", "/v1/chat/completions", chat("k", i%2 == 0, 2), c.header)
		a := b.ended(i, ledger.Complete)
		b.accounts(a, r)
		if r.status != 200 || a.Rank != c.rank || a.RankChoice != ledger.RankRequested || !a.HasRank || a.Ranks != 4 {
			t.Errorf("%s: status %d, attempt %+v", c.header, r.status, a)
		}
		if got := r.header.Get("x-mock-rank"); got != fmt.Sprint(c.rank) {
			t.Errorf("%s: x-mock-rank is %q", c.header, got)
		}
	}
	if a := b.arrived(2); a.RankAsked != "2" {
		t.Errorf("asked %q", a.RankAsked)
	}
}

func TestARankThatTheWorkerDoesNotHaveIsRefusedAndRecorded(t *testing.T) {
	b := startAs(t, Shape{Ranks: 2}, Timing{})
	for i, rank := range []string{"2", "4294967296", "99999999999999999999", "-1", "+1", "1.0", "0x1", "1_0", "one", "1 1", "\"1\"", ""} {
		r := b.do("POST", "/v1/chat/completions", chat("k", true, 2), "X-data-parallel-rank: "+rank)
		a := b.ended(i, ledger.Complete)
		b.accounts(a, r)
		var e struct {
			Error struct {
				Message, Type, Param string
				Code                 int
			}
		}
		if err := json.Unmarshal([]byte(r.body), &e); err != nil || r.status != 400 || e.Error.Code != 400 || e.Error.Param != "data_parallel_rank" ||
			!strings.Contains(e.Error.Message, fmt.Sprintf("%q", rank)) || !strings.Contains(e.Error.Message, "0 to 1") {
			t.Errorf("%q: status %d, %v, body %s", rank, r.status, err, r.body)
		}
		if !a.HasRank || a.RankAsked != rank || a.Rank != ledger.NoRank || a.RankChoice != ledger.RankRefused || len(a.Events) != 0 || a.Key != "k" {
			t.Errorf("%q: attempt %+v", rank, a)
		}
		if r.header.Get("x-mock-rank") != "" {
			t.Errorf("%q: served by rank %s", rank, r.header.Get("x-mock-rank"))
		}
	}
}

func TestWithoutTheHeaderTheEngineTakesItsRanksInTurn(t *testing.T) {
	b := startAs(t, Shape{Ranks: 3}, Timing{})
	var got []int
	for i := range 7 {
		header := "X-Other: 1"
		if i == 3 {
			header = "X-data-parallel-rank: 0" // takes nobody's turn
		}
		b.do("POST", "/v1/completions", `{"prompt":"a"}`, header)
		a := b.ended(i, ledger.Complete)
		if got = append(got, a.Rank); i != 3 && (a.RankChoice != ledger.RankEngine || a.HasRank || a.RankAsked != "") {
			t.Errorf("attempt %d: %+v", i, a)
		}
	}
	if fmt.Sprint(got) != "[0 1 2 0 0 1 2]" {
		t.Errorf("ranks %v; want each in turn", got)
	}
}

func TestAnEngineThatKnowsNoRanksIgnoresTheHeaderAndTheLedgerKeepsIt(t *testing.T) {
	b := start(t, Timing{})
	for i, c := range []struct {
		header, asked string
		choice        ledger.RankChoice
	}{
		{"X-Other: 1", "", ledger.RankNone},
		{"X-data-parallel-rank: 7", "7", ledger.RankIgnored},
		{"X-data-parallel-rank: what", "what", ledger.RankIgnored},
		{"X-data-parallel-rank:", "", ledger.RankIgnored},
	} {
		r := b.do("POST", "/v1/chat/completions", chat("k", false, 1), c.header)
		a := b.ended(i, ledger.Complete)
		if r.status != 200 || a.Rank != ledger.NoRank || a.RankAsked != c.asked || a.RankChoice != c.choice || a.HasRank != (i > 0) || a.Ranks != 0 || a.Role != "aggregated" {
			t.Errorf("%s: status %d, attempt %+v", c.header, r.status, a)
		}
	}
}

func TestARequestRefusedForAnotherReasonHasNoRank(t *testing.T) {
	b := startAs(t, Shape{Ranks: 2}, Timing{})
	for i, c := range []struct {
		path, body string
		status     int
	}{
		{"/v1/completions", `{"model":"none","prompt":"a"}`, 404},
		{"/v1/completions", `{`, 400},
		{"/v1/embeddings", `{}`, 404},
	} {
		r := b.do("POST", c.path, c.body, "X-data-parallel-rank: 1")
		a := b.ended(i, ledger.Complete)
		if r.status != c.status || a.RankAsked != "1" || a.Rank != ledger.NoRank || a.RankChoice != ledger.RankNone {
			t.Errorf("%s %s: status %d, attempt %+v", c.path, c.body, r.status, a)
		}
	}
	b.do("POST", "/v1/completions", `{"prompt":"a"}`)
	if a := b.ended(3, ledger.Complete); a.Rank != 0 {
		t.Errorf("a refused request took rank %d's turn", a.Rank)
	}
}

func TestTheMetricsOfAWorkerWithRanksTellThemApart(t *testing.T) {
	b := startAs(t, Shape{Ranks: 2}, Timing{})
	h := b.plan("k", Plan{HoldHeaders: true})
	c := b.dial()
	c.send("POST", "/v1/chat/completions", chat("k", false, 1), "X-data-parallel-rank: 1")
	b.arrived(0)
	want := []string{`running{model_name="mock",engine="0"} 0`, `running{model_name="mock",engine="1"} 1`, `waiting{model_name="mock",engine="1"} 0`}
	metrics := b.do("GET", "/metrics", "").body
	for deadline := b.l.Now() + patience; !strings.Contains(metrics, want[1]) && b.l.Now() < deadline; {
		metrics = b.do("GET", "/metrics", "").body // the ledger has the attempt a moment before its rank has it
	}
	for _, line := range want {
		if !strings.Contains(metrics, line) {
			t.Errorf("no %s in\n%s", line, metrics)
		}
	}
	h.Release()
	c.recv()
	b.ended(0, ledger.Complete)
	b.do("POST", "/v1/chat/completions", chat("bad", false, 1), "X-data-parallel-rank: 9") // counts for no rank
	for deadline := b.l.Now() + patience; strings.Contains(metrics, want[1]); {
		metrics = b.do("GET", "/metrics", "").body
		if b.l.Now() > deadline {
			t.Fatalf("still busy:\n%s", metrics)
		}
	}
}

func TestEveryLifeTakesItsRanksFromTheFirst(t *testing.T) {
	b := startAs(t, Shape{Role: Decode, Ranks: 4}, Timing{})
	for i := range 2 {
		b.chat("k", false, 1)
		if a := b.ended(i, ledger.Complete); a.Rank != 0 || a.Incarnation != i+1 || a.Role != "decode" {
			t.Errorf("first request of life %d: %+v", i+1, a)
		}
		b.w.Crash()
		b.must(b.w.Restart())
	}
	if s := b.w.Shape(); s != (Shape{Decode, 4}) {
		t.Errorf("shape after two restarts: %+v", s)
	}
}

func TestABadShapeIsRefusedByName(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		says  string
	}{{Shape{Role: "encode"}, `"encode"`}, {Shape{Ranks: -1}, "-1"}, {Shape{Ranks: MaxRanks + 1}, fmt.Sprint(MaxRanks + 1)}} {
		w, err := New(Config{ID: "w7", Models: []string{"m"}, Ledger: ledger.New(), Shape: c.shape})
		if err == nil {
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "w7") {
			t.Errorf("%+v: %v; want %s", c.shape, err, c.says)
		}
	}
	if s := start(t, Timing{}).w.Shape(); s != (Shape{Aggregated, 0}) {
		t.Errorf("the zero shape became %+v", s)
	}
}
