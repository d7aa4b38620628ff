package adapter

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// oneBlockStores are the args of a batch that appends n blocks to a chain, one at a time.
func oneBlockStores(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"ops":[`)
	for i := range n {
		fmt.Fprintf(&b, `{"op":"store","args":{"instance":"i1","session":"s","worker":"w","rank":0,"blocks":["%016x"]`, i+1)
		if i > 0 {
			fmt.Fprintf(&b, `,"parent":"%016x"},`, i)
		} else {
			b.WriteString(`},`)
		}
		b.WriteByte('}')
		if i < n-1 {
			b.WriteByte(',')
		}
	}
	b.WriteString(`]}`)
	return []byte(strings.ReplaceAll(b.String(), "},}", "}}"))
}

// A batch's own cost is what it takes longer for than the same calls without it.
func TestABatchCostsLittleBesideTheCalls(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("a measurement")
	}
	const ops, rounds = 20_000, 7
	args := oneBlockStores(ops)
	var own []float64
	best := func(have, got time.Duration) time.Duration {
		if have == 0 {
			return got
		}
		return min(have, got)
	}
	var batches, calls time.Duration
	for range rounds {
		ctx, cancel := context.WithCancel(t.Context())
		s := newServer(ctx, cancel, io.Discard)
		if _, err := s.make([]byte(`{"component":"sessionindex","config":{}}`)); err != nil {
			t.Fatal(err)
		}
		do, err := s.batch(args)
		if err != nil {
			t.Fatal(err)
		}
		out, err := do(caller{ctx: ctx})
		if err != nil {
			t.Fatal(err)
		}
		got := out.(batched)
		if changed := got.Answers[ops-1].OK.(*applied).Changed; !changed || got.Steps < ops || got.Steps > 12*ops {
			t.Fatalf("changed %v, %d steps", changed, got.Steps)
		}
		batches = best(batches, time.Duration(got.NS))
		cancel()

		x, err := sessionindex.NewIndex(sessionindex.Config{}, newClock(), nil)
		if err != nil {
			t.Fatal(err)
		}
		events := make([]sessionindex.Store, ops)
		for i := range events {
			events[i] = sessionindex.Store{Session: "s", At: sessionindex.WorkerRank{Worker: "w"}, Blocks: []sessionindex.Hash{sessionindex.Hash(i + 1)}}
			if i > 0 {
				events[i].Parent = sessionindex.Under(sessionindex.Hash(i))
			}
		}
		began := time.Now()
		for _, e := range events {
			if _, err := x.AdmitStore(e).Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		calls = best(calls, time.Since(began))
		own = append(own, float64(got.NS)/ops)
	}
	t.Logf("an operation of a batch takes %d ns, its call alone %d ns (the best of %d rounds of %d; the batches' %.0f)",
		batches.Nanoseconds()/ops, calls.Nanoseconds()/ops, rounds, ops, own)
	if got := (batches - calls).Nanoseconds() / ops; got > 1000 {
		t.Errorf("a batch adds %d ns to each call", got)
	}
}

func BenchmarkReadingABatch(b *testing.B) {
	args := oneBlockStores(10_000)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	s := newServer(ctx, cancel, io.Discard)
	if _, err := s.make([]byte(`{"component":"sessionindex","config":{}}`)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(args)))
	for b.Loop() {
		if _, err := s.batch(json.RawMessage(args)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhatABatchIsAboutIsSeenInItsFirstOperation(t *testing.T) {
	for batch, want := range map[string]string{
		`{"ops":[{"op":"size","args":{"instance":"i1"}},{"op":"size","args":{"instance":"i2"}}]}`: `{"instance":"i1"}`,
		` { "ops" : [ {"op":"release","args":{"lease":"l1"}}, what follows is not read`:           `{"lease":"l1"}`,
		`{"ops":[{"op":"count"}]}`: "",
		`{"ops":[]}`:               "",
		`{"ops":{}}`:               "",
		`{"others":[{"args":{"instance":"i1"}}]}`: "",
		`[]`: "",
		``:   "",
	} {
		if got := string(firstArgs(json.RawMessage(batch))); got != want {
			t.Errorf("%s is about %q, want %q", batch, got, want)
		}
	}
}
