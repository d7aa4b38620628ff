package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/routeproof/routeproof/impl/discovery"
)

// session is one etcd lease, which the leases of this store that have the same time
// to live share. Its fields that change, and those of its leases, are guarded by the
// store's mutex.
type session struct {
	store *Store
	id    clientv3.LeaseID
	ttl   time.Duration
	stop  chan struct{} // closed when the last lease is

	leases map[*lease]struct{}
	over   bool // lost, or stopped: it takes no more leases
}

// lease is one owner's share of a session.
type lease struct {
	session *session
	lost    chan struct{}
	keys    map[string]struct{} // etcd keys
	ended   bool                // lost or closed
	closed  bool
}

// Grant implements discovery.Store.
func (s *Store) Grant(ctx context.Context, ttl time.Duration) (discovery.Lease, error) {
	if err := discovery.CheckTTL(ttl); err != nil {
		return nil, err
	}
	select {
	case <-s.granting:
		defer func() { s.granting <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.ctx.Done():
		return nil, discovery.ErrClosed
	}
	seconds := int64((ttl + time.Second - 1) / time.Second)
	if l := s.join(seconds); l != nil {
		return l, nil
	}
	asked := time.Now()
	var resp *clientv3.LeaseGrantResponse
	err := s.call(ctx, callWait, func(ctx context.Context) (err error) {
		resp, err = s.client.Grant(ctx, seconds)
		return err
	})
	if err != nil {
		return nil, s.fail("grant a lease", ttl.String(), err)
	}
	if err := s.begin(ctx); err != nil { // the keep-alive ends the work
		return nil, err
	}
	n := &session{
		store: s, id: resp.ID, ttl: time.Duration(resp.TTL) * time.Second, stop: make(chan struct{}),
		leases: make(map[*lease]struct{}),
	}
	s.mu.Lock()
	s.sessions[seconds] = n
	s.mu.Unlock()
	l := s.join(seconds)
	go n.keepAlive(asked)
	return l, nil
}

// join returns a lease of the session that there is, or nil.
func (s *Store) join(seconds int64) *lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.sessions[seconds]
	if n == nil || n.over || s.closed {
		return nil
	}
	l := &lease{session: n, lost: make(chan struct{}), keys: make(map[string]struct{})}
	n.leases[l] = struct{}{}
	return l
}

// keepAlive renews the etcd lease until it is stopped or lost. It counts as lost by
// this process's clock too, from when a renewal was asked for: a process that was
// stopped, or cut off, must not take for alive what the others have seen expire.
func (n *session) keepAlive(asked time.Time) {
	s := n.store
	defer s.work.Done()
	deadline := asked.Add(n.ttl)
	next := time.NewTimer(n.ttl / 3)
	defer next.Stop()
	failing := ""
	for {
		select {
		case <-n.stop:
			return
		case <-s.ctx.Done():
			n.lose("the store was closed")
			return
		case <-next.C:
		}
		asked := time.Now()
		left := deadline.Sub(asked)
		if left <= 0 {
			n.lose(fmt.Sprintf("it was not kept alive for %v", n.ttl-left.Round(time.Millisecond)))
			return
		}
		ttl, err := n.renew(min(left, n.limit()))
		switch {
		case errors.Is(err, discovery.ErrLeaseLost):
			n.lose("etcd has ended it")
			return
		case err == nil:
			deadline = asked.Add(ttl)
			err = n.check()
		}
		if err == nil {
			failing = ""
			next.Reset(n.ttl / 3)
			continue
		}
		if text := err.Error(); failing != text {
			failing = text
			s.log.Warn("keep-alive failed; trying again", "error", text)
		}
		next.Reset(max(min(n.ttl/12, time.Until(deadline)), time.Millisecond))
	}
}

// limit bounds one call of the keep-alive, so that there is time for another one.
func (n *session) limit() time.Duration {
	return min(max(n.ttl/3, 500*time.Millisecond), callWait)
}

