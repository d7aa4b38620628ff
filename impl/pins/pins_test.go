package pins

import (
	"net/http"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/impl/affinity"
)

const (
	worker  = "x-dynamo-worker-instance-id"
	rank    = "x-dynamo-dp-rank"
	pWorker = "x-dynamo-prefill-instance-id"
	pRank   = "x-dynamo-prefill-dp-rank"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func at(worker string, rank ...uint32) affinity.Target {
	t := affinity.Target{Worker: worker}
	if len(rank) > 0 {
		t.Rank = affinity.RankOf(rank[0])
	}
	return t
}

func TestEachPhaseReadsItsOwnFields(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers []string
		serve   affinity.Target
		prefill affinity.Target
	}{
		{"nothing", nil, at(""), at("")},
		{"a worker", []string{worker, "w"}, at("w"), at("")},
		{"a worker by its alias", []string{"x-worker-instance-id", "w"}, at("w"), at("")},
		{"a worker and rank 0", []string{worker, "w", rank, "0"}, at("w", 0), at("")},
		{"a rank by its first alias", []string{worker, "w", "x-dp-rank", "1"}, at("w", 1), at("")},
		{"a rank by its second alias", []string{worker, "w", "X-Data-Parallel-Rank", "2"}, at("w", 2), at("")},
		{"the largest rank", []string{worker, "w", rank, "4294967295"}, at("w", 4294967295), at("")},
		{"leading noughts", []string{worker, "w", rank, "007"}, at("w", 7), at("")},
		{"a prefill worker", []string{pWorker, "p"}, at(""), at("p")},
		{"a prefill worker and rank by their aliases", []string{"x-prefill-instance-id", "p", "x-prefill-dp-rank", "3"}, at(""), at("p", 3)},
		{"both phases", []string{worker, "d", rank, "1", pWorker, "p", pRank, "0"}, at("d", 1), at("p", 0)},
		{"the decode rank is no prefill rank", []string{worker, "d", rank, "1", pWorker, "p"}, at("d", 1), at("p")},
		{"the prefill rank is no decode rank", []string{worker, "d", pWorker, "p", pRank, "1"}, at("d"), at("p", 1)},
		{"outer blanks", []string{worker, " \tw \t", rank, " 1 "}, at("w", 1), at("")},
		{"inner blanks and case count", []string{worker, "W 1"}, at("W 1"), at("")},
		{"blank headers are absent", []string{worker, " ", rank, "", pWorker, "\t", pRank, " "}, at(""), at("")},
		{"a blank header lets its alias count", []string{worker, " ", "x-worker-instance-id", "w", rank, "", "x-dp-rank", " ", "x-data-parallel-rank", "1"}, at("w", 1), at("")},
		{"the first of two names counts", []string{"x-worker-instance-id", "v", worker, "w", "x-data-parallel-rank", "3", "x-dp-rank", "2", rank, "1"}, at("w", 1), at("")},
		{"the first of two values counts", []string{worker, "w", worker, "v", rank, "1", rank, "2"}, at("w", 1), at("")},
		{"a blank first value is the header's", []string{worker, "", worker, "v"}, at(""), at("")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Headers{}.Pins(headers(c.headers...))
			if err != nil || p.Serve != c.serve || p.Prefill != c.prefill {
				t.Errorf("got %v and %v, %v; want %v and %v", p.Serve, p.Prefill, err, c.serve, c.prefill)
			}
		})
	}
}

func TestABadRankIsAnErrorThatNamesItsHeader(t *testing.T) {
	for _, value := range []string{"-1", "+1", "x", "1.0", "1e0", "0x1", "1_0", "1 2", "1,2", "4294967296", "99999999999999999999", "²", "\x00"} {
		for _, name := range []string{rank, "x-dp-rank", "x-data-parallel-rank", pRank, "x-prefill-dp-rank"} {
			h := headers(worker, "w", pWorker, "p", name, value)
			p, err := Headers{}.Pins(h)
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), name) || p != (Pins{}) {
				t.Errorf("%s: %q: got %v, %v", name, value, p, err)
			}
		}
	}
	h := headers(worker, "w", rank, "one", "x-dp-rank", "1", "x-data-parallel-rank", "1")
	if _, err := (Headers{}).Pins(h); err == nil {
		t.Error("a bad rank fell through to its alias")
	}
}

func TestARankWithoutItsWorkerIsAnError(t *testing.T) {
	for _, c := range [][]string{
		{rank, "0"},
		{"x-data-parallel-rank", "1"},
		{rank, "1", pWorker, "p"}, // the other phase's worker is no stand-in
		{pRank, "0"},
		{worker, "w", rank, "2", pRank, "1"}, // nor here
		{rank, "0", worker, " "},
	} {
		if _, err := (Headers{}).Pins(headers(c...)); err == nil || !strings.Contains(err.Error(), "without a worker") {
			t.Errorf("%q: %v", c, err)
		}
	}
}

func TestStripRemovesWhatIsReadAndNothingElse(t *testing.T) {
	h := headers(worker, "1", "x-worker-instance-id", "1", rank, "1", "x-dp-rank", "1", "x-data-parallel-rank", "1",
		pWorker, "1", "x-prefill-instance-id", "1", pRank, "1", "x-prefill-dp-rank", "1", "x-dynamo-session-id", "s", "x-rank", "1")
	Strip(h)
	if len(h) != 2 || h.Get("x-dynamo-session-id") != "s" || h.Get("x-rank") != "1" {
		t.Errorf("left %v", h)
	}
}
