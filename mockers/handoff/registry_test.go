package handoff

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/mockers/ledger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	prefiller = Party{Worker: "w0", Incarnation: 1, Rank: 2, Attempt: 7}
	decoder   = Party{Worker: "w1", Incarnation: 1, Rank: 0, Attempt: 8}
)

func issue(r *Registry, request string) Ticket {
	return r.Issue(Ticket{Engine: "w0-1_dp2", Host: "127.0.0.1", Port: 9000}, request, "m", prefiller, 3)
}

func TestAHandoffIsUsedOnceAndKnowsBothSides(t *testing.T) {
	r := New(10)
	a, b := issue(r, "a"), issue(r, "b")
	if a.ID == b.ID || len(a.Blocks) != 3 || len(b.Blocks) != 3 || a.Blocks[2] >= b.Blocks[0] {
		t.Fatalf("issued %+v and %+v; want different ids and blocks", a, b)
	}
	if got, issuer := r.Use(a, "m", decoder); got != ledger.Consumed || issuer != 7 {
		t.Errorf("first use: %s, issued by %d", got, issuer)
	}
	second := decoder
	second.Attempt = 9
	if got, issuer := r.Use(a, "m", second); got != ledger.Reused || issuer != 7 {
		t.Errorf("second use: %s, issued by %d", got, issuer)
	}
	all, forgotten := r.Snapshot(0)
	want := []Record{
		{ID: a.ID, Engine: "w0-1_dp2", Model: "m", Issued: prefiller, Consumed: &decoder, Refused: 1, Outcome: ledger.Consumed},
		{ID: b.ID, Engine: "w0-1_dp2", Model: "m", Issued: prefiller, Outcome: ledger.NeverConsumed},
	}
	if d := cmp.Diff(want, all); d != "" || forgotten != 0 || r.Len() != 2 {
		t.Errorf("%d forgotten of %d; records (-want +got):\n%s", forgotten, r.Len(), d)
	}
}

func TestAUseThatDoesNotFitComesToNothingAndLeavesTheHandoff(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Ticket)
		model string
		want  ledger.Outcome
	}{
		"an id of nobody's":          {func(t *Ticket) { t.ID = "x-0" }, "m", ledger.Unknown},
		"no id":                      {func(t *Ticket) { t.ID = "" }, "m", ledger.Unknown},
		"an id not issued yet":       {func(t *Ticket) { t.ID = "a-1" }, "m", ledger.Unknown},
		"an id without a number":     {func(t *Ticket) { t.ID = "a" }, "m", ledger.Unknown},
		"an id with a negative one":  {func(t *Ticket) { t.ID = "a--1" }, "m", ledger.Unknown},
		"an id with a huge one":      {func(t *Ticket) { t.ID = "a-99999999999999999999" }, "m", ledger.Unknown},
		"another engine":             {func(t *Ticket) { t.Engine = "w2-1" }, "m", ledger.Altered},
		"another host":               {func(t *Ticket) { t.Host = "127.0.0.2" }, "m", ledger.Altered},
		"another port":               {func(t *Ticket) { t.Port++ }, "m", ledger.Altered},
		"fewer blocks":               {func(t *Ticket) { t.Blocks = t.Blocks[1:] }, "m", ledger.Altered},
		"another length":             {func(t *Ticket) { t.Tokens++ }, "m", ledger.Altered},
		"another lease":              {func(t *Ticket) { t.Lease += 2 }, "m", ledger.Altered},
		"no lease":                   {func(t *Ticket) { t.Lease = 0 }, "m", ledger.Altered},
		"a lease as a float64":       {func(t *Ticket) { t.Lease = int64(float64(t.Lease)) }, "m", ledger.Altered},
		"no blocks":                  {func(t *Ticket) { t.Blocks = nil }, "m", ledger.Altered},
		"a block twice":              {func(t *Ticket) { t.Blocks = []int{0, 0, 2} }, "m", ledger.Altered},
		"blocks in another order":    {func(t *Ticket) { t.Blocks = []int{2, 1, 0} }, "m", ledger.Altered},
		"somebody else's blocks too": {func(t *Ticket) { t.Blocks = []int{0, 1, 3} }, "m", ledger.Altered},
		"another model":              {func(*Ticket) {}, "n", ledger.WrongModel},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(10)
			good := issue(r, "a")
			bad := good
			bad.Blocks = slices.Clone(good.Blocks)
			c.spoil(&bad)
			got, issuer := r.Use(bad, c.model, decoder)
			if got != c.want || (issuer == ledger.NoIssuer) != (c.want == ledger.Unknown) {
				t.Errorf("%s, issued by %d; want %s", got, issuer, c.want)
			}
			if got, _ := r.Use(good, "m", decoder); got != ledger.Consumed {
				t.Errorf("the right use afterwards: %s", got)
			}
		})
	}
}

