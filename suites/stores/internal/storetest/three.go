package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// others are the nodes but one.
func others(node int) (all []int) {
	for n := range 3 {
		if n != node {
			all = append(all, n)
		}
	}
	return all
}

// Leaders: three nodes lose their leader and elect another, lose that one and the
// majority with it, and come back.
func Leaders(b *Bed) {
	c := b.Client(b.Endpoints...)
	b.Must(b.Put(c, "a", patient))
	killed, err := b.KillLeader(b.Ctx)
	b.Must(err)
	leader, err := b.Leader(b.Ctx)
	b.Must(err)
	if leader == killed {
		b.T.Errorf("node %d, killed, leads", leader)
	}
	b.Until("a put with two nodes", func() error { return b.Put(c, "b", time.Second) })

	// The second one takes the majority along.
	second, err := b.KillLeader(b.Ctx)
	b.Must(err)
	if err := b.Put(c, "c", time.Second); err == nil {
		b.T.Error("a put worked without a majority")
	}
	ctx, cancel := context.WithTimeout(b.Ctx, 500*time.Millisecond)
	defer cancel()
	if n, err := b.Leader(ctx); !errors.Is(err, context.DeadlineExceeded) {
		b.T.Errorf("without a majority node %d leads, %v", n, err)
	}
	b.Must(b.Start(b.Ctx, second))
	b.Must(b.Start(b.Ctx, killed))
	b.Until("a put with three nodes", func() error { return b.Put(c, "d", time.Second) })
	keys, err := b.Keys(b.Ctx)
	b.Must(err)
	if s := fmt.Sprint(keys); s != "[a b d]" && s != "[a b c d]" { // c may have been written down before
		b.T.Errorf("keys %s", s)
	}
}

// Parted: a node that is parted from the others knows nothing new, be it the
// leader or not, serves what it knew, and learns when it is back.
func Parted(b *Bed, leads bool) {
	b.Must(b.Put(b.Client(b.Direct...), "a", patient))
	leader, err := b.Leader(b.Ctx)
	b.Must(err)
	alone := leader
	if !leads {
		alone = others(leader)[0]
	}
	minor := b.Client(b.Endpoints[alone])
	knows := func(key string) func() error {
		return func() error {
			got, err := minor.Get(b.Ctx, key, clientv3.WithSerializable())
			if err == nil && len(got.Kvs) == 0 {
				err = errors.New("not yet")
			}
			return err
		}
	}
	b.Until("all have a", knows("a"))
	b.Must(b.Partition(b.Ctx, alone))
	major := b.Client(b.Direct[others(alone)[0]], b.Direct[others(alone)[1]])
	b.Until("a put on the side of the majority", func() error { return b.Put(major, "b", time.Second) })
	if err := b.Put(minor, "c", time.Second); err == nil {
		b.T.Error("a put worked on the side of the minority")
	}
	got, err := minor.Get(b.Ctx, "", clientv3.WithPrefix(), clientv3.WithSerializable())
	b.Must(err)
	if len(got.Kvs) != 1 || string(got.Kvs[0].Key) != "a" {
		b.T.Errorf("the parted node has %v, want a alone", got.Kvs)
	}
	b.Must(b.Rejoin(b.Ctx))
	b.Until("the parted node learns", knows("b"))
}

// PartedRestart: a partition outlives the restart of a node, and ends while
// another is down.
func PartedRestart(b *Bed) {
	b.Must(b.Partition(b.Ctx, 0))
	b.Must(b.Kill(b.Ctx, 0))
	b.Must(b.Start(b.Ctx, 0))
	major := b.Client(b.Direct[1], b.Direct[2])
	b.Until("a put", func() error { return b.Put(major, "a", time.Second) })
	ctx, cancel := context.WithTimeout(b.Ctx, 500*time.Millisecond)
	defer cancel()
	if got, err := b.Client(b.Direct[0]).Get(ctx, "a", clientv3.WithSerializable()); err == nil {
		b.T.Errorf("a node that has started alone answers: %v", got.Kvs)
	}
	b.Must(b.Kill(b.Ctx, 1)) // the ends of the cut may be down when it ends
	short, cancel := context.WithTimeout(b.Ctx, 300*time.Millisecond)
	defer cancel()
	if err := b.Rejoin(short); err == nil {
		b.T.Error("all nodes were united, although one is down")
	}
	b.Must(b.Start(b.Ctx, 1))
	b.Must(b.Rejoin(b.Ctx))
	for _, bad := range [][]int{{}, {0, 1, 2}, {3}} {
		if err := b.Partition(b.Ctx, bad...); err == nil {
			b.T.Errorf("Partition(%v) worked", bad)
		}
	}
}

// Single: faults of the network reach single nodes.
func Single(b *Bed) {
	b.Must(b.Cut(b.Ctx, 1))
	for node, want := range []bool{true, false, true} {
		err := b.Put(b.Client(b.Endpoints[node]), "a", 3*time.Second)
		if (err == nil) != want {
			b.T.Errorf("node %d: %v", node, err)
		}
	}
	b.Must(b.Heal(b.Ctx, 1))
	c := b.Client(b.Endpoints[1])
	b.Until("a put", func() error { return b.Put(c, "b", time.Second) })
}
