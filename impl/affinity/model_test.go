package affinity

import "time"

// model says what a table must do, as naively as can be: one map, no hash, no
// queue, no revision, nothing done in advance or late. What a lease refers to
// is told by identity.
type model struct {
	idleTTL, initWait time.Duration
	capacity          int
	evict             bool
	dead              mortal

	now      time.Duration
	sessions map[Key]*modelSession
}

type modelSession struct {
	home    Target // none while somebody initializes
	holders int
	last    time.Duration // when the last holder left
	line    []*modelLease
}

// modelLease is one call of Acquire and what came of it.
type modelLease struct {
	ask     Ask
	session *modelSession
	home    Target // none for an initializer
	waiting bool
	since   time.Duration // waiting
	over    bool
	err     error // over without ever having been a lease
}

func (m *model) expired(s *modelSession) bool {
	return s.home.Worker != "" && s.holders == 0 && m.now-s.last >= m.idleTTL
}

func (m *model) ended(s *modelSession) bool {
	return m.expired(s) || s.home.Worker != "" && !m.dead.live("", s.home)
}

// contradicts is written out case by case, unlike what it judges.
func contradicts(pin, home Target) bool {
	if pin.Worker == "" {
		return false
	}
	if pin.Worker != home.Worker {
		return true
	}
	want, wanted := pin.Rank.Value()
	have, had := home.Rank.Value()
	switch {
	case !wanted:
		return false
	case !had:
		return true
	}
	return want != have
}

func refusal(a Ask) error {
	_, rank := a.Pin.Rank.Value()
	if len(a.Key.Session) > 256 {
		return ErrTooLong
	}
	if rank && a.Pin.Worker == "" {
		return ErrRankAlone
	}
	return nil
}

func (m *model) acquire(a Ask) *modelLease {
	l := &modelLease{ask: a}
	l.err = refusal(a)
	if l.err == nil {
		m.place(l)
	}
	l.over = l.err != nil
	return l
}

// place lets a lease find its session.
func (m *model) place(l *modelLease) {
	k := l.ask.Key
	s := m.sessions[k]
	if s != nil && m.expired(s) {
		delete(m.sessions, k)
		s = nil
	}
	switch {
	case s == nil:
		if !m.room() {
			l.err = ErrCapacity
			return
		}
		l.session = &modelSession{}
		m.sessions[k] = l.session
	case s.home.Worker == "":
		l.session, l.waiting, l.since = s, true, m.now
		s.line = append(s.line, l)
	case m.ended(s):
		l.session = &modelSession{}
		m.sessions[k] = l.session
	case contradicts(l.ask.Pin, s.home):
		l.err = ErrPin
	default:
		l.session, l.home = s, s.home
		s.holders++
	}
}

// room says whether there is room for one session more, once room was made.
func (m *model) room() bool {
	for k, s := range m.sessions {
		if m.expired(s) {
			delete(m.sessions, k)
		}
	}
	if len(m.sessions) < m.capacity {
		return true
	}
	for k, s := range m.sessions {
		if m.ended(s) {
			delete(m.sessions, k)
		}
	}
	if len(m.sessions) < m.capacity {
		return true
	}
	var longest *Key
	for k, s := range m.sessions {
		if s.home.Worker != "" && s.holders == 0 && (longest == nil || s.last < m.sessions[*longest].last) {
			longest = &k
		}
	}
	if !m.evict || longest == nil {
		return false
	}
	delete(m.sessions, *longest)
	return true
}

func (m *model) query(a Ask) (Target, error) {
	if err := refusal(a); err != nil {
		return Target{}, err
	}
	s := m.sessions[a.Key]
	if s == nil || m.ended(s) {
		return Target{}, nil
	}
	if s.home.Worker != "" && contradicts(a.Pin, s.home) {
		return Target{}, ErrPin
	}
	return s.home, nil
}

func (m *model) commit(l *modelLease, t Target) error {
	initializer := l.home.Worker == ""
	switch {
	case l.over:
		return ErrStale
	case initializer && (t.Worker == "" || contradicts(l.ask.Pin, t)):
		m.end(l, false)
		return ErrMismatch
	case !initializer && contradicts(l.home, t):
		return ErrMismatch
	case !initializer:
		return nil
	}
	s := l.session
	l.home, s.home, s.holders = t, t, 1
	line := s.line
	s.line = nil
	if len(line) > 0 && m.ended(s) { // as if those who wait arrived now, in their order
		fresh := &modelSession{line: line[1:]}
		m.sessions[l.ask.Key] = fresh
		line[0].waiting = false
		for _, w := range line {
			w.session = fresh
		}
		return nil
	}
	for _, w := range line {
		w.waiting = false
		if contradicts(w.ask.Pin, t) {
			w.over, w.err = true, ErrPin
			continue
		}
		w.home = t
		s.holders++
	}
	return nil
}

// end is Release and Invalidate.
func (m *model) end(l *modelLease, invalidate bool) {
	if l.over {
		return
	}
	l.over = true
	s, present := l.session, m.sessions[l.ask.Key] == l.session
	switch {
	case l.home.Worker != "":
		s.holders--
		s.last = m.now
		if invalidate && present {
			delete(m.sessions, l.ask.Key)
		}
	case len(s.line) > 0:
		s.line[0].waiting = false
		s.line = s.line[1:]
	default:
		delete(m.sessions, l.ask.Key)
	}
}

// giveUp ends the waiting of one who waits.
func (m *model) giveUp(l *modelLease, err error) {
	for i, w := range l.session.line {
		if w == l {
			l.session.line = append(l.session.line[:i:i], l.session.line[i+1:]...)
		}
	}
	l.waiting, l.over, l.err = false, true, err
}
