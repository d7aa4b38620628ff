package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/routeproof/routeproof/mockers/registrar"
	"github.com/routeproof/routeproof/mockers/registrar/etcd"
)

// Network: one node serves through the faults and past them, and the faults hit
// only who comes through them.
func Network(b *Bed) {
	through, past := b.Client(b.Endpoints...), b.Client(b.Direct...)
	b.Must(b.Put(through, "a", patient))
	b.Must(b.Put(past, "\xff\xfe", patient))
	b.WantKeys("a", "\xff\xfe")
	members, err := through.MemberList(b.Ctx)
	b.Must(err)
	// A client that asks the cluster for its addresses must not get past the faults.
	if got := members.Members[0].ClientURLs; !slices.Equal(got, []string{"http://" + b.Endpoints[0]}) {
		b.T.Errorf("the node tells clients %v, want the proxy %v", got, b.Endpoints)
	}

	b.Must(b.Cut(b.Ctx))
	if err := b.Put(through, "b", 300*time.Millisecond); err == nil {
		b.T.Error("a put worked through the cut")
	}
	b.Must(b.Put(past, "c", patient))
	b.Must(b.Heal(b.Ctx))
	b.Until("a put after the cut", func() error { return b.Put(through, "d", time.Second) })

	b.Must(b.HalfOpen(b.Ctx))
	if err := b.Put(through, "e", 300*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		b.T.Errorf("a put through a half-open connection: %v", err)
	}
	b.Must(b.Heal(b.Ctx))
	b.Until("a put after half-open", func() error { return b.Put(through, "f", time.Second) })

	b.Must(b.Latency(b.Ctx, 150*time.Millisecond))
	began := time.Now()
	b.Must(b.Put(through, "g", patient))
	if took := time.Since(began); took < 300*time.Millisecond {
		b.T.Errorf("a put took %s", took)
	}
	b.Must(b.Heal(b.Ctx))
}

// Downs are the ways to end the only node.
func Downs() map[string]func(*Bed) error {
	return map[string]func(*Bed) error{
		"stop": func(b *Bed) error { return b.Stop(b.Ctx, 0) },
		"kill": func(b *Bed) error { return b.Kill(b.Ctx, 0) },
		"kill the leader": func(b *Bed) error {
			_, err := b.KillLeader(b.Ctx)
			return err
		},
	}
}

// Restart: a node that was ended refuses everybody, soon although clients are
// connected, and comes back with its keys at its address.
func Restart(b *Bed, down func(*Bed) error) {
	through, past := b.Client(b.Endpoints...), b.Client(b.Direct...)
	b.Must(b.Put(through, "a", patient))
	<-through.Watch(b.Ctx, "", clientv3.WithPrefix(), clientv3.WithRev(1))
	began := time.Now()
	b.Must(down(b))
	if took := time.Since(began); took > 4*time.Second {
		b.T.Errorf("it took %s to end a node with clients", took)
	}
	for name, c := range map[string]*clientv3.Client{"through": through, "past": past} {
		if err := b.Put(c, "b", 300*time.Millisecond); err == nil {
			b.T.Errorf("a put %s the proxy worked without a node", name)
		}
	}
	if err := b.Kill(b.Ctx, 0); err == nil {
		b.T.Error("it ended twice")
	}
	b.Must(b.Start(b.Ctx, 0))
	b.Until("a put", func() error { return b.Put(through, "c", time.Second) })
	b.WantKeys("a", "c")
	if err := b.Start(b.Ctx, 0); err == nil {
		b.T.Error("it started twice")
	}
}

// Compaction: an old watch cannot go on.
func Compaction(b *Bed) {
	c := b.Client(b.Endpoints...)
	for range 3 {
		b.Must(b.Put(c, "a", patient))
	}
	revision, err := b.Compact(b.Ctx)
	b.Must(err)
	if got := <-c.Watch(b.Ctx, "a", clientv3.WithRev(2)); !errors.Is(got.Err(), rpctypes.ErrCompacted) || got.CompactRevision != revision {
		b.T.Errorf("watch from revision 2: %v, compacted at %d; want at %d", got.Err(), got.CompactRevision, revision)
	}
}

// Lease: a key goes with its lease, and a lease may be as short as a second.
func Lease(b *Bed) {
	c := b.Client(b.Direct...)
	lease, err := c.Grant(b.Ctx, 1)
	b.Must(err)
	if lease.TTL != 1 {
		b.T.Errorf("a lease of 1 s became one of %d s", lease.TTL)
	}
	_, err = c.Put(b.Ctx, "a", "v", clientv3.WithLease(lease.ID))
	b.Must(err)
	b.Until("the key is gone", func() error {
		keys, err := b.Keys(b.Ctx)
		if len(keys) > 0 {
			err = errors.New("it is there")
		}
		return err
	})
}

// Outage: a mock worker's record outlives an outage that is longer than its lease,
// for etcd begins leases anew when it starts, and its keep-alive goes on by itself.
func Outage(b *Bed) {
	r, err := etcd.New(b.Ctx, etcd.Options{Endpoints: b.Direct})
	b.Must(err)
	defer r.Close()
	b.Must(r.Register(b.Ctx, registrar.Entry{Key: "w", Value: []byte("v"), TTL: 2 * time.Second}))
	b.Must(b.Kill(b.Ctx, 0))
	b.Until("refreshes fail for longer than the lease lasts", func() error {
		missed := 0
		for _, e := range r.Log().Events(0) {
			if e.Op == registrar.Missed {
				missed++
			}
		}
		if missed < 4 {
			return errors.New("not yet")
		}
		return nil
	})
	back := time.Now()
	b.Must(b.Start(b.Ctx, 0))
	b.Until("a refresh", func() error {
		if e, ok := r.Log().LastAlive("w"); !ok || e.Began.Before(back) {
			return errors.New("not yet")
		}
		return nil
	})
	b.WantKeys("w")
	b.Must(r.Close())
	b.WantKeys()
}
