package affinity

// Stats counts what a table holds.
type Stats struct {
	Sessions     int // initializing, bound, and ended but not yet reclaimed
	Initializing int // of the sessions
	Bound        int // of the sessions, those ended but not yet reclaimed included
	Leases       int // not yet over: initializers, and those whose binding has ended, included
	Waiting      int // callers behind an initializer
}

// Stats counts now. While others use the table it is a sum over moments.
func (t *Table) Stats() Stats {
	var sum Stats
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		sum.Sessions += s.core.sessions
		sum.Initializing += s.core.initializing
		sum.Leases += s.open
		sum.Waiting += s.core.waiting
		s.mu.Unlock()
	}
	sum.Bound = sum.Sessions - sum.Initializing
	return sum
}

// Len returns the number of slots taken: sessions bound, being initialized, and
// ended but not yet reclaimed. It never exceeds the capacity.
func (t *Table) Len() int { return int(t.used.Load()) }

// Steps returns how many entries, and places in the queues of the idle ones, all calls so
// far have visited; an entry that is looked for and absent counts.
func (t *Table) Steps() (sum uint64) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		sum += s.core.steps + s.core.idle.steps
		s.mu.Unlock()
	}
	return sum
}
