package bench

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/judge"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

func TestAnEventIsOverdueFromWhenItsWorkerWroteIt(t *testing.T) {
	p := NewPool(Env{Manifest: target.Reference(nil), Seed: 1})
	defer p.Close()
	const max = time.Hour
	c := one(judge.Served(1))
	c.Drive = func(ctx context.Context, r *Run) error {
		key := r.Key()
		r.Do(ctx, Req{Key: key, Stream: true})
		if got := r.Overdue(key, 1, max); got >= max || got < max-time.Minute {
			t.Errorf("the first event is overdue in %v of %v", got, max)
		}
		if got := r.Overdue(key, 1, 0); got >= 0 {
			t.Errorf("an event that was written is overdue in %v", got)
		}
		for _, unwritten := range []int{99, 1000} {
			if got := r.Overdue(key, unwritten, max); got != max {
				t.Errorf("event %d, which nobody wrote, is overdue in %v, want %v", unwritten, got, max)
			}
		}
		return nil
	}
	if out := p.Exec(t.Context(), c, 1, nil); out.Verdict != report.Pass {
		t.Errorf("%+v", out)
	}
}

// A case about a discovery store is an error of ours where no store can be had, and says so.
func TestACaseWithoutItsStoreIsAnError(t *testing.T) {
	p := NewPool(Env{Manifest: target.Reference(nil), Seed: 1})
	defer p.Close()
	c := one(judge.Served(1))
	c.Store = target.StoreEtcd
	if out := p.Exec(t.Context(), c, 1, nil); out.Verdict != report.Error || !strings.Contains(out.Detail, "discovery store of kind etcd") {
		t.Errorf("%+v", out)
	}
}
