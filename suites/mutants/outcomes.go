package mutants

import "github.com/routeproof/routeproof/impl/router"

// failover makes a router with another rule for what an outcome means.
func failover(id, fault string, killed []string, f func(router.Outcome, router.Decision) router.Decision) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killed,
		New: with(func(_ *router.Config, p *router.Parts) {
			inner := p.Failover
			p.Failover = func(o router.Outcome) router.Decision { return f(o, inner(o)) }
		})}
}

// AFFBindsErrors binds on any answer.
func (Catalogue) AFFBindsErrors() Mutant {
	return failover("aff/binds-on-errors", "any answer to a first turn binds its session, errors included", []string{"AFF-004/client-error", "AFF-004/overload", "AFF-004/server-error"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Failure == router.None && !o.Bound {
				d.Binding = router.Commit
			}
			return d
		})
}

// AFFBindsLeavers binds when the client has gone.
func (Catalogue) AFFBindsLeavers() Mutant {
	return failover("aff/binds-leavers", "a first turn whose client left before headers binds its session", []string{"AFF-004/client-left"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Failure == router.Cancelled && !o.Bound {
				d.Binding = router.Commit
			}
			return d
		})
}

// AFFBindsBroken binds what it could not reach.
func (Catalogue) AFFBindsBroken() Mutant {
	return failover("aff/binds-broken", "a first turn that failed at every worker binds its session to the last of them", []string{"AFF-004/reset"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Failure == router.Broken && !o.Bound && d.Action == router.Fail {
				d.Binding = router.Commit
			}
			return d
		})
}

// AFFKeepsDead never lets go of a worker.
func (Catalogue) AFFKeepsDead() Mutant {
	return failover("aff/keeps-dead", "a session stays bound to a worker that cannot be reached", []string{"AFF-005/crash", "AFF-005/refuse"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Bound && o.Failure == router.Broken {
				return router.Decision{Action: router.Fail, Binding: router.Keep}
			}
			return d
		})
}

// AFFDrifts serves a dead worker's session without binding it again.
func (Catalogue) AFFDrifts() Mutant {
	return failover("aff/drifts", "a turn that was retried elsewhere leaves its session unbound", []string{"AFF-005/crash", "AFF-001/retried"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Attempt > 1 && d.Binding == router.Commit {
				d.Binding = router.Keep
			}
			return d
		})
}

func overloaded(o router.Outcome) bool { return o.Status == 429 || o.Status == 503 }

// AFFOverloadUnbinds lets a full worker lose its sessions.
func (Catalogue) AFFOverloadUnbinds() Mutant {
	return failover("aff/overload-unbinds", "a bound worker's 429 or 503 ends the binding", []string{"AFF-008/overload"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if overloaded(o) {
				d.Binding = router.Invalidate
			}
			return d
		})
}

// AFFOverloadRetries sends a full worker's request to another.
func (Catalogue) AFFOverloadRetries() Mutant {
	return failover("aff/overload-retries", "a bound worker's 429 or 503 is retried on another worker", []string{"AFF-008/overload"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if overloaded(o) {
				return router.Decision{Action: router.RetryElsewhere, Binding: router.Invalidate}
			}
			return d
		})
}

// AFFUnbindsErrors ends a binding for a client's fault.
func (Catalogue) AFFUnbindsErrors() Mutant {
	return failover("aff/unbinds-on-4xx", "a 4xx to a bound session ends its binding", []string{"AFF-010/client-error"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Bound && o.Status/100 == 4 && o.Status != 429 {
				d.Binding = router.Invalidate
			}
			return d
		})
}

// AFFUnbindsLeavers ends a binding because a client left.
func (Catalogue) AFFUnbindsLeavers() Mutant {
	return failover("aff/unbinds-leavers", "a client that leaves before headers ends its session's binding", []string{"AFF-010/client-left"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Bound && o.Failure == router.Cancelled {
				d.Binding = router.Invalidate
			}
			return d
		})
}

// AFFListedErrors knows some errors.
func (Catalogue) AFFListedErrors() Mutant {
	return failover("aff/listed-errors", "of a bound worker's 5xx only 500, 502 and 504 end the binding", []string{"AFF-022/server-error"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Bound && o.Status > 500 && o.Status != 502 && o.Status != 504 {
				d.Binding = router.Keep
			}
			return d
		})
}

// AFFUnbindsAuth ends a binding for a client's credentials.
func (Catalogue) AFFUnbindsAuth() Mutant {
	return failover("aff/unbinds-on-401", "a 401, 403, 409 or 413 to a bound session ends its binding", []string{"AFF-010/client-error"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Bound && (o.Status == 401 || o.Status == 403 || o.Status == 409 || o.Status == 413) {
				d.Binding = router.Invalidate
			}
			return d
		})
}

// AFFErrorsKeep keeps what a broken worker has.
func (Catalogue) AFFErrorsKeep() Mutant {
	return failover("aff/errors-keep", "a bound worker's 5xx leaves the binding as it is", []string{"AFF-022/server-error"},
		func(o router.Outcome, d router.Decision) router.Decision {
			if o.Status >= 500 && o.Bound {
				d.Binding = router.Keep
			}
			return d
		})
}
