// Package etcd registers mock workers in etcd: a lease per record.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/routeproof/routeproof/mockers/registrar"
	"github.com/routeproof/routeproof/mockers/registrar/internal/book"
)

// Options say where the records go.
type Options struct {
	Endpoints []string // HOST:PORT or http://HOST:PORT, at least one
	Prefix    string   // List and RemoveAll stay below it; empty: everything
	// Reregister lets a record whose lease was lost be put again with a new one, as
	// a worker does that notices. Without it the keep-alive ends.
	Reregister bool
	// Dial bounds how long New waits for the store; 0: 5 s.
	Dial time.Duration
}

// Registrar is a registrar.Registrar over etcd.
type Registrar struct {
	*book.Book[clientv3.LeaseID]
	client *clientv3.Client
	prefix string
	log    registrar.Log
	closed sync.Once
}

var _ registrar.Registrar = (*Registrar)(nil)

// New connects. The error says which endpoints did not answer in time.
func New(ctx context.Context, o Options) (*Registrar, error) {
	if len(o.Endpoints) == 0 {
		return nil, errors.New("etcd registrar: no endpoints; name at least one HOST:PORT")
	}
	if o.Dial == 0 {
		o.Dial = 5 * time.Second
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            o.Endpoints,
		DialTimeout:          o.Dial,
		DialKeepAliveTime:    2 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
		Logger:               zap.NewNop(),
		// By default the pauses between two dials grow to minutes.
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 2, MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: 2 * time.Second,
		})},
	})
	if err != nil {
		return nil, fmt.Errorf("etcd registrar: %v: %w", o.Endpoints, err)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Dial)
	defer cancel()
	if _, err := client.Get(ctx, "routeproof/hello", clientv3.WithCountOnly()); err != nil {
		client.Close()
		return nil, fmt.Errorf("etcd registrar: %v does not answer: %w", o.Endpoints, err)
	}
	r := &Registrar{client: client, prefix: o.Prefix}
	r.Book = book.New[clientv3.LeaseID](leases{client}, &r.log, o.Reregister)
	return r, nil
}

// Log is what was done so far.
func (r *Registrar) Log() *registrar.Log { return &r.log }

// Register puts the record under a new lease. An etcd lease lasts whole seconds.
func (r *Registrar) Register(ctx context.Context, e registrar.Entry) error {
	if e.TTL%time.Second != 0 || e.TTL <= 0 {
		return fmt.Errorf("etcd registrar: %q: TTL %s: etcd's leases last whole seconds; use 1s or more", e.Key, e.TTL)
	}
	return r.Book.Register(ctx, e)
}

// PutRaw puts bytes under a key, outside any lease unless the key is kept alive here.
func (r *Registrar) PutRaw(ctx context.Context, key string, value []byte) error {
	var opts []clientv3.OpOption
	if lease, ok := r.Kept(key); ok {
		opts = append(opts, clientv3.WithLease(lease))
	}
	return r.do(registrar.Put, key, "", func() error {
		_, err := r.client.Put(ctx, key, string(value), opts...)
		return err
	})
}

// DeleteRaw deletes a key; its lease lives on.
func (r *Registrar) DeleteRaw(ctx context.Context, key string) error {
	return r.do(registrar.Deleted, key, "", func() error {
		_, err := r.client.Delete(ctx, key)
		return err
	})
}

// RemoveAll deletes every key below the prefix; the leases live on.
func (r *Registrar) RemoveAll(ctx context.Context) error {
	return r.do(registrar.Deleted, "", "all", func() error {
		key, opts := r.all()
		_, err := r.client.Delete(ctx, key, opts...)
		return err
	})
}

// Compact throws the store's history away, up to the present. A watch that was
// interrupted cannot go on where it was any more.
func (r *Registrar) Compact(ctx context.Context) (revision int64, err error) {
	err = r.do(registrar.Fault, "", "compact", func() error {
		now, err := r.client.Get(ctx, "routeproof/hello", clientv3.WithCountOnly())
		if err != nil {
			return err
		}
		revision = now.Header.Revision
		_, err = r.client.Compact(ctx, revision, clientv3.WithCompactPhysical())
		return err
	})
	return revision, err
}

