package affinity

import (
	"context"
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	size := map[string]string{"rapid.steps": "80"} // the command line may say something else
	if raceDetector {
		size["rapid.checks"] = "15" // waking is what it looks at, and every check has much of it
	}
	for name, value := range size {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

const ttl = 10 * time.Second

func newTable(t testing.TB, cfg Config) *Table {
	t.Helper()
	if cfg.IdleTTL == 0 {
		cfg.IdleTTL = ttl
	}
	table, err := New(cfg, SystemClock{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// key is a session of model m; ask wants it without a pin.
func key(session string) Key { return Key{Model: "m", Session: session} }
func ask(session string) Ask { return Ask{Key: key(session)} }

// pinned wants a session at a target.
func pinned(session string, pin Target) Ask { return Ask{key(session), pin} }

func worker(name string) Target              { return Target{Worker: name} }
func ranked(name string, rank uint32) Target { return Target{name, RankOf(rank)} }

func acquire(t testing.TB, table *Table, a Ask) Lease {
	t.Helper()
	l, err := table.Acquire(t.Context(), a)
	if err != nil {
		t.Fatalf("Acquire(%v): %v", a, err)
	}
	return l
}

// home is where a lease is bound, the zero Target for nowhere.
func home(l Lease) Target {
	target, _ := l.Bound()
	return target
}

func commit(t testing.TB, l Lease, target Target) {
	t.Helper()
	if err := l.Commit(target); err != nil {
		t.Fatalf("Commit(%v): %v", target, err)
	}
}

// bind makes an idle binding.
func bind(t testing.TB, table *Table, session string, target Target) {
	t.Helper()
	l := acquire(t, table, ask(session))
	if at, bound := l.Bound(); bound {
		t.Fatalf("session %q is bound to %v already", session, at)
	}
	commit(t, l, target)
	l.Release()
}

// where is where a session is bound, seen without a trace.
func where(t testing.TB, table *Table, session string) Target {
	t.Helper()
	target, bound, err := table.Query(ask(session))
	if err != nil {
		t.Fatalf("Query(%q): %v", session, err)
	}
	if bound != (target != Target{}) {
		t.Fatalf("Query(%q) = %v, %v", session, target, bound)
	}
	return target
}

// wants fails unless the table holds exactly that.
func wants(t testing.TB, table *Table, want Stats) {
	t.Helper()
	want.Bound = want.Sessions - want.Initializing
	if got := table.Stats(); got != want || table.Len() != want.Sessions {
		t.Errorf("the table holds %+v in %d slots, want %+v", got, table.Len(), want)
	}
}

type result struct {
	lease Lease
	err   error
}

// waitBehind starts a caller for each ask and returns once all wait; they
// arrived in that order.
func waitBehind(ctx context.Context, table *Table, asks ...Ask) <-chan result {
	results := make(chan result, len(asks))
	for _, a := range asks {
		go func() {
			l, err := table.Acquire(ctx, a)
			results <- result{l, err}
		}()
		synctest.Wait()
	}
	return results
}

// mortal is a Live function for workers that can die.
type mortal map[Target]bool

func (m mortal) live(_ string, t Target) bool { return !m[t] && !m[Target{Worker: t.Worker}] }
