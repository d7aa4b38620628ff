package model

import (
	"slices"
	"time"

	"github.com/routeproof/routeproof/suites/lineage"
)

// Asks says whether the rules say what becomes of a step: whether it refers to what was
// begun, and whether it may be asked now.
func (m *Model) Asks(st *lineage.Step) bool {
	switch st.Op {
	case lineage.Store, lineage.Match:
		return m.asksEvent(st, m.moment)
	case lineage.StoreAdmit, lineage.MatchAdmit:
		_, twice := m.tickets[st.Name]
		return st.Name != "" && !twice
	case lineage.StoreApply, lineage.MatchApply:
		t, ok := m.tickets[st.Ref]
		return ok && applies[t.step.Op] == st.Op && m.asksEvent(t.step, t.moment)
	case lineage.RemoveBegin:
		_, twice := m.removals[st.Name]
		return st.Name != "" && !twice && !m.isGoing(at(st.At))
	case lineage.RemoveAwait:
		_, ok := m.removals[st.Ref]
		return ok && !m.lowerTier
	case lineage.WorkerRemove: // again, perhaps, after it has failed
		return !m.isGoing(at(st.At)) || slices.Contains(m.going, at(st.At)) && len(m.removals) == 0
	case lineage.Register:
		return !m.barrier && !m.lowerTier
	case lineage.Fill:
		return m.moment == m.fills && st.From == m.filled
	case lineage.PhysicalSet, lineage.PhysicalFail, lineage.Create, lineage.Flush:
		return true
	}
	return len(m.going) == 0 // what is going may show, or not
}

// applies pairs what is admitted with what applies it.
var applies = map[string]string{lineage.StoreAdmit: lineage.StoreApply, lineage.MatchAdmit: lineage.MatchApply}

// asksEvent is Asks for a store or a match that was admitted at a moment.
func (m *Model) asksEvent(st *lineage.Step, moment int) bool {
	ignored := len(st.Session) > lineage.MaxSessionBytes || st.Block == "" && len(st.Blocks) == 0
	switch m.fate(st, moment) {
	case unsaid:
		return false
	case discarded: // rather than refused, or ignored? Either will do
		return !ignored && len(m.refusals(st.Parent, st.Blocks)) == 0
	}
	// While something is going, whether it still takes a session's place is open.
	return len(m.going) == 0 || len(m.used) < m.sessions/2
}

// Step takes a step, which Asks must allow, and returns what may be answered, the likeliest
// first.
func (m *Model) Step(st *lineage.Step) []lineage.Answer {
	m.moment++
	answers := m.step(st)
	m.reclaim()
	return answers
}

func (m *Model) step(st *lineage.Step) []lineage.Answer {
	one := func(a lineage.Answer) []lineage.Answer { return []lineage.Answer{a} }
	switch st.Op {
	case lineage.Store, lineage.Match:
		return m.event(st, m.moment)
	case lineage.StoreAdmit, lineage.MatchAdmit:
		m.tickets[st.Name] = ticket{st, m.moment}
		return one(lineage.Taken)
	case lineage.StoreApply, lineage.MatchApply:
		t := m.tickets[st.Ref]
		delete(m.tickets, st.Ref)
		return m.event(t.step, t.moment)
	case lineage.Fill:
		m.fill(st.From, st.Times, at(st.At), st.Block)
		return one(lineage.Counts(st.Times))
	case lineage.Remove:
		if len(st.Blocks) > 0 {
			m.evicted[at(st.At)] = m.moment
		}
		return one(lineage.Counts(m.remove(at(st.At), st.Blocks)))
	case lineage.Clear:
		m.evicted[at(st.At)], m.cleared[at(st.At)] = m.moment, m.moment
		dropped := m.clear(at(st.At))
		if m.lowerTier {
			return one(lineage.Fails(lineage.Unavailable))
		}
		return one(lineage.Counts(dropped))
	case lineage.Advance:
		m.now += st.By
		return one(lineage.Done)
	case lineage.Create:
		return one(created(*st.Config))
	case lineage.Register:
		m.register(at(st.At), st.Incarnation)
		return one(lineage.Done)
	case lineage.WorkerRemove, lineage.RemoveBegin, lineage.RemoveAwait:
		return one(m.removing(st))
	case lineage.PhysicalSet:
		m.held[at(st.At)] = st.Blocks
		return one(lineage.Done)
	case lineage.PhysicalFail:
		m.barrier, m.lowerTier = st.Barrier, st.LowerTier
		return one(lineage.Done)
	case lineage.Flush:
		if m.barrier {
			return one(lineage.Fails(lineage.Unavailable))
		}
		return one(lineage.Done)
	}
	return one(m.read(st))
}

