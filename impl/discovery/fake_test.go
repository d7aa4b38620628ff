package discovery

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// fakeStore is a store in memory whose watch a test speaks for, and whose calls a
// test lets fail.
type fakeStore struct {
	events chan Event // what the watch tells
	closed bool       // its watch ends at once

	mu     sync.Mutex
	values map[string][]byte
	leases []*fakeLease
	grants int
	fail   func(call string) error // before the call has an effect
	after  func(call string) error // after it had
}

func newFakeStore() *fakeStore {
	none := func(string) error { return nil }
	return &fakeStore{events: make(chan Event), values: make(map[string][]byte), fail: none, after: none}
}

// failing sets what calls fail with, before and after they had an effect.
func (s *fakeStore) failing(fail, after func(call string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	none := func(string) error { return nil }
	s.fail, s.after = none, none
	if fail != nil {
		s.fail = fail
	}
	if after != nil {
		s.after = after
	}
}

func (s *fakeStore) do(call string, effect func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail(call); err != nil {
		return err
	}
	if err := effect(); err != nil {
		return err
	}
	return s.after(call)
}

func (s *fakeStore) Create(_ context.Context, key string, value []byte, l Lease) error {
	return s.do("create", func() error {
		if old, ok := s.values[key]; ok && !bytes.Equal(old, value) {
			return ErrExists
		}
		s.values[key] = value
		lease := l.(*fakeLease)
		lease.keys = append(lease.keys, key)
		return nil
	})
}

func (s *fakeStore) Put(context.Context, string, []byte, Lease) error { panic("not used") }

func (s *fakeStore) Replace(context.Context, string, []byte, []byte) error { panic("not used") }

func (s *fakeStore) Delete(context.Context, string) error { panic("not used") }

func (s *fakeStore) List(_ context.Context, prefix string) (out []Entry, err error) {
	err = s.do("list", func() error {
		for key, value := range s.values {
			if Below(prefix, key) {
				out = append(out, Entry{Key: key, Value: value})
			}
		}
		return nil
	})
	return out, err
}

func (s *fakeStore) Watch(ctx context.Context, _ string) (<-chan Event, error) {
	out := make(chan Event)
	go func() {
		defer close(out)
		for !s.closed {
			select {
			case e := <-s.events:
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

func (s *fakeStore) Grant(_ context.Context, ttl time.Duration) (Lease, error) {
	l := &fakeLease{store: s, ttl: ttl, lost: make(chan struct{})}
	err := s.do("grant", func() error {
		s.grants++
		s.leases = append(s.leases, l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (s *fakeStore) Close() error { return nil }

// keys returns the keys that there are.
func (s *fakeStore) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.values))
}

// lose ends all leases, with or without what is under them.
func (s *fakeStore) lose(records bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		if records {
			l.remove()
		}
		close(l.lost)
	}
	s.leases = nil
}

type fakeLease struct {
	store *fakeStore
	ttl   time.Duration
	keys  []string
	lost  chan struct{}
}

func (l *fakeLease) TTL() time.Duration    { return l.ttl }
func (l *fakeLease) Lost() <-chan struct{} { return l.lost }

func (l *fakeLease) remove() {
	for _, key := range l.keys {
		delete(l.store.values, key)
	}
}

func (l *fakeLease) Close(context.Context) error {
	return l.store.do("close", func() error {
		l.remove()
		l.store.leases = slices.DeleteFunc(l.store.leases, func(o *fakeLease) bool { return o == l })
		return nil
	})
}

func entry(key, id, url string, more ...string) Entry {
	return Entry{Key: key, Value: []byte(`{"id":"` + id + `","url":"` + url + `","models":["m"]` + strings.Join(more, "") + `}`)}
}