func TestAHandoffDiesWithTheIncarnationThatIssuedIt(t *testing.T) {
	r := New(10)
	used, open := issue(r, "used"), issue(r, "open")
	r.Use(used, "m", decoder)
	r.Gone("w0", 1)
	r.Gone("w0", 0) // says nothing new
	late := issue(r, "late")
	for _, c := range []struct {
		ticket Ticket
		want   ledger.Outcome
	}{{open, ledger.IssuerGone}, {late, ledger.IssuerGone}, {used, ledger.Reused}} {
		if got, issuer := r.Use(c.ticket, "m", decoder); got != c.want || issuer != 7 {
			t.Errorf("%s: %s, issued by %d; want %s", c.ticket.ID, got, issuer, c.want)
		}
	}
	next := prefiller
	next.Incarnation = 2
	again := r.Issue(Ticket{Engine: "w0-2"}, "again", "m", next, 1)
	if got, _ := r.Use(again, "m", decoder); got != ledger.Consumed {
		t.Errorf("the next incarnation's: %s", got)
	}
	all, _ := r.Snapshot(1)
	if len(all) != 3 || all[0].Outcome != ledger.IssuerGone || all[1].Outcome != ledger.IssuerGone || all[2].Outcome != ledger.Consumed {
		t.Errorf("records %+v", all)
	}
}

func TestWhatIsForgottenIsCountedAndKnownAsForgotten(t *testing.T) {
	r := New(3)
	var all []Ticket
	for i := range 5 {
		all = append(all, issue(r, fmt.Sprint("r", i)))
	}
	for i, want := range []ledger.Outcome{ledger.Forgotten, ledger.Forgotten, ledger.Consumed, ledger.Consumed, ledger.Consumed} {
		if got, _ := r.Use(all[i], "m", decoder); got != want {
			t.Errorf("hand-off %d: %s; want %s", i, got, want)
		}
	}
	if len(r.byID) != 3 || len(r.kept) != 3 || r.Len() != 5 {
		t.Errorf("%d by id, %d kept of %d", len(r.byID), len(r.kept), r.Len())
	}
	for from, want := range map[int][2]int{-1: {3, 2}, 0: {3, 2}, 1: {3, 1}, 2: {3, 0}, 4: {1, 0}, 5: {0, 0}, 9: {0, 0}} {
		got, forgotten := r.Snapshot(from)
		if len(got) != want[0] || forgotten != want[1] {
			t.Errorf("from %d: %d and %d forgotten; want %v", from, len(got), forgotten, want)
		}
		if len(got) > 0 && got[len(got)-1].ID != all[4].ID {
			t.Errorf("from %d: the last is %s", from, got[len(got)-1].ID)
		}
	}
}

func TestASnapshotSharesNothingWithTheRegistry(t *testing.T) {
	r := New(1)
	r.Use(issue(r, "a"), "m", decoder)
	all, _ := r.Snapshot(0)
	all[0].Consumed.Worker = "changed"
	if again, _ := r.Snapshot(0); again[0].Consumed.Worker != "w1" {
		t.Errorf("the record changed with its copy: %+v", again[0])
	}
}

func TestARecordsJSONReadsBack(t *testing.T) {
	r := New(2)
	r.Use(issue(r, "a"), "m", decoder)
	issue(r, "b")
	want, _ := r.Snapshot(0)
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []Record
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s reads back differently (-want +got):\n%s", b, d)
	}
}

func TestOfManyUsesAtOnceExactlyOneConsumes(t *testing.T) {
	r := New(100)
	for range 50 {
		ticket := issue(r, "a")
		outcomes := make([]ledger.Outcome, 8)
		var all sync.WaitGroup
		for i := range outcomes {
			all.Go(func() { outcomes[i], _ = r.Use(ticket, "m", decoder) })
		}
		all.Wait()
		consumed := 0
		for _, o := range outcomes {
			if o == ledger.Consumed {
				consumed++
			} else if o != ledger.Reused {
				t.Errorf("outcome %s", o)
			}
		}
		if consumed != 1 {
			t.Fatalf("consumed %d times: %v", consumed, outcomes)
		}
	}
}

func TestBlockIDsStartOverBeforeTheyGrowBeyondAMemory(t *testing.T) {
	r := New(2)
	r.Issue(Ticket{}, "big", "m", prefiller, maxBlockID)
	if next := issue(r, "next"); next.Blocks[0] != 0 {
		t.Errorf("blocks begin at %d", next.Blocks[0])
	}
}

func BenchmarkIssueAndUse(b *testing.B) {
	r := New(Limit)
	b.ReportAllocs()
	for b.Loop() {
		r.Use(issue(r, "chatcmpl-0123456789abcdef"), "m", decoder)
	}
}
