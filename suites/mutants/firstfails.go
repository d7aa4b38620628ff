package mutants

import (
	"context"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/router"
)

// bindsWhen is a mutant that binds a new session by some answers that are no success.
func bindsWhen(id, fault string, when func(router.Outcome) bool, killedBy ...string) Mutant {
	return failover(id, fault, killedBy, binds(func(o router.Outcome) bool { return !o.Bound && o.Status >= 300 && when(o) }))
}

// AFFBindsPinned takes a wish for a binding.
func (Catalogue) AFFBindsPinned() Mutant {
	return bindsWhen("aff/binds-pinned", "a first turn that is pinned binds its session, whatever it is answered",
		func(o router.Outcome) bool { return o.Pinned }, "AFF-004/pinned")
}

// AFFBindsRetried takes the second worker's answer for good.
func (Catalogue) AFFBindsRetried() Mutant {
	return bindsWhen("aff/binds-retried", "a first turn that was tried at a second worker binds its session there, whatever it is answered",
		func(o router.Outcome) bool { return o.Attempt > 1 }, "AFF-004/retried")
}

// AFFBindsMoved takes the second worker's answer for good where the first one was home.
func (Catalogue) AFFBindsMoved() Mutant {
	return failover("aff/binds-moved", "a bound session's turn that was tried at a second worker binds it there, whatever it is answered", []string{"AFF-013/retried"},
		binds(func(o router.Outcome) bool { return o.Failure == router.None && o.WasBound && o.Elsewhere > 0 }))
}

// AFFBindsUncommon knows some errors.
func (Catalogue) AFFBindsUncommon() Mutant {
	return bindsWhen("aff/binds-on-501", "a first turn that is answered 501, 505, 507 or 599 binds its session",
		func(o router.Outcome) bool {
			return o.Status == 501 || o.Status == 505 || o.Status == 507 || o.Status == 599
		}, "AFF-004/server-error")
}

// AFFBindsOnly200 knows one success.
func (Catalogue) AFFBindsOnly200() Mutant {
	return failover("aff/binds-only-on-200", "a first turn that is answered with a 2xx other than 200 binds nothing", []string{"AFF-001/turns"},
		keeps(func(o router.Outcome) bool { return !o.Bound && o.Status/100 == 2 && o.Status != 200 }))
}

// AFFUnbindsTimeouts ends a binding for a client's slowness.
func (Catalogue) AFFUnbindsTimeouts() Mutant {
	return failover("aff/unbinds-on-408", "a 408, 425 or 451 to a bound session ends its binding", []string{"AFF-010/client-error"},
		ends(func(o router.Outcome) bool { return o.Bound && (o.Status == 408 || o.Status == 425 || o.Status == 451) }))
}

// AFFUnbindsWholeLeavers ends a binding because a client left a whole answer.
func (Catalogue) AFFUnbindsWholeLeavers() Mutant {
	return shaped("aff/unbinds-whole-leavers", "a client that leaves in the middle of an answer without stream ends its session's binding",
		func(ctx context.Context, l affinity.Lease, h *held, latest func() asked) {
			begun := false
			h.commit = func(t affinity.Target) error { begun = true; return l.Commit(t) }
			h.release = func() {
				if begun && ctx.Err() != nil && !latest().stream {
					l.Invalidate()
				}
				l.Release()
			}
		}, "AFF-010/client-left")
}
