package affinity

// Lease is one request's hold on a session: either an initializer, which must
// choose a target, or bound. It is a small value to be copied freely; all copies
// are one lease. Every lease must be released. All methods are safe for
// concurrent use and do nothing once the lease is over, as those of the zero
// Lease always do.
type Lease struct {
	holder Holder
	gen    uint64
}

// Holder is what keeps leases. It may use itself again for the next lease: each
// is told apart by its generation, and a call with one that is over does
// nothing. The methods are those of Lease.
type Holder interface {
	Bound(gen uint64) (Target, bool)
	Commit(gen uint64, t Target) error
	Release(gen uint64)
	Invalidate(gen uint64)
}

// NewLease makes the lease with the generation; for coordinators other than Table.
func NewLease(h Holder, gen uint64) Lease { return Lease{h, gen} }

// Bound returns the target the session is bound to. An initializer that has not
// committed is not bound, nor is a lease that is over. A lease whose
// binding was invalidated keeps its target: its request finishes where it is.
func (l Lease) Bound() (Target, bool) {
	if l.holder == nil {
		return Target{}, false
	}
	return l.holder.Bound(l.gen)
}

// Commit tells where the request was dispatched. On an initializer it binds the
// session: the initializer becomes a bound lease, and everybody who waits gets
// one too, except those whose own pin it contradicts. On a bound lease it only
// checks, also after the binding was invalidated: the target may have a rank
// that the binding lacks, and the binding stays without it.
//
// It fails with ErrStale if the lease is over, and with ErrMismatch if the target
// does not meet the binding or the initializer's pin (another worker, another
// rank, or none where there is one), or names no worker. An ErrMismatch leaves a
// binding and its lease as they are, and ends an initializer as Release does.
func (l Lease) Commit(t Target) error {
	if l.holder == nil {
		return ErrStale
	}
	return l.holder.Commit(l.gen, t)
}

// Release ends the lease. On a bound lease the session's TTL starts again from
// now; an initializer is abandoned, which hands initializing over to exactly
// one waiter, if there is one. Only the first call counts.
func (l Lease) Release() {
	if l.holder != nil {
		l.holder.Release(l.gen)
	}
}

// Invalidate ends the lease and removes the binding it belongs to, even if others
// hold leases on it; theirs end without touching a newer binding. If the binding
// was replaced meanwhile, nothing happens to the newer one. On an initializer it
// means Release.
func (l Lease) Invalidate() {
	if l.holder != nil {
		l.holder.Invalidate(l.gen)
	}
}
