package adapter

import (
	"encoding/json"
	"errors"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// chain is a store.
type chain struct {
	place
	Session     string              `json:"session"`
	Incarnation string              `json:"incarnation"`
	Parent      *sessionindex.Hash  `json:"parent"`
	Blocks      []sessionindex.Hash `json:"blocks"`
}

func (s *server) store(args json.RawMessage) (i *instance, p *prefixes, event sessionindex.Store, err error) {
	a, err := decode[chain](args)
	if err != nil {
		return nil, nil, event, err
	}
	if a.Blocks == nil {
		return nil, nil, event, failf(invalidArgument, "blocks is missing; an empty list is one, too")
	}
	event = sessionindex.Store{Session: a.Session, Incarnation: a.Incarnation, Blocks: a.Blocks}
	if a.Parent != nil {
		event.Parent = sessionindex.Under(*a.Parent)
	}
	if event.At, err = a.at(); err != nil {
		return nil, nil, event, err
	}
	i, p, err = of[*prefixes](s, a.Instance)
	return i, p, event, err
}

func (s *server) match(args json.RawMessage) (i *instance, p *prefixes, event sessionindex.Match, err error) {
	a, err := decode[struct {
		place
		Session     string             `json:"session"`
		Incarnation string             `json:"incarnation"`
		Block       *sessionindex.Hash `json:"block"`
	}](args)
	if err != nil {
		return nil, nil, event, err
	}
	if a.Block == nil {
		return nil, nil, event, failf(invalidArgument, "block is missing")
	}
	event = sessionindex.Match{Session: a.Session, Incarnation: a.Incarnation, Block: *a.Block}
	if event.At, err = a.at(); err != nil {
		return nil, nil, event, err
	}
	i, p, err = of[*prefixes](s, a.Instance)
	return i, p, event, err
}

// applied is the answer to a store or a match.
type applied struct {
	Changed   bool `json:"changed"`
	Discarded bool `json:"discarded,omitempty"`
}

// Answers are made where the args are read, so that a batch measures the library alone.

func (s *server) storeNow(args json.RawMessage) (action, error) {
	_, p, event, err := s.store(args)
	if err != nil {
		return nil, err
	}
	answer := new(applied)
	return func(c caller) (any, error) {
		r, err := p.AdmitStore(event).Apply(c.ctx)
		*answer = applied(r)
		return answer, err
	}, nil
}

func (s *server) matchNow(args json.RawMessage) (action, error) {
	_, p, event, err := s.match(args)
	if err != nil {
		return nil, err
	}
	answer := new(applied)
	return func(c caller) (any, error) {
		r, err := p.AdmitMatch(event).Apply(c.ctx)
		*answer = applied(r)
		return answer, err
	}, nil
}

// rank finds the index that an operation is about, and the rank.
func (s *server) rank(a place) (*prefixes, sessionindex.WorkerRank, error) {
	at, err := a.at()
	if err != nil {
		return nil, at, err
	}
	_, p, err := of[*prefixes](s, a.Instance)
	return p, at, err
}

func (s *server) evict(args json.RawMessage) (action, error) {
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
	answer := new(struct {
		Hit int `json:"hit"`
	})
	return func(c caller) (any, error) {
		answer.Hit, err = p.Remove(c.ctx, at, a.Blocks)
		return answer, err
	}, nil
}

// dropped is the answer to whatever ends claims.
type dropped struct {
	Dropped int `json:"dropped"`
}

func (s *server) clear(args json.RawMessage) (action, error) {
	a, err := decode[place](args)
	if err != nil {
		return nil, err
	}
	p, at, err := s.rank(a)
	if err != nil {
		return nil, err
	}
	answer := new(dropped)
	return func(c caller) (any, error) {
		answer.Dropped, err = p.Clear(c.ctx, at)
		return answer, err
	}, nil
}

func (s *server) frontiers(args json.RawMessage) (action, error) {
	a, err := decode[struct {
		named
		Session string `json:"session"`
	}](args)
	if err != nil {
		return nil, err
	}
	_, p, err := of[*prefixes](s, a.Instance)
	if err != nil {
		return nil, err
	}
	answer := new(struct {
		Frontiers frontiers `json:"frontiers"`
	})
	return func(caller) (any, error) {
		answer.Frontiers = p.Frontiers(a.Session)
		return answer, nil
	}, nil
}

// frontiers print as the protocol has them.
type frontiers []sessionindex.Frontier

// MarshalJSON implements json.Marshaler.
func (f frontiers) MarshalJSON() ([]byte, error) {
	type frontier struct {
		sessionindex.WorkerRank
		Block sessionindex.Hash `json:"block"`
	}
	out := make([]frontier, len(f))
	for n, one := range f {
		out[n] = frontier{one.At, one.Block}
	}
	return json.Marshal(out)
}

func (s *server) lineages(args json.RawMessage) (action, error) {
	a, err := decode[struct {
		place
		Session string             `json:"session"`
		Anchor  *sessionindex.Hash `json:"anchor"`
	}](args)
	if err != nil {
		return nil, err
	}
	p, at, err := s.rank(a.place)
	if err != nil {
		return nil, err
	}
	answer := new(struct {
		Chains [][]sessionindex.Hash `json:"chains"`
	})
	return func(caller) (any, error) {
		if a.Anchor == nil {
			answer.Chains = p.Lineages(a.Session, at)
		} else {
			answer.Chains, err = p.LineagesFrom(a.Session, at, *a.Anchor)
		}
		if answer.Chains == nil {
			answer.Chains = [][]sessionindex.Hash{}
		}
		return answer, err
	}, nil
}

// prefixes finds the index that an operation without other args is about.
func (s *server) prefixes(args json.RawMessage) (*prefixes, error) {
	a, err := decode[named](args)
	if err != nil {
		return nil, err
	}
	_, p, err := of[*prefixes](s, a.Instance)
	return p, err
}

func (s *server) size(args json.RawMessage) (action, error) {
	p, err := s.prefixes(args)
	if err != nil {
		return nil, err
	}
	answer := new(struct {
		sessionindex.Counts
		Discarded uint64 `json:"discarded"`
	})
	return func(caller) (any, error) {
		answer.Counts, answer.Discarded = p.Counts(), p.Discarded()
		return answer, nil
	}, nil
}

func (s *server) dump(args json.RawMessage) (action, error) {
	p, err := s.prefixes(args)
	if err != nil {
		return nil, err
	}
	return func(caller) (any, error) { return dumped(p.Dump()), nil }, nil
}

// dumpedBlock and dumpedSession are what a dump prints.
type (
	dumpedBlock struct {
		Block   sessionindex.Hash  `json:"block"`
		Parent  *sessionindex.Hash `json:"parent,omitempty"`
		Phantom bool               `json:"phantom,omitempty"`
	}
	dumpedSession struct {
		Session   string    `json:"session"`
		Frontiers frontiers `json:"frontiers"`
	}
)

func dumped(s sessionindex.State) any {
	blocks, sessions := make([]dumpedBlock, len(s.Blocks)), make([]dumpedSession, len(s.Sessions))
	for n, b := range s.Blocks {
		blocks[n] = dumpedBlock{b.Hash, b.Parent, b.Phantom}
	}
	for n, one := range s.Sessions {
		sessions[n] = dumpedSession{one.ID, one.Frontiers}
	}
	return map[string]any{"blocks": blocks, "sessions": sessions}
}

// refusedBlock says what is wrong with a block, if that is the error.
func refusedBlock(err error) (*failure, bool) {
	var b *sessionindex.BlockError
	if !errors.As(err, &b) {
		return nil, false
	}
	f := failf(map[error]kind{
		sessionindex.ErrCyclicParent: cyclicParent, sessionindex.ErrConflictingParent: conflictingParent,
		sessionindex.ErrUnknownParent: unknownParent, sessionindex.ErrUnknownAnchor: unknownAnchor,
	}[b.Kind], "%v", err)
	f.Block = b.Block.String()
	return f, true
}
