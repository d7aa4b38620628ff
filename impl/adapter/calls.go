package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
)

// caller is who calls a library.
type caller struct {
	ctx context.Context
	// lease finds the lease of an earlier operation of the batch; nil outside batches.
	lease func(index int) (string, error)
}

// action is an operation whose args have been read.
type action func(caller) (any, error)

// call reads the args of an operation.
type call = func(*server, json.RawMessage) (action, error)

// calls read the args of the libraries' operations. The actions may run beside each
// other.
func calls() map[string]call {
	return map[string]call{
		"batch": (*server).batch,

		"acquire": (*server).acquire, "query": (*server).query, "commit": (*server).commit, "release": (*server).release,
		"invalidate": (*server).invalidate, "count": (*server).count,

		"store": (*server).storeNow, "match": (*server).matchNow, "remove": (*server).evict, "clear": (*server).clear,
		"frontiers": (*server).frontiers, "lineages": (*server).lineages, "size": (*server).size, "dump": (*server).dump,
		"register": (*server).register, "worker.remove": (*server).removeNow,
		"store.admit": (*server).admitStore, "match.admit": (*server).admitMatch,
		"store.apply": (*server).applyStore, "match.apply": (*server).applyMatch,
		"remove.begin": (*server).beginRemoval, "remove.await": (*server).awaitRemoval,
		"flush": (*server).flush, "physical.set": (*server).setPhysical, "physical.fail": (*server).failPhysical,
	}
}

// subject finds the instance that an operation is about, as far as that can be seen
// in its args; the lock is held.
func (s *server) subject(r request) *instance {
	var a struct {
		Instance string `json:"instance"`
		Lease    any    `json:"lease"`
		Token    string `json:"token"`
	}
	args := r.Args
	if r.Op == "batch" {
		args = firstArgs(args)
	}
	if json.Unmarshal(args, &a) != nil {
		return nil // the operation itself will say why
	}
	if id, ok := a.Lease.(string); ok && s.leases.held[id] != nil {
		return s.leases.held[id].on
	}
	if t, ok := s.tokens.held[a.Token]; ok {
		return t.on
	}
	return s.instances[a.Instance]
}

// firstArgs are the args of a batch's first operation. It reads no further than that: a
// batch may be long, and whoever runs it reads all of it.
func firstArgs(batch json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(batch))
	for _, want := range []json.Token{json.Delim('{'), "ops", json.Delim('[')} {
		if got, err := d.Token(); err != nil || got != want {
			return nil
		}
	}
	var first part
	if !d.More() || d.Decode(&first) != nil {
		return nil
	}
	return first.Args
}

// target is a worker and, maybe, one of its ranks, as the protocol writes it.
type target struct {
	Worker string  `json:"worker"`
	Rank   *uint32 `json:"rank,omitempty"`
}

// turn is a request that looks for its place.
type turn struct {
	Instance string  `json:"instance"`
	Model    string  `json:"model"`
	Tenant   *string `json:"tenant"`
	Session  string  `json:"session"`
	Phase    string  `json:"phase"`
	Pin      *target `json:"pin"`
}

// place finds the bindings that a turn is about, and says what it asks of them.
func (s *server) place(args json.RawMessage) (i *instance, c coordinator, a ask, err error) {
	t, err := decode[turn](args)
	if err != nil {
		return nil, nil, a, err
	}
	i, p, err := of[*phases](s, t.Instance)
	if err != nil {
		return nil, nil, a, err
	}
	if t.Phase == "" {
		t.Phase = decoded
	}
	if c = p.bindings[t.Phase]; c == nil {
		return nil, nil, a, failf(invalidArgument, "phase is %q; want prefill or decode", t.Phase)
	}
	a = ask{model: t.Model, session: t.Session}
	if t.Tenant != nil {
		a.tenant = *t.Tenant
	}
	if t.Pin != nil {
		a.pin = *t.Pin
	}
	return i, c, a, nil
}

// acquired is the answer to an acquire.
type acquired struct {
	State  string  `json:"state"`
	Lease  string  `json:"lease,omitempty"`
	Target *target `json:"target,omitempty"`
}

func (s *server) acquire(args json.RawMessage) (action, error) {
	i, bindings, a, err := s.place(args)
	if err != nil {
		return nil, err
	}
	return func(c caller) (any, error) {
		l, err := bindings.acquire(c.ctx, a)
		if err != nil {
			if i.component.(*phases).unpinned && asFailure(err).Kind == resourceExhausted {
				return acquired{State: "unpinned"}, nil
			}
			return nil, err
		}
		got := acquired{State: "initializer", Lease: s.hold(i, l)}
		if t, bound := l.bound(); bound {
			got.State, got.Target = "bound", &t
		}
		return got, nil
	}, nil
}

// queried is the answer to a query.
type queried struct {
	Bound  bool    `json:"bound"`
	Target *target `json:"target,omitempty"`
}

func (s *server) query(args json.RawMessage) (action, error) {
	_, bindings, a, err := s.place(args)
	if err != nil {
		return nil, err
	}
	return func(caller) (any, error) {
		t, bound, err := bindings.query(a)
		if err != nil || !bound {
			return queried{}, err
		}
		return queried{true, &t}, nil
	}, nil
}

func (s *server) commit(args json.RawMessage) (action, error) {
	a, err := decode[struct {
		Lease  json.RawMessage `json:"lease"`
		Target *target         `json:"target"`
	}](args)
	if err != nil {
		return nil, err
	}
	if a.Target == nil {
		return nil, failf(invalidArgument, "target is missing")
	}
	return func(c caller) (any, error) {
		h, err := s.find(c, a.Lease)
		if err != nil {
			return nil, err
		}
		if h == nil {
			return nil, failf(stale, "lease %s is over, or never was", a.Lease)
		}
		return nothing{}, h.lease.commit(*a.Target)
	}, nil
}

func (s *server) release(args json.RawMessage) (action, error) {
	return s.endLease(args, lease.release)
}

func (s *server) invalidate(args json.RawMessage) (action, error) {
	return s.endLease(args, lease.invalidate)
}

func (s *server) endLease(args json.RawMessage, how func(lease)) (action, error) {
	a, err := decode[struct {
		Lease json.RawMessage `json:"lease"`
	}](args)
	if err != nil {
		return nil, err
	}
	return func(c caller) (any, error) {
		h, err := s.find(c, a.Lease)
		if err != nil {
			return nil, err
		}
		if h != nil {
			how(h.lease)
			s.ended(h)
		}
		return nothing{}, nil
	}, nil
}

// counted is the answer to a count.
type counted struct {
	Sessions int `json:"sessions"`
	Leases   int `json:"leases"`
}

func (s *server) count(args json.RawMessage) (action, error) {
	a, err := decode[named](args)
	if err != nil {
		return nil, err
	}
	_, p, err := of[*phases](s, a.Instance)
	if err != nil {
		return nil, err
	}
	return func(caller) (any, error) {
		var sum counted
		for _, bindings := range p.bindings {
			sessions, leases := bindings.count()
			sum.Sessions += sessions
			sum.Leases += leases
		}
		return sum, nil
	}, nil
}

func number(prefix string, n int) string { return prefix + strconv.Itoa(n) }

// asFailure says what an error means in the protocol's words.
func asFailure(err error) *failure {
	var f *failure
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled):
		return failf(cancelled, "its client has left")
	}
	if f, ok := refusedBlock(err); ok {
		return f
	}
	return failf(kindOf(err), "%v", err)
}
