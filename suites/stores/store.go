// Package stores is the discovery store that a run puts between the mock workers
// and the router under test, with faults that hit the router alone: a directory,
// one etcd or three, inside this process or in containers.
//
// This package knows what a Store is and makes the directory. What needs etcd or
// a container engine lies in packages of its own, because it takes minutes to
// build: package open makes every kind.
package stores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is what a store is made of.
type Kind string

const (
	// File is a directory.
	File Kind = "file"
	// Embedded is one etcd inside this process; it needs nothing installed.
	Embedded Kind = "embedded"
	// Container is one etcd in a container.
	Container Kind = "container"
	// ThreeEmbedded is a cluster of three etcd inside this process.
	ThreeEmbedded Kind = "three-embedded"
	// Three is a cluster of three etcd in containers.
	Three Kind = "three"
)

// Kinds are all kinds, the cheapest first.
func Kinds() []Kind { return []Kind{File, Embedded, ThreeEmbedded, Container, Three} }

// ParseKind reads a kind. The error names the ones there are.
func ParseKind(s string) (Kind, error) {
	if k := Kind(s); slices.Contains(Kinds(), k) {
		return k, nil
	}
	names := []string{}
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return "", fmt.Errorf("no kind of store %q; use one of %s", s, strings.Join(names, ", "))
}

// Fault is something that can be done to a store.
type Fault string

const (
	// Latency delays what goes to and from the router.
	Latency Fault = "latency"
	// Cut resets the router's connections and refuses new ones.
	Cut Fault = "cut"
	// HalfOpen loses every byte to and from the router; its connections stay and
	// new ones are accepted.
	HalfOpen Fault = "half-open"
	// Stop ends a node tidily; Start begins it again with its data.
	Stop Fault = "stop"
	// Kill ends a node without notice; Start begins it again.
	Kill Fault = "kill"
	// Pause stops a node's process as SIGSTOP does, until Resume.
	Pause Fault = "pause"
	// Partition parts some nodes from the others; clients reach both sides.
	Partition Fault = "partition"
	// Disconnect takes a node off its network, until Reconnect.
	Disconnect Fault = "disconnect"
	// Compact throws the history away.
	Compact Fault = "compact"
)

// Backend is what every store does.
type Backend interface {
	// Keys are all keys in the store, sorted.
	Keys(ctx context.Context) ([]string, error)
	// Close takes the store away. It always returns.
	Close() error
}

// Network is the way between a router and the nodes of a store. Without node
// numbers a call means all nodes. Heal ends every fault of the network.
type Network interface {
	Latency(ctx context.Context, delay time.Duration, nodes ...int) error
	Cut(ctx context.Context, nodes ...int) error
	HalfOpen(ctx context.Context, nodes ...int) error
	Heal(ctx context.Context, nodes ...int) error
}

// Cluster are the nodes of an etcd, numbered from 0. Calls return when what they
// did is in force: Start when the node answers, or at once where it has no
// majority to join, without which an etcd that starts answers nobody.
type Cluster interface {
	Stop(ctx context.Context, node int) error
	Start(ctx context.Context, node int) error
	// Kill is Stop without notice.
	Kill(ctx context.Context, node int) error
	// Leader is the leader's number, waited for until there is one.
	Leader(ctx context.Context) (int, error)
	// Compact throws the history away up to the present, whose revision it returns.
	Compact(ctx context.Context) (revision int64, err error)
}

// Pauser stops processes for a while.
type Pauser interface {
	Pause(ctx context.Context, node int) error
	Resume(ctx context.Context, node int) error
}

// Parter parts nodes from the others. Rejoin ends it and returns when all nodes
// agree on a leader again.
type Parter interface {
	Partition(ctx context.Context, minority ...int) error
	Rejoin(ctx context.Context) error
}

// Disconnecter takes nodes off their network.
type Disconnecter interface {
	Disconnect(ctx context.Context, node int) error
	Reconnect(ctx context.Context, node int) error
}

// Store is one discovery store for one run. Which faults it knows depends on its
// kind: the others return an error that is errors.ErrUnsupported. Its methods are
// safe for concurrent use, but faults of one node are to be given in turn.
type Store struct {
	Kind Kind

	// Endpoints is where the router under test reaches etcd, HOST:PORT, one per
	// node, through the faults; they stay the same as long as the store lives.
	Endpoints []string
	// Direct is where the harness reaches the same nodes past the faults.
	Direct []string

	// Root is the directory of a file store; Linked is the same directory by a path
	// on which both the root and its parent are symbolic links.
	Root, Linked string

	backend Backend
	network Network
}

// New is a store over a backend, of which Store offers what it implements; the
// network may be nil.
func New(kind Kind, b Backend, n Network) *Store { return &Store{Kind: kind, backend: b, network: n} }

// Supports says whether the store knows a fault.
func (s *Store) Supports(f Fault) bool {
	ok := false
	switch f {
	case Latency, Cut, HalfOpen:
		ok = s.network != nil
	case Stop, Kill, Compact:
		_, ok = s.backend.(Cluster)
	case Pause:
		_, ok = s.backend.(Pauser)
	case Partition:
		_, ok = s.backend.(Parter)
		ok = ok && s.Nodes() > 1
	case Disconnect:
		_, ok = s.backend.(Disconnecter)
	}
	return ok
}

// Nodes is the number of etcd nodes, 0 for a directory.
func (s *Store) Nodes() int { return len(s.Endpoints) }

// check says whether a fault can be done to nodes.
func (s *Store) check(f Fault, nodes ...int) error {
	if !s.Supports(f) {
		return fmt.Errorf("store %s: %s: %w", s.Kind, f, errors.ErrUnsupported)
	}
	for _, n := range nodes {
		if n < 0 || n >= s.Nodes() {
			return fmt.Errorf("store %s: %s: no node %d; there are %d, numbered from 0", s.Kind, f, n, s.Nodes())
		}
	}
	return nil
}

// do runs one call behind check, and says what it was when it fails.
func (s *Store) do(f Fault, nodes []int, call func() error) error {
	if err := s.check(f, nodes...); err != nil {
		return err
	}
	if err := call(); err != nil {
		return fmt.Errorf("store %s: %s%s: %w", s.Kind, f, at(nodes), err)
	}
	return nil
}

func at(nodes []int) string {
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf(" of node %v", nodes)
}

// Keys are all keys in the store, sorted: for a directory the paths of all files
// below the root.
func (s *Store) Keys(ctx context.Context) ([]string, error) {
	keys, err := s.backend.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("store %s: keys: %w", s.Kind, err)
	}
	return keys, nil
}

// Close takes the store away and leaves nothing. It always returns; the error
// says what could not be removed.
func (s *Store) Close() error {
	if err := s.backend.Close(); err != nil {
		return fmt.Errorf("store %s: close: %w", s.Kind, err)
	}
	return nil
}

// Backend is what lies under the store.
func (s *Store) Backend() Backend { return s.backend }
