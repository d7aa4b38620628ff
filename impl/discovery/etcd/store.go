// Package etcd keeps a discovery.Store in an etcd cluster.
//
// A record is one etcd key: the store's root, a slash, and the key. All records of a
// process that have the same time to live ride on one etcd lease, which is kept alive every third
// of that time; etcd counts in whole seconds, so the time to live is rounded up.
// Records that nobody attached to a lease never expire.
//
// A connection that dies without a word is noticed within three seconds: a watch
// asks for a sign of life every second, and whatever is not answered in time has its
// connections replaced. After each interruption, whatever it was, a watch begins
// again with a snapshot, because what was missed may be compacted, or the cluster
// may be another one.
package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/routeproof/routeproof/impl/discovery"
)

// callWait bounds one call; what takes longer has lost its connection.
const callWait = 2 * time.Second

// Config says where the records are. Endpoints and Root must be set.
type Config struct {
	Endpoints []string     // such as http://127.0.0.1:2379
	Root      string       // what all keys begin with, such as /routeproof/workers
	Log       *slog.Logger // nil: nothing is logged
}

// Store is a discovery.Store in etcd.
type Store struct {
	root   string // ends with a slash
	log    *slog.Logger
	client *clientv3.Client
	renews pb.LeaseClient
	links  *links
	ctx    context.Context // ended by Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	granting chan struct{} // holds one token: one lease is granted at a time
	mu       sync.Mutex
	closed   bool
	sessions map[int64]*session // by time to live in seconds

	skipped atomic.Uint64
}

var _ discovery.Store = (*Store)(nil)

// Stats counts what a Store has met.
type Stats struct {
	Skipped uint64 // keys below the root that are no keys of a store, such as those that are not UTF-8, at each sight
}

// Open returns the store. It waits for no server: calls fail while none can be
// reached.
func Open(cfg Config) (*Store, error) {
	root := strings.TrimRight(cfg.Root, "/")
	if root == "" {
		return nil, fmt.Errorf("etcd store: root %q: name what its keys begin with, such as /routeproof/workers", cfg.Root)
	}
	if len(cfg.Endpoints) == 0 {
		return nil, errors.New("etcd store: no endpoints: name at least one, such as http://127.0.0.1:2379")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := newLinks()
	client, err := clientv3.New(clientv3.Config{
		Endpoints: cfg.Endpoints,
		Logger:    zap.NewNop(), // what matters is logged here, by who has to know it
		// Only a second net under our own signs of life: gRPC does not ask more often.
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: callWait,
		DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(l.dial),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.5, MaxDelay: time.Second},
				MinConnectTimeout: dialWait,
			}),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("etcd store: endpoints %v: %w", cfg.Endpoints, err)
	}
	s := &Store{
		root: root + "/", log: cfg.Log.With("store", "etcd", "root", root), client: client,
		renews: pb.NewLeaseClient(client.ActiveConnection()), links: l,
		granting: make(chan struct{}, 1), sessions: make(map[int64]*session),
	}
	s.granting <- struct{}{}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Stats returns the counts.
func (s *Store) Stats() Stats { return Stats{Skipped: s.skipped.Load()} }

// Close implements discovery.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.work.Wait()
	if was {
		return nil
	}
	if err := s.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("etcd store: %w", err)
	}
	return nil
}

// begin says whether work may begin, and counts it so that Close waits for it.
func (s *Store) begin(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return discovery.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.work.Add(1)
	return nil
}

// call makes one call in bounded time. If there is no answer, its connection is
// replaced.
func (s *Store) call(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.work.Done()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	began := time.Now()
	err := do(limited)
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return discovery.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		s.links.cut(began)
		return fmt.Errorf("no answer within %v; see whether %s can be reached: %w", limit, strings.Join(s.client.Endpoints(), ", "), err)
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return discovery.ErrLeaseLost
	case errors.Is(err, rpctypes.ErrRequestTooLarge):
		return fmt.Errorf("%w: %w", discovery.ErrInvalid, err)
	}
	return err
}

func (s *Store) fail(op, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("etcd store %s: %s %q: %w", s.root, op, key, err)
}

// leased returns the options for a record under a lease, or nil for none.
func (s *Store) leased(given discovery.Lease) (*lease, []clientv3.OpOption, error) {
	if given == nil {
		return nil, nil, nil
	}
	l, ok := given.(*lease)
	if !ok || l.session.store != s {
		return nil, nil, fmt.Errorf("lease of another store %w: get it by Grant", discovery.ErrInvalid)
	}
	if l.over() {
		return nil, nil, discovery.ErrLeaseLost
	}
	return l, []clientv3.OpOption{clientv3.WithLease(l.session.id)}, nil
}