// event lets a store or a match take effect.
func (m *Model) event(st *lineage.Step, moment int) []lineage.Answer {
	blocks := st.Blocks
	if st.Block != "" {
		blocks = []string{st.Block}
	}
	if m.fate(st, moment) == discarded {
		m.discarded++
		return []lineage.Answer{lineage.Discarded}
	}
	if len(blocks) == 0 || len(st.Session) > lineage.MaxSessionBytes {
		return []lineage.Answer{lineage.Unchanged}
	}
	changed := false
	if st.Op == lineage.Match || st.Op == lineage.MatchAdmit {
		changed = m.match(st.Session, at(st.At), st.Block)
	} else if refused := m.refusals(st.Parent, blocks); len(refused) > 0 {
		return refused
	} else {
		changed = m.store(st.Session, at(st.At), st.Parent, blocks)
	}
	if changed {
		return []lineage.Answer{lineage.Changed}
	}
	return []lineage.Answer{lineage.Unchanged}
}

// removing begins or finishes a removal, or does both.
func (m *Model) removing(st *lineage.Step) lineage.Answer {
	var r removal
	if st.Op == lineage.RemoveAwait {
		r = m.removals[st.Ref]
	} else {
		r.who = at(st.At)
		m.retire(r.who)
		r.dropped = m.clear(r.who)
		if overlaps(m.failed, r.who) {
			r.dropped = -1
		}
		if !slices.Contains(m.going, r.who) {
			m.going = append(m.going, r.who)
		}
	}
	switch {
	case st.Op == lineage.RemoveBegin:
		m.removals[st.Name] = r
		return lineage.Taken
	case m.barrier:
		m.failed = append(m.failed, r.who)
		if st.Op == lineage.RemoveAwait {
			m.removals[st.Ref] = removal{r.who, -1}
		}
		return lineage.Fails(lineage.Unavailable)
	}
	delete(m.removals, st.Ref)
	m.gone(r.who)
	if m.lowerTier && st.Op == lineage.WorkerRemove {
		m.failed = append(m.failed, r.who)
		return lineage.Fails(lineage.Unavailable)
	}
	return lineage.Counts(r.dropped)
}

// read answers what changes nothing.
func (m *Model) read(st *lineage.Step) lineage.Answer {
	switch st.Op {
	case lineage.Frontiers:
		return lineage.Reaches(m.reaches(st.Session)...)
	case lineage.Lineages:
		if st.Block != "" && !m.known(st.Block) {
			return lineage.FailsAt(lineage.UnknownAnchor, st.Block)
		}
		var chains [][]string
		for _, f := range m.frontiers(m.has[st.Session][at(st.At)]) {
			path := m.path(f)
			if st.Block != "" {
				i := slices.Index(path, st.Block)
				if i < 0 {
					continue
				}
				path = path[:i+1]
			}
			slices.Reverse(path)
			chains = append(chains, path)
		}
		return lineage.Chains(chains...)
	case lineage.Size:
		size := lineage.Sized(len(m.parent), len(m.used))
		if m.claimed("lifecycle") {
			size = size.Discarding(m.discarded)
		}
		return size
	}
	return lineage.Answer{State: lineage.StateDump, Dump: m.dump()}
}

func (m *Model) reaches(session string) (all []lineage.Frontier) {
	for p, d := range m.has[session] {
		for _, b := range m.frontiers(d) {
			all = append(all, lineage.F(p.where(), b))
		}
	}
	return all
}

func (m *Model) dump() *lineage.State {
	s := &lineage.State{}
	for b, parent := range m.parent {
		s.Blocks = append(s.Blocks, lineage.Known{Block: b, Parent: parent, Phantom: m.phantoms[b]})
	}
	for _, id := range m.used {
		s.Sessions = append(s.Sessions, lineage.HeldSession{Session: id, Frontiers: m.reaches(id)})
	}
	return s
}

// created says whether there can be an instance of such a configuration.
func created(c lineage.Config) lineage.Answer {
	if c.Sessions != nil && *c.Sessions < 1 || c.Retention != nil && *c.Retention < time.Millisecond {
		return lineage.Fails(lineage.InvalidArgument)
	}
	return lineage.Done
}
