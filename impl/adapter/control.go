package adapter

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// controls are the operations that are about the conversation. Each is done before
// the next line is read.
func controls() map[string]func(*server, json.RawMessage) (any, error) {
	return map[string]func(*server, json.RawMessage) (any, error){
		"hello": hello, "new": (*server).make, "close": (*server).close, "sync": (*server).sync,
		"cancel": (*server).leaveOne, "clock.advance": (*server).advance, "workers.set": (*server).setWorkers,
	}
}

func hello(_ *server, args json.RawMessage) (any, error) {
	a, err := decode[struct {
		Protocol int `json:"protocol"`
	}](args)
	if err != nil {
		return nil, err
	}
	if a.Protocol != 1 {
		return nil, failf(unsupported, "protocol %d is not spoken here; ask for 1", a.Protocol)
	}
	return introduction{
		Name: "routeproof reference", Version: "built-in", Protocol: 1, Components: slices.Sorted(maps.Keys(components())),
		Claims: []string{
			"clock", "ranks", "tenant", "phases", "count", "batch", "steps", "concurrency",
			"dump", "lifecycle", "admission", "physical", "barrier",
		},
	}, nil
}

// introduction is the answer to hello.
type introduction struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Protocol   int      `json:"protocol"`
	Components []string `json:"components"`
	Claims     []string `json:"claims"`
}

func (s *server) make(args json.RawMessage) (any, error) {
	a, err := decode[struct {
		Component  string          `json:"component"`
		Config     json.RawMessage `json:"config"`
		Concurrent bool            `json:"concurrent"`
	}](args)
	if err != nil {
		return nil, err
	}
	create, ok := components()[a.Component]
	if !ok {
		return nil, failf(unsupported, "there is no component %q here; there are affinity and sessionindex", a.Component)
	}
	i := &instance{clock: newClock(), concurrent: a.Concurrent}
	if i.component, err = create(s, a.Config, i.clock); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	i.name = number("i", s.made)
	s.instances[i.name] = i
	return named{i.name}, nil
}

// named is an instance, by name.
type named struct {
	Instance string `json:"instance"`
}

// instance finds one by name; the lock is not held.
func (s *server) instance(name string) (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.instances[name]; i != nil {
		return i, nil
	}
	return nil, failf(invalidArgument, "there is no instance %q", name)
}

func (s *server) close(args json.RawMessage) (any, error) {
	a, err := decode[named](args)
	if err != nil {
		return nil, err
	}
	i, err := s.instance(a.Instance)
	if err != nil {
		return nil, err
	}
	for _, o := range s.open(func(o *operation) bool { return o.on == i }) {
		s.leave(o)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, i.name)
	s.leases.drop(i)
	s.tokens.drop(i)
	return nothing{}, nil
}

func (s *server) sync(args json.RawMessage) (any, error) {
	if _, err := decode[nothing](args); err != nil {
		return nil, err
	}
	s.settle()
	parked := []json.RawMessage{}
	for _, o := range s.open(func(o *operation) bool { return o.parked }) {
		parked = append(parked, o.id)
	}
	return map[string]any{"parked": parked}, nil
}

func (s *server) leaveOne(args json.RawMessage) (any, error) {
	a, err := decode[struct {
		ID json.RawMessage `json:"id"`
	}](args)
	if err != nil {
		return nil, err
	}
	for _, o := range s.open(func(o *operation) bool { return idKey(o.id) == idKey(a.ID) }) {
		s.leave(o)
	}
	return nothing{}, nil
}

// maxAdvance is the most that a clock moves at once, in milliseconds: 100 years.
const maxAdvance = 100 * 365 * 24 * 3600 * 1000

func (s *server) advance(args json.RawMessage) (any, error) {
	a, err := decode[struct {
		Instance string `json:"instance"`
		By       int64  `json:"by"`
	}](args)
	if err != nil {
		return nil, err
	}
	if a.By < 0 || a.By > maxAdvance {
		return nil, failf(invalidArgument, "by is %d; want 0 to %d", a.By, int64(maxAdvance))
	}
	i, err := s.instance(a.Instance)
	if err != nil {
		return nil, err
	}
	i.clock.advance(time.Duration(a.By) * time.Millisecond)
	i.moved()
	s.settle() // what came due is answered first
	return nothing{}, nil
}

func (s *server) setWorkers(args json.RawMessage) (any, error) {
	a, err := decode[struct {
		Instance string   `json:"instance"`
		Workers  []worker `json:"workers"`
	}](args)
	if err != nil {
		return nil, err
	}
	if bad := slices.IndexFunc(a.Workers, func(w worker) bool { return w.ID == "" || w.Ranks < 1 }); bad >= 0 {
		return nil, failf(invalidArgument, "workers[%d] is %+v; want a name and at least one rank", bad, a.Workers[bad])
	}
	_, p, err := of[*phases](s, a.Instance)
	if err != nil {
		return nil, err
	}
	p.setWorkers(a.Workers)
	return nothing{}, nil
}
