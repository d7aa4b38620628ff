package model

import (
	"slices"

	"github.com/routeproof/routeproof/suites/script"
)

var (
	invalid = script.Fails(script.InvalidArgument)
	stale   = script.Fails(script.Stale)
	// ended is what a call on a lease that is over may be answered: it does nothing.
	ended = []script.Outcome{script.Done, stale, invalid}
)

// says is a way in which one answer comes.
func says(name string, next state, anyOf ...script.Outcome) Way {
	return Way{Wants: []script.Want{{Name: name, AnyOf: anyOf}}, next: next}
}

// and adds an answer to each of several ways.
func and(ways []Way, name string, anyOf ...script.Outcome) []Way {
	for i := range ways {
		ways[i].Wants = append([]script.Want{{Name: name, AnyOf: anyOf}}, ways[i].Wants...)
	}
	return ways
}

// step says how one may go; nothing of one that cannot be asked.
func (s state) step(st *script.Step) []Way {
	switch st.Op {
	case script.Acquire, script.Query:
		if st.Ask == nil {
			return nil
		}
	case script.Commit, script.Release, script.Invalidate:
		if st.Op == script.Commit && st.At == nil {
			return nil
		}
		if s.lease(st.Ref) < 0 {
			if st.Batch != 0 { // the operation that it names has given none
				return []Way{says(st.Name, s, invalid)}
			}
			return nil
		}
	case script.Create:
		if st.Config == nil {
			return nil
		}
	}
	switch st.Op {
	case script.Acquire:
		if malformed(st.Ask) {
			return []Way{says(st.Name, s, invalid)}
		}
		ways := s.acquire(st.Name, keyOf(st.Ask), st.Ask.Pin)
		for i, w := range ways {
			if st.Batch != 0 && len(w.Wants) == 0 { // who would wait in a batch leaves at once
				ways[i] = says(st.Name, s, script.Fails(script.Cancelled))
			}
		}
		return ways
	case script.Query:
		if malformed(st.Ask) {
			return []Way{says(st.Name, s, invalid)}
		}
		return s.query(st.Name, keyOf(st.Ask), st.Ask.Pin)
	case script.Commit:
		return s.commit(st.Name, st.Ref, *st.At)
	case script.Release, script.Invalidate:
		return s.end(st.Name, st.Ref, st.Op == script.Invalidate)
	case script.Cancel:
		if !slices.ContainsFunc(s.waiting, func(w waiter) bool { return w.name == st.Ref }) {
			return []Way{says(st.Name, s, script.Done)}
		}
		return and([]Way{says(st.Ref, s.leaves(st.Ref), script.Fails(script.Cancelled))}, st.Name, script.Done)
	case script.Advance:
		s.now += st.By
		way := says(st.Name, s.lapse(), script.Done)
		for _, w := range s.waiting {
			if w.due <= s.now {
				way.Wants = append(way.Wants, script.Want{Name: w.name, AnyOf: []script.Outcome{script.Fails(script.Unavailable)}})
				way.next = way.next.leaves(w.name)
			}
		}
		return []Way{way}
	case script.SetWorkers:
		s.workers = st.Workers
		return []Way{says(st.Name, s, script.Done)}
	case script.Create: // another instance, apart from this one
		if c := st.Config; c.IdleTTL < minTTL || c.IdleTTL > maxTTL || c.Capacity < 0 || c.InitWait < 0 {
			return []Way{says(st.Name, s, invalid)}
		}
		return []Way{says(st.Name, s, script.Done)}
	case script.Count:
		return []Way{says(st.Name, s, s.sums()...)}
	}
	return nil
}

// maxSession is the longest session id, in bytes.
const maxSession = 256

// malformed says that an ask can never be: its id is too long, or it pins a rank of no
// worker (decisions 1 and 9).
func malformed(a *script.Ask) bool {
	return len(a.Session) > maxSession || a.Pin != nil && a.Pin.Worker == ""
}

func (s state) acquire(name string, k key, pin *script.Where) (ways []Way) {
	if pin != nil && !s.there(*pin) {
		ways = append(ways, says(name, s, invalid)) // what a pin names may be checked, too
	}
	i := s.place(k)
	switch {
	case i >= 0 && !s.places[i].bound:
		s = s.clone()
		s.waiting = append(s.waiting, waiter{name, k, pin, s.now + s.rules.wait})
		return append(ways, Way{next: s})
	case i >= 0 && !s.dead(s.places[i]):
		return append(ways, s.meet(name, s.places[i], pin)...)
	case i >= 0: // its place is free for it
		return append(ways, says(name, s.without(s.places[i]).with(k, name, pin), script.Initializes))
	}
	free, refused := s.room(k)
	for _, f := range free {
		ways = append(ways, says(name, f.with(k, name, pin), script.Initializes))
	}
	if len(refused) > 0 {
		ways = append(ways, says(name, s, refused...))
	}
	return ways
}

