package mutants

import (
	"context"

	"github.com/routeproof/routeproof/impl/affinity"
)

// lateBinds is a mutant in which a good answer of a session that was bound when its turn
// was placed writes the binding again, where the table now says what over says.
func lateBinds(id, fault string, over func(at affinity.Target, bound bool) bool, killedBy ...string) Mutant {
	m := coordinator(id, fault, leasingSo(func(inner affinity.Coordinator, a affinity.Ask, l affinity.Lease, h *held) {
		if _, was := l.Bound(); !was {
			return
		}
		h.commit = func(t affinity.Target) error {
			err := l.Commit(t)
			now, bound, failed := inner.Query(a)
			if failed != nil || bound && now == t || !over(now, bound) {
				return err
			}
			for range 2 { // the first may end a newer binding
				again, failed := inner.Acquire(context.Background(), affinity.Ask{Key: a.Key})
				if failed != nil {
					return err
				}
				if _, newer := again.Bound(); newer {
					again.Invalidate()
					continue
				}
				_ = again.Commit(t)
				again.Release()
				break
			}
			return err
		}
	}), killedBy...)
	m.Coordinator = nil // which would wait for whoever binds the session just then
	return m
}

// AFFLateRebinds lets the last answer decide.
func (Catalogue) AFFLateRebinds() Mutant {
	return lateBinds("aff/late-answer-rebinds", "a good answer to a turn that was placed under an older binding takes its session back to that worker",
		func(affinity.Target, bool) bool { return true }, "AFF-013/moved", "AFF-013/server-error")
}

// AFFLateBinds lets an answer bind who is bound no more.
func (Catalogue) AFFLateBinds() Mutant {
	return lateBinds("aff/late-answer-binds", "a good answer to a turn whose session's binding has ended since binds it to that worker again",
		func(_ affinity.Target, bound bool) bool { return !bound }, "AFF-013/server-error")
}
