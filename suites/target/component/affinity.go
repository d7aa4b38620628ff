package component

import (
	"context"
	"strconv"
)

// The component that binds sessions to workers, and its operations.
const (
	AffinityComponent = "affinity"

	OpAcquire    = "acquire"
	OpQuery      = "query"
	OpCommit     = "commit"
	OpRelease    = "release"
	OpInvalidate = "invalidate"
	OpCount      = "count"
)

// AffinityConfig shapes an instance. Zero values are left out: the library's own
// default counts.
type AffinityConfig struct {
	IdleTTL    int64  `json:"idleTTL"`              // milliseconds
	Capacity   int    `json:"capacity,omitempty"`   // sessions
	AtCapacity string `json:"atCapacity,omitempty"` // refuse, unpinned or evict
	InitWait   int64  `json:"initWait,omitempty"`   // milliseconds
}

// Target is where a session's turns go.
type Target struct {
	Worker string  `json:"worker,omitempty"` // may be empty in a pin alone
	Rank   *uint32 `json:"rank,omitempty"`   // data-parallel rank; nil is none, 0 is one
}

// On is a target, or a pin, without a rank.
func On(worker string) *Target { return &Target{Worker: worker} }

// OnRank is a target, or a pin, with a rank; with no worker it is the pin that every
// router must refuse.
func OnRank(worker string, rank uint32) *Target { return &Target{Worker: worker, Rank: &rank} }

// String is "w1", or "w1 rank 0".
func (t *Target) String() string {
	switch {
	case t == nil:
		return "nowhere"
	case t.Rank == nil:
		return t.Worker
	}
	return t.Worker + " rank " + strconv.FormatUint(uint64(*t.Rank), 10)
}

// Phase says which workers a turn wants. None stands for Decode.
type Phase string

// The phases.
const (
	Prefill Phase = "prefill"
	Decode  Phase = "decode"
)

// Ask is a turn that looks for its place: the args of OpAcquire and OpQuery.
type Ask struct {
	Instance string  `json:"instance"`
	Model    string  `json:"model"`
	Tenant   *string `json:"tenant,omitempty"` // nil is none
	Session  string  `json:"session"`
	Phase    Phase   `json:"phase,omitempty"`
	Pin      *Target `json:"pin,omitempty"`
}

// State is what an acquire found.
type State string

// The states.
const (
	Initializer State = "initializer" // this turn chooses the worker
	Bound       State = "bound"
	Unpinned    State = "unpinned" // the table is full: no lease, nothing is remembered
)

// Acquired is the result of OpAcquire.
type Acquired struct {
	State  State   `json:"state"`
	Lease  string  `json:"lease"`  // empty where unpinned
	Target *Target `json:"target"` // nil unless bound
}

// Queried is the result of OpQuery.
type Queried struct {
	Bound  bool    `json:"bound"`
	Target *Target `json:"target"` // nil unless bound
}

// Counted is the result of OpCount.
type Counted struct {
	Sessions int `json:"sessions"` // bound or being initialized; those lapsed may count
	Leases   int `json:"leases"`   // that are not over
}

// LeaseArgs are those of OpRelease and OpInvalidate. Lease is the lease's id or, in a
// batch, an int: the index of the operation that gave it.
type LeaseArgs struct {
	Lease any `json:"lease"`
}

// CommitArgs are those of OpCommit; Lease is as in LeaseArgs.
type CommitArgs struct {
	Lease  any     `json:"lease"`
	Target *Target `json:"target"`
}

// Affinity is one instance of the component.
type Affinity struct {
	*Client
	Instance string
}

// NewAffinity makes an instance.
func (c *Client) NewAffinity(ctx context.Context, cfg AffinityConfig, concurrent bool) (*Affinity, error) {
	i, err := Do[Instance](ctx, c, OpNew, NewArgs{Component: AffinityComponent, Config: cfg, Concurrent: concurrent})
	if err != nil {
		return nil, err
	}
	return &Affinity{c, i.Instance}, nil
}

// Acquire leases a session. It must not be expected to wait; see StartAcquire.
func (a *Affinity) Acquire(ctx context.Context, ask Ask) (Acquired, error) {
	ask.Instance = a.Instance
	return Do[Acquired](ctx, a.Client, OpAcquire, ask)
}

// StartAcquire leaves the answer to AwaitAcquired.
func (a *Affinity) StartAcquire(ctx context.Context, ask Ask) (ID, error) {
	ask.Instance = a.Instance
	return a.Start(ctx, OpAcquire, ask)
}

// AwaitAcquired returns what a started acquire has come to.
func (a *Affinity) AwaitAcquired(ctx context.Context, id ID) (got Acquired, err error) {
	answer, err := a.Await(ctx, id)
	if err != nil {
		return got, err
	}
	return got, answer.Into(&got)
}

// Query asks where a turn would go.
func (a *Affinity) Query(ctx context.Context, ask Ask) (Queried, error) {
	ask.Instance = a.Instance
	return Do[Queried](ctx, a.Client, OpQuery, ask)
}

// Commit binds a lease's session.
func (a *Affinity) Commit(ctx context.Context, lease string, to *Target) error {
	return a.do(ctx, OpCommit, CommitArgs{lease, to})
}

// Release ends a lease.
func (a *Affinity) Release(ctx context.Context, lease string) error {
	return a.do(ctx, OpRelease, LeaseArgs{lease})
}

// Invalidate ends a lease and its binding.
func (a *Affinity) Invalidate(ctx context.Context, lease string) error {
	return a.do(ctx, OpInvalidate, LeaseArgs{lease})
}

// Count is behind ClaimCount.
func (a *Affinity) Count(ctx context.Context) (Counted, error) {
	return Do[Counted](ctx, a.Client, OpCount, Instance{a.Instance})
}

// Advance moves the instance's clock by milliseconds. It is behind ClaimClock.
func (a *Affinity) Advance(ctx context.Context, ms int64) error {
	return a.do(ctx, OpAdvance, AdvanceArgs{a.Instance, ms})
}

// SetWorkers says which workers live.
func (a *Affinity) SetWorkers(ctx context.Context, workers ...Worker) error {
	return a.do(ctx, OpSetWorkers, WorkersArgs{a.Instance, append([]Worker{}, workers...)})
}

// CloseInstance ends the instance; what is parked in it is answered first.
func (a *Affinity) CloseInstance(ctx context.Context) error {
	return a.do(ctx, OpClose, Instance{a.Instance})
}

func (a *Affinity) do(ctx context.Context, op string, args any) error {
	_, err := Do[struct{}](ctx, a.Client, op, args)
	return err
}
