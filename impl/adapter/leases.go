package adapter

import "encoding/json"

// remembered is how many leases that are over are kept, so that what is done to them
// still reaches the library.
const remembered = 1000

// held is a lease that was handed out.
type held struct {
	id    string
	on    *instance
	lease lease
	over  bool
}

// leases are those handed out, and the last of those that are over. They belong to
// the server's lock.
type leases struct {
	held   map[string]*held
	ended  []*held // the oldest first
	handed int
}

// drop forgets the leases of an instance.
func (l *leases) drop(i *instance) {
	for id, h := range l.held {
		if h.on == i {
			delete(l.held, id)
		}
	}
}

// hold gives a lease its id.
func (s *server) hold(i *instance, l lease) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases.handed++
	h := &held{id: number("l", s.leases.handed), on: i, lease: l}
	s.leases.held[h.id] = h
	return h.id
}

// ended notes that a lease is over.
func (s *server) ended(h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.over {
		return
	}
	h.over = true
	l := &s.leases
	if l.ended = append(l.ended, h); len(l.ended) > remembered {
		delete(l.held, l.ended[0].id)
		l.ended = l.ended[1:]
	}
}

// find returns the lease that an operation names, by its id or, in a batch, by the
// operation that gave it. One that is not known is nil.
func (s *server) find(c caller, name json.RawMessage) (*held, error) {
	var id string
	if json.Unmarshal(name, &id) != nil {
		var index int
		if c.lease == nil || json.Unmarshal(name, &index) != nil {
			return nil, failf(invalidArgument, "lease is %q; want its id", name)
		}
		var err error
		if id, err = c.lease(index); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases.held[id], nil
}