// RevokeLease takes the lease of a record away behind its owner's back, and the
// record with it.
func (r *Registrar) RevokeLease(ctx context.Context, key string) error {
	lease, ok := r.Kept(key)
	if !ok {
		return fmt.Errorf("etcd registrar: revoke the lease of %q: %w", key, registrar.ErrUnowned)
	}
	return r.do(registrar.Fault, key, fmt.Sprintf("revoke %x", int64(lease)), func() error {
		return revoke(ctx, r.client, lease)
	})
}

// List reads the records below the prefix.
func (r *Registrar) List(ctx context.Context) ([]registrar.Record, error) {
	if r.Closed() {
		return nil, fmt.Errorf("etcd registrar: list: %w", registrar.ErrClosed)
	}
	key, opts := r.all()
	got, err := r.client.Get(ctx, key, append(opts, clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend))...)
	if err != nil {
		return nil, fmt.Errorf("etcd registrar: list: %w", err)
	}
	records := make([]registrar.Record, 0, len(got.Kvs))
	for _, kv := range got.Kvs {
		records = append(records, registrar.Record{Key: string(kv.Key), Value: kv.Value, Lease: kv.Lease})
	}
	return records, nil
}

// all is the range below the prefix.
func (r *Registrar) all() (string, []clientv3.OpOption) {
	if r.prefix == "" {
		return "\x00", []clientv3.OpOption{clientv3.WithFromKey()}
	}
	return r.prefix, []clientv3.OpOption{clientv3.WithPrefix()}
}

// do runs an operation and writes it down.
func (r *Registrar) do(op registrar.Op, key, detail string, f func() error) error {
	if r.Closed() {
		return fmt.Errorf("etcd registrar: %s %q: %w", op, key, registrar.ErrClosed)
	}
	began := time.Now()
	err := f()
	r.log.Add(began, op, key, detail, err)
	if err != nil {
		return fmt.Errorf("etcd registrar: %s %s %q: %w", op, detail, key, err)
	}
	return nil
}

// Close revokes the leases of the records that are kept alive, and disconnects.
func (r *Registrar) Close() (err error) {
	r.closed.Do(func() { err = errors.Join(r.Book.Close(), r.client.Close()) })
	return err
}

// leases is the book's store.
type leases struct{ client *clientv3.Client }

func (l leases) Put(ctx context.Context, e registrar.Entry) (clientv3.LeaseID, string, error) {
	granted, err := l.client.Grant(ctx, int64(e.TTL/time.Second))
	if err != nil {
		return 0, "", err
	}
	detail := fmt.Sprintf("lease %x, %d s", int64(granted.ID), granted.TTL)
	if _, err := l.client.Put(ctx, e.Key, string(e.Value), clientv3.WithLease(granted.ID)); err != nil {
		return 0, detail, err
	}
	return granted.ID, detail, nil
}

// Refresh asks once. The client's own KeepAliveOnce asks again and again, without
// a pause, for as long as the store is away.
func (l leases) Refresh(ctx context.Context, _ registrar.Entry, lease clientv3.LeaseID) (registrar.Lapse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream
	stream, err := pb.NewLeaseClient(l.client.ActiveConnection()).LeaseKeepAlive(ctx)
	if err != nil {
		return registrar.Kept, err
	}
	// The reason of a failed Send comes with Recv.
	if err := stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(lease)}); err != nil && !errors.Is(err, io.EOF) {
		return registrar.Kept, err
	}
	answer, err := stream.Recv()
	switch {
	case errors.Is(rpctypes.Error(err), rpctypes.ErrLeaseNotFound), err == nil && answer.TTL <= 0:
		return registrar.Gone, nil
	case err != nil:
		return registrar.Kept, err
	}
	return registrar.Kept, nil
}

func (l leases) Update(ctx context.Context, e registrar.Entry, lease clientv3.LeaseID) error {
	_, err := l.client.Put(ctx, e.Key, string(e.Value), clientv3.WithLease(lease))
	return err
}

func (l leases) Remove(ctx context.Context, _ registrar.Entry, lease clientv3.LeaseID) error {
	return revoke(ctx, l.client, lease)
}

func revoke(ctx context.Context, client *clientv3.Client, lease clientv3.LeaseID) error {
	_, err := client.Revoke(ctx, lease)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return nil
	}
	return err
}
