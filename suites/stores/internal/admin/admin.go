// Package admin is what the harness itself asks an etcd, past the faults: its
// keys, its leader, a compaction.
package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Asking bounds a question to one node; Poll is how often it is asked again, and
// Longest for how long, whatever the context allows.
const (
	Asking  = time.Second
	Poll    = 20 * time.Millisecond
	Longest = time.Minute
)

// Admin is a client of all nodes. Its endpoints are the nodes in their order.
type Admin struct {
	client    *clientv3.Client
	endpoints []string
}

// New does not wait for any node.
func New(endpoints []string) (*Admin, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            endpoints,
		Logger:               zap.NewNop(),
		DialKeepAliveTime:    2 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
		// By default the pauses between two dials grow to minutes.
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 2, MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: 2 * time.Second,
		})},
	})
	if err != nil {
		return nil, err
	}
	return &Admin{client, endpoints}, nil
}

// Close disconnects.
func (a *Admin) Close() error { return a.client.Close() }

// Keys are all keys, sorted, as a majority knows them.
func (a *Admin) Keys(ctx context.Context) ([]string, error) {
	got, err := a.client.Get(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithKeysOnly(), clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend))
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(got.Kvs))
	for _, kv := range got.Kvs {
		keys = append(keys, string(kv.Key))
	}
	return keys, nil
}

// Compact throws the history away up to the present revision.
func (a *Admin) Compact(ctx context.Context) (int64, error) {
	now, err := a.client.Get(ctx, "\x00", clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	_, err = a.client.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
	return now.Header.Revision, err
}

// status asks one node about itself.
func (a *Admin) status(ctx context.Context, node int) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, Asking)
	defer cancel()
	return a.client.Status(ctx, a.endpoints[node])
}

// Answers waits until a node answers and knows a leader.
func (a *Admin) Answers(ctx context.Context, node int) error {
	return until(ctx, fmt.Sprintf("node %d answers", node), func() error {
		s, err := a.status(ctx, node)
		if err == nil && s.Leader == 0 {
			return errors.New("it knows no leader yet")
		}
		return err
	})
}

// Leader waits until a majority of all nodes follows one of them, and returns its
// number. A leader that was parted from the majority and does not know it yet is
// none.
func (a *Admin) Leader(ctx context.Context) (leader int, err error) {
	err = until(ctx, "a majority follows a leader", func() error {
		votes := map[uint64]int{}
		numbers := map[uint64]int{}
		var failed []error
		for n := range a.endpoints {
			s, err := a.status(ctx, n)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			numbers[s.Header.MemberId] = n
			votes[s.Leader]++
		}
		for id, v := range votes {
			if n, ok := numbers[id]; ok && v > len(a.endpoints)/2 {
				leader = n
				return nil
			}
		}
		return errors.Join(append(failed, fmt.Errorf("votes %v", votes))...)
	})
	return leader, err
}

// United waits until every node follows the same leader.
func (a *Admin) United(ctx context.Context) error {
	return until(ctx, "all nodes follow one leader", func() error {
		seen := map[uint64]bool{}
		for n := range a.endpoints {
			s, err := a.status(ctx, n)
			if err != nil {
				return err
			}
			seen[s.Leader] = true
		}
		if len(seen) != 1 || seen[0] {
			return fmt.Errorf("leaders %v", seen)
		}
		return nil
	})
}

// until asks until the answer is no error. What fails is told with its last reason.
func until(ctx context.Context, what string, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, Longest)
	defer cancel()
	tick := time.NewTicker(Poll)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w; last: %w", what, ctx.Err(), err)
		case <-tick.C:
		}
	}
}
