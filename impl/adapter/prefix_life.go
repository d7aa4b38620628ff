package adapter

import (
	"encoding/json"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

func (s *server) register(args json.RawMessage) (action, error) {
	a, err := decode[struct {
		place
		Incarnation string `json:"incarnation"`
	}](args)
	if err != nil {
		return nil, err
	}
	m, err := a.member()
	if err != nil {
		return nil, err
	}
	if !isIncarnation(a.Incarnation) {
		return nil, failf(invalidArgument, "incarnation is %q; want a name of 1 to %d characters", a.Incarnation, maxIncarnation)
	}
	_, p, err := of[*prefixes](s, a.Instance)
	if err != nil {
		return nil, err
	}
	return func(c caller) (any, error) { return nothing{}, p.Register(c.ctx, m, a.Incarnation) }, nil
}

// leaver finds who is to be removed.
func (s *server) leaver(args json.RawMessage) (*instance, *prefixes, sessionindex.Member, error) {
	a, err := decode[place](args)
	if err != nil {
		return nil, nil, sessionindex.Member{}, err
	}
	m, err := a.member()
	if err != nil {
		return nil, nil, m, err
	}
	i, p, err := of[*prefixes](s, a.Instance)
	return i, p, m, err
}

func (s *server) removeNow(args json.RawMessage) (action, error) {
	_, p, m, err := s.leaver(args)
	if err != nil {
		return nil, err
	}
	answer := new(dropped)
	return func(c caller) (any, error) {
		answer.Dropped, err = p.BeginRemoval(m).Await(c.ctx)
		return answer, err
	}, nil
}

func (s *server) admitStore(args json.RawMessage) (action, error) {
	i, p, event, err := s.store(args)
	if err != nil {
		return nil, err
	}
	return func(caller) (any, error) {
		return s.tokens.keep(s, token{on: i, kind: "store", ticket: p.AdmitStore(event)}), nil
	}, nil
}

func (s *server) admitMatch(args json.RawMessage) (action, error) {
	i, p, event, err := s.match(args)
	if err != nil {
		return nil, err
	}
	return func(caller) (any, error) {
		return s.tokens.keep(s, token{on: i, kind: "match", ticket: p.AdmitMatch(event)}), nil
	}, nil
}

func (s *server) beginRemoval(args json.RawMessage) (action, error) {
	i, p, m, err := s.leaver(args)
	if err != nil {
		return nil, err
	}
	return func(caller) (any, error) {
		return s.tokens.keep(s, token{on: i, kind: "removal", removal: p.BeginRemoval(m)}), nil
	}, nil
}

func (s *server) applyStore(args json.RawMessage) (action, error) {
	return s.applyTicket("store", args)
}

func (s *server) applyMatch(args json.RawMessage) (action, error) {
	return s.applyTicket("match", args)
}

func (s *server) applyTicket(kind string, args json.RawMessage) (action, error) {
	a, err := decode[tokened](args)
	if err != nil {
		return nil, err
	}
	return func(c caller) (any, error) {
		t, err := s.tokens.find(s, a.Token, kind)
		if err != nil {
			return nil, err
		}
		s.tokens.forget(s, a.Token)
		r, err := t.ticket.Apply(c.ctx)
		return applied(r), err
	}, nil
}

func (s *server) awaitRemoval(args json.RawMessage) (action, error) {
	a, err := decode[tokened](args)
	if err != nil {
		return nil, err
	}
	return func(c caller) (any, error) {
		t, err := s.tokens.find(s, a.Token, "removal")
		if err != nil {
			return nil, err
		}
		n, err := t.removal.Await(c.ctx)
		if err == nil {
			s.tokens.forget(s, a.Token)
		}
		return dropped{n}, err
	}, nil
}

func (s *server) flush(args json.RawMessage) (action, error) {
	p, err := s.prefixes(args)
	if err != nil {
		return nil, err
	}
	return func(c caller) (any, error) { return nothing{}, p.Flush(c.ctx) }, nil
}

func (s *server) setPhysical(args json.RawMessage) (action, error) {
	a, err := decode[struct {
		place
		Blocks []sessionindex.Hash `json:"blocks"`
	}](args)
	if err != nil {
		return nil, err
	}
	p, at, err := s.rank(a.place)
	if err != nil {
		return nil, err
	}
	return func(caller) (any, error) {
		p.physical.set(at, a.Blocks)
		return nothing{}, nil
	}, nil
}

func (s *server) failPhysical(args json.RawMessage) (action, error) {
	a, err := decode[struct {
		named
		Barrier   bool `json:"barrier"`
		LowerTier bool `json:"lowerTier"`
	}](args)
	if err != nil {
		return nil, err
	}
	_, p, err := of[*prefixes](s, a.Instance)
	if err != nil {
		return nil, err
	}
	return func(caller) (any, error) {
		p.physical.fail(a.Barrier, a.LowerTier)
		return nothing{}, nil
	}, nil
}
