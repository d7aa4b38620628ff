// Package storetest holds what every etcd store must be able to do, as tests that
// look at it with a plain etcd client, whatever the nodes run in.
package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/routeproof/routeproof/suites/stores"
)

// Bed is a store under test.
type Bed struct {
	*stores.Store
	T   *testing.T
	Ctx context.Context // two minutes: more than any test takes
}

// Open opens a store and closes it with the test; what Close leaves behind is the
// caller's to look for, in after.
func Open(t *testing.T, open func(ctx context.Context) (*stores.Store, error), after func(b *Bed)) *Bed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	s, err := open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b := &Bed{s, t, ctx}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if after != nil {
			after(b)
		}
	})
	return b
}

// Must ends the test on an error.
func (b *Bed) Must(err error) {
	b.T.Helper()
	if err != nil {
		b.T.Fatal(err)
	}
}

// Client is a plain etcd client, as a router under test has one.
func (b *Bed) Client(endpoints ...string) *clientv3.Client {
	b.T.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop(), DialTimeout: 2 * time.Second})
	b.Must(err)
	b.T.Cleanup(func() { c.Close() })
	return c
}

// patient is longer than any call takes on a store without a fault.
const patient = 10 * time.Second

// Put tries once, for at most the time given.
func (b *Bed) Put(c *clientv3.Client, key string, atMost time.Duration) error {
	ctx, cancel := context.WithTimeout(b.Ctx, atMost)
	defer cancel()
	_, err := c.Put(ctx, key, "v")
	return err
}

// Until tries until it works.
func (b *Bed) Until(what string, try func() error) {
	b.T.Helper()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-b.Ctx.Done():
			b.T.Fatalf("%s: never: %v", what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// WantKeys compares the store's keys.
func (b *Bed) WantKeys(want ...string) {
	b.T.Helper()
	keys, err := b.Keys(b.Ctx)
	if b.Must(err); !slices.Equal(keys, want) {
		b.T.Errorf("keys %q, want %q", keys, want)
	}
}