// Create implements discovery.Store.
func (s *Store) Create(ctx context.Context, key string, value []byte, given discovery.Lease) error {
	if err := discovery.CheckKey(key); err != nil {
		return err
	}
	l, opts, err := s.leased(given)
	if err != nil {
		return err
	}
	full := s.root + key
	put := clientv3.OpPut(full, string(value), opts...)
	condition := clientv3.Compare(clientv3.CreateRevision(full), "=", 0)
	for {
		var resp *clientv3.TxnResponse
		err := s.call(ctx, callWait, func(ctx context.Context) (err error) {
			resp, err = s.client.Txn(ctx).If(condition).Then(put).Else(clientv3.OpGet(full)).Commit()
			return err
		})
		if err != nil {
			return s.fail("create", key, err)
		}
		if resp.Succeeded {
			return s.settle(ctx, l, full)
		}
		found := resp.Responses[0].GetResponseRange().GetKvs()
		switch {
		case len(found) == 0: // deleted since
			condition = clientv3.Compare(clientv3.CreateRevision(full), "=", 0)
		case !bytes.Equal(found[0].Value, value):
			return s.fail("create", key, discovery.ErrExists)
		default: // the same: it passes to this lease, unless it changes meanwhile
			condition = clientv3.Compare(clientv3.ModRevision(full), "=", found[0].ModRevision)
		}
	}
}

// settle hands a record that was stored to its lease.
func (s *Store) settle(ctx context.Context, l *lease, full string) error {
	if l == nil || l.take(full) {
		return nil
	}
	_ = l.session.remove(ctx, full) // the lease was closed meanwhile; what remains expires
	return discovery.ErrLeaseLost
}

// Put implements discovery.Store.
func (s *Store) Put(ctx context.Context, key string, value []byte, given discovery.Lease) error {
	if err := discovery.CheckKey(key); err != nil {
		return err
	}
	l, opts, err := s.leased(given)
	if err != nil {
		return err
	}
	full := s.root + key
	err = s.call(ctx, callWait, func(ctx context.Context) error {
		_, err := s.client.Put(ctx, full, string(value), opts...)
		return err
	})
	if err != nil {
		return s.fail("put", key, err)
	}
	return s.settle(ctx, l, full)
}

// Replace implements discovery.Store.
func (s *Store) Replace(ctx context.Context, key string, old, value []byte) error {
	if err := discovery.CheckKey(key); err != nil {
		return err
	}
	full := s.root + key
	return s.fail("replace", key, s.call(ctx, callWait, func(ctx context.Context) error {
		resp, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.Value(full), "=", string(old))).
			Then(clientv3.OpPut(full, string(value), clientv3.WithIgnoreLease())).
			Else(clientv3.OpGet(full, clientv3.WithCountOnly())).Commit()
		switch {
		case err != nil || resp.Succeeded:
			return err
		case resp.Responses[0].GetResponseRange().GetCount() == 0:
			return discovery.ErrMissing
		}
		return discovery.ErrChanged
	}))
}

// Delete implements discovery.Store.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := discovery.CheckKey(key); err != nil {
		return err
	}
	full := s.root + key
	s.mu.Lock()
	for _, n := range s.sessions {
		for l := range n.leases {
			delete(l.keys, full)
		}
	}
	s.mu.Unlock()
	return s.fail("delete", key, s.call(ctx, callWait, func(ctx context.Context) error {
		_, err := s.client.Delete(ctx, full)
		return err
	}))
}

// List implements discovery.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]discovery.Entry, error) {
	if err := discovery.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	entries, _, err := s.list(ctx, prefix, func([]byte, int64) { s.skipped.Add(1) })
	return entries, err
}

// below returns what the etcd keys below a prefix begin with.
func (s *Store) below(prefix string) string {
	if prefix == "" {
		return s.root
	}
	return s.root + prefix + "/"
}

// list returns what is below the prefix, and the revision at which it was so.
func (s *Store) list(ctx context.Context, prefix string, skip func(key []byte, revision int64)) ([]discovery.Entry, int64, error) {
	var resp *clientv3.GetResponse
	err := s.call(ctx, callWait, func(ctx context.Context) (err error) {
		resp, err = s.client.Get(ctx, s.below(prefix), clientv3.WithPrefix())
		return err
	})
	if err != nil {
		return nil, 0, s.fail("list", prefix, err)
	}
	entries := make([]discovery.Entry, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		if e, ok := s.entry(kv); ok {
			entries = append(entries, e)
		} else {
			skip(kv.Key, kv.ModRevision)
		}
	}
	return entries, resp.Header.Revision, nil
}

// entry makes a record of what etcd has, if its key is one of a store.
func (s *Store) entry(kv *mvccpb.KeyValue) (discovery.Entry, bool) {
	key, ok := strings.CutPrefix(string(kv.Key), s.root)
	return discovery.Entry{Key: key, Value: kv.Value}, ok && discovery.CheckKey(key) == nil
}