// meet leases a living binding, if the pin does not contradict it (decision 8; of a rank
// where the binding has none, PIN-006).
func (s state) meet(name string, p place, pin *script.Where) []Way {
	switch {
	case pin == nil || pin.Worker == p.at.Worker && (pin.Rank == nil || pin.Same(p.at)):
		return []Way{says(name, s.joined(p, name, pin, false), script.Bound(p.at))}
	case pin.Worker == p.at.Worker && p.at.Rank == nil:
		return []Way{says(name, s, invalid), says(name, s.joined(p, name, pin, true), script.Bound(p.at), script.Bound(*pin))}
	}
	return []Way{says(name, s, invalid)}
}

// query answers from the binding and changes nothing (decision 14).
func (s state) query(name string, k key, pin *script.Where) []Way {
	i := s.place(k)
	if i < 0 || !s.places[i].bound || s.dead(s.places[i]) {
		if pin != nil && !s.there(*pin) {
			return []Way{says(name, s, script.Unbound, invalid)}
		}
		return []Way{says(name, s, script.Unbound)}
	}
	ways := s.meet(name, s.places[i], pin)
	for j := range ways {
		ways[j].next = s
	}
	return ways
}

// fits says whether a dispatch agrees with what was agreed on: it may add a rank.
func fits(dispatched script.Where, agreed *script.Where) bool {
	return agreed == nil || dispatched.Worker == agreed.Worker && (agreed.Rank == nil || dispatched.Same(*agreed))
}

func (s state) commit(step, name string, at script.Where) []Way {
	i := s.lease(name)
	l := s.leases[i]
	if l.over {
		return []Way{says(step, s, stale, invalid)}
	}
	j := s.of(l.life)
	if j < 0 { // its binding was replaced; it may still check what it knew
		return []Way{says(step, s, ended...)}
	}
	p := s.places[j]
	if !p.bound {
		return s.bind(step, i, p, at)
	}
	switch ok := fits(at, &p.at); {
	case s.dead(p) && ok:
		return []Way{says(step, s, ended...)}
	case s.dead(p):
		return []Way{says(step, s, stale, invalid)}
	case ok && (l.free || !s.there(at)):
		return []Way{says(step, s, script.Done, invalid)}
	case ok:
		return []Way{says(step, s, script.Done)}
	}
	return []Way{says(step, s, invalid)}
}

// bind is an initializer's commit.
func (s state) bind(step string, i int, p place, at script.Where) (ways []Way) {
	if !fits(at, s.leases[i].pin) || !s.there(at) {
		// Whether the lease ends with that is the library's business.
		ways = append(ways, says(step, s, invalid))
		ways = append(ways, and(s.ended(i).without(p).wake(p.key), step, invalid)...)
	}
	if !fits(at, s.leases[i].pin) {
		return ways
	}
	bound := s.clone()
	j := bound.of(p.life)
	bound.places[j].bound, bound.places[j].at = true, at
	return append(ways, and(bound.wake(p.key), step, script.Done)...)
}

// wake lets those go on who waited for a key's initializer, which has bound it or is over.
func (s state) wake(k key) (ways []Way) {
	w := slices.IndexFunc(s.waiting, func(w waiter) bool { return w.key == k })
	if w < 0 {
		return []Way{{next: s}}
	}
	if i := s.place(k); i >= 0 && !s.dead(s.places[i]) {
		first := s.waiting[w]
		for _, met := range s.leaves(first.name).meet(first.name, s.places[i], first.pin) {
			for _, rest := range met.next.wake(k) {
				rest.Wants = append(slices.Clone(met.Wants), rest.Wants...)
				ways = append(ways, rest)
			}
		}
		return ways
	} else if i >= 0 { // it was bound where nobody lives any more
		s = s.without(s.places[i])
	}
	for _, heir := range s.waiting { // exactly one of them, whichever; its place is free for it
		if heir.key != k {
			continue
		}
		ways = append(ways, says(heir.name, s.leaves(heir.name).with(k, heir.name, heir.pin), script.Initializes))
		if heir.pin != nil && !s.there(*heir.pin) {
			ways = append(ways, and(s.leaves(heir.name).wake(k), heir.name, invalid)...)
		}
	}
	return ways
}

// end is a release, or an invalidation.
func (s state) end(step, name string, unbinds bool) []Way {
	i := s.lease(name)
	l := s.leases[i]
	j := s.of(l.life)
	switch {
	case l.over:
		return []Way{says(step, s, ended...)}
	case j < 0:
		return []Way{says(step, s.ended(i), ended...)}
	case !s.places[j].bound:
		p := s.places[j]
		return and(s.ended(i).without(p).wake(p.key), step, script.Done)
	case unbinds:
		return []Way{says(step, s.ended(i).without(s.places[j]), script.Done)}
	}
	return []Way{says(step, s.ended(i), script.Done)}
}
