package stores

import (
	"context"
	"time"
)

// Latency delays every byte to and from the router by the given time, each way.
func (s *Store) Latency(ctx context.Context, delay time.Duration, nodes ...int) error {
	return s.do(Latency, nodes, func() error { return s.network.Latency(ctx, delay, nodes...) })
}

// Cut resets the router's connections and refuses new ones, until Heal.
func (s *Store) Cut(ctx context.Context, nodes ...int) error {
	return s.do(Cut, nodes, func() error { return s.network.Cut(ctx, nodes...) })
}

// HalfOpen loses every byte to and from the router, until Heal, which resets the
// connections that lost some.
func (s *Store) HalfOpen(ctx context.Context, nodes ...int) error {
	return s.do(HalfOpen, nodes, func() error { return s.network.HalfOpen(ctx, nodes...) })
}

// Heal ends Latency, Cut and HalfOpen.
func (s *Store) Heal(ctx context.Context, nodes ...int) error {
	return s.do(Cut, nodes, func() error { return s.network.Heal(ctx, nodes...) })
}

// Stop ends a node tidily.
func (s *Store) Stop(ctx context.Context, node int) error {
	return s.do(Stop, []int{node}, func() error { return s.backend.(Cluster).Stop(ctx, node) })
}

// Kill ends a node without notice.
func (s *Store) Kill(ctx context.Context, node int) error {
	return s.do(Kill, []int{node}, func() error { return s.backend.(Cluster).Kill(ctx, node) })
}

// KillLeader kills the leader and returns its number, for Start.
func (s *Store) KillLeader(ctx context.Context) (node int, err error) {
	if node, err = s.Leader(ctx); err != nil {
		return node, err
	}
	return node, s.Kill(ctx, node)
}

// Start begins a stopped or killed node again, with its data and its endpoints,
// and returns when it answers, or at once where it has no majority to join.
func (s *Store) Start(ctx context.Context, node int) error {
	return s.do(Stop, []int{node}, func() error { return s.backend.(Cluster).Start(ctx, node) })
}

// Leader is the number of the leader, waited for until there is one.
func (s *Store) Leader(ctx context.Context) (node int, err error) {
	err = s.do(Stop, nil, func() error {
		node, err = s.backend.(Cluster).Leader(ctx)
		return err
	})
	return node, err
}

// Compact throws the history away up to the present, whose revision it returns: a
// watch that was interrupted cannot go on where it was.
func (s *Store) Compact(ctx context.Context) (revision int64, err error) {
	err = s.do(Compact, nil, func() error {
		revision, err = s.backend.(Cluster).Compact(ctx)
		return err
	})
	return revision, err
}

// Pause stops a node's process: connections to it stay, and nothing answers.
func (s *Store) Pause(ctx context.Context, node int) error {
	return s.do(Pause, []int{node}, func() error { return s.backend.(Pauser).Pause(ctx, node) })
}

// Resume lets a paused node go on.
func (s *Store) Resume(ctx context.Context, node int) error {
	return s.do(Pause, []int{node}, func() error { return s.backend.(Pauser).Resume(ctx, node) })
}

// Partition parts the given nodes from the others, until Rejoin. Clients go on
// reaching all of them.
func (s *Store) Partition(ctx context.Context, minority ...int) error {
	return s.do(Partition, minority, func() error { return s.backend.(Parter).Partition(ctx, minority...) })
}

// Rejoin ends a partition and returns when all nodes agree on a leader.
func (s *Store) Rejoin(ctx context.Context) error {
	return s.do(Partition, nil, func() error { return s.backend.(Parter).Rejoin(ctx) })
}

// Disconnect takes a node's container off its network.
func (s *Store) Disconnect(ctx context.Context, node int) error {
	return s.do(Disconnect, []int{node}, func() error { return s.backend.(Disconnecter).Disconnect(ctx, node) })
}

// Reconnect puts it back, and returns when the node answers.
func (s *Store) Reconnect(ctx context.Context, node int) error {
	return s.do(Disconnect, []int{node}, func() error { return s.backend.(Disconnecter).Reconnect(ctx, node) })
}
