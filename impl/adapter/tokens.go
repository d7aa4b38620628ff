package adapter

import "github.com/routeproof/routeproof/impl/sessionindex"

// tokened is what is asked about, or answered with, by a token.
type tokened struct {
	Token string `json:"token"`
}

// token is something that has begun: an event that was admitted, or a removal.
type token struct {
	on      *instance
	kind    string
	ticket  sessionindex.Ticket
	removal sessionindex.Removal
}

// tokens are those not used yet. They belong to the server's lock.
type tokens struct {
	held   map[string]token
	handed int
}

// drop forgets the tokens of an instance; the lock is held.
func (k *tokens) drop(i *instance) {
	for id, t := range k.held {
		if t.on == i {
			delete(k.held, id)
		}
	}
}

// keep gives something that has begun its token.
func (k *tokens) keep(s *server, t token) tokened {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.handed++
	id := number("t", k.handed)
	k.held[id] = t
	return tokened{id}
}

// find returns what a token of this kind stands for.
func (k *tokens) find(s *server, id, kind string) (token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := k.held[id]
	if !ok || t.kind != kind {
		return token{}, failf(invalidArgument, "token %q stands for no %s that is still to come", id, kind)
	}
	return t, nil
}

// forget strikes a token off.
func (k *tokens) forget(s *server, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(k.held, id)
}