// renew asks for another time to live. The client's own way to do so comes back only
// every half second, and spins while no server can be reached.
func (n *session) renew(limit time.Duration) (ttl time.Duration, err error) {
	err = n.store.call(context.Background(), limit, func(ctx context.Context) error {
		stream, err := n.store.renews.LeaseKeepAlive(ctx, grpc.WaitForReady(true))
		if err != nil {
			return err
		}
		if err := stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(n.id)}); err != nil {
			return err
		}
		resp, err := stream.Recv()
		if err != nil {
			return err
		}
		if resp.TTL <= 0 {
			return discovery.ErrLeaseLost
		}
		ttl = time.Duration(resp.TTL) * time.Second
		return nil
	})
	return ttl, err
}

// check loses the leases of which a record is not there any more, or belongs to
// somebody else.
func (n *session) check() error {
	s := n.store
	type claim struct {
		l   *lease
		key string
	}
	var claims []claim
	s.mu.Lock()
	for l := range n.leases {
		for key := range l.keys {
			claims = append(claims, claim{l, key})
		}
	}
	s.mu.Unlock()
	if len(claims) == 0 {
		return nil
	}
	var resp *clientv3.LeaseTimeToLiveResponse
	err := s.call(context.Background(), n.limit(), func(ctx context.Context) (err error) {
		resp, err = s.client.TimeToLive(ctx, n.id, clientv3.WithAttachedKeys())
		return err
	})
	if err != nil {
		return err
	}
	if resp.TTL < 0 {
		return nil // the next renewal says so too
	}
	attached := make(map[string]bool, len(resp.Keys))
	for _, key := range resp.Keys {
		attached[string(key)] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		if _, tracked := c.l.keys[c.key]; tracked && !attached[c.key] && !c.l.ended {
			c.l.ended = true
			close(c.l.lost)
			s.log.Warn("lease lost", "why", "somebody else removed or took over a record", "key", c.key)
		}
	}
	return nil
}

// lose ends the session without its owners' doing.
func (n *session) lose(why string) {
	s := n.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.over {
		return
	}
	n.end()
	s.log.Warn("lease lost", "why", why)
	for l := range n.leases {
		if !l.ended {
			l.ended = true
			close(l.lost)
		}
	}
}

// end keeps further leases off; the store's mutex is held.
func (n *session) end() {
	n.over = true
	for seconds, other := range n.store.sessions {
		if other == n {
			delete(n.store.sessions, seconds)
		}
	}
}

// remove removes a record if it is one of this session.
func (n *session) remove(ctx context.Context, full string) error {
	return n.store.call(ctx, callWait, func(ctx context.Context) error {
		_, err := n.store.client.Txn(ctx).If(clientv3.Compare(clientv3.LeaseValue(full), "=", n.id)).
			Then(clientv3.OpDelete(full)).Commit()
		return err
	})
}

func (l *lease) TTL() time.Duration    { return l.session.ttl }
func (l *lease) Lost() <-chan struct{} { return l.lost }

// over says whether the lease was lost or closed.
func (l *lease) over() bool {
	l.session.store.mu.Lock()
	defer l.session.store.mu.Unlock()
	return l.ended
}

// take adds a record that was just stored. It returns false if the lease is over.
func (l *lease) take(full string) bool {
	l.session.store.mu.Lock()
	defer l.session.store.mu.Unlock()
	if !l.ended {
		l.keys[full] = struct{}{}
	}
	return !l.ended
}

// Close implements discovery.Lease.
func (l *lease) Close(ctx context.Context) error {
	n := l.session
	s := n.store
	s.mu.Lock()
	if l.closed {
		s.mu.Unlock()
		return nil
	}
	l.closed, l.ended = true, true
	keys := l.keys
	l.keys = nil
	delete(n.leases, l)
	last := len(n.leases) == 0
	if last {
		n.end()
		close(n.stop)
	}
	s.mu.Unlock()
	if last {
		err := s.call(ctx, callWait, func(ctx context.Context) error {
			_, err := s.client.Revoke(ctx, n.id)
			return err
		})
		if errors.Is(err, discovery.ErrLeaseLost) {
			return nil // there is nothing left of it
		}
		return s.fail("revoke the lease of", n.ttl.String(), err)
	}
	var errs []error
	for full := range keys {
		if err := n.remove(ctx, full); err != nil {
			errs = append(errs, s.fail("remove", full, err))
		}
	}
	return errors.Join(errs...)
}
