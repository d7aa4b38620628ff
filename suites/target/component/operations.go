package component

import (
	"context"
	"fmt"
	"slices"
)

// The operations that are not a component's own.
const (
	OpHello      = "hello"
	OpNew        = "new"
	OpClose      = "close"
	OpSync       = "sync"
	OpCancel     = "cancel"
	OpAdvance    = "clock.advance"
	OpSetWorkers = "workers.set"
	OpBatch      = "batch"
)

// Claim is something that an adapter can do beyond the rest; component.md has the
// table.
type Claim string

// The claims.
const (
	ClaimClock       Claim = "clock"
	ClaimRanks       Claim = "ranks"
	ClaimTenant      Claim = "tenant"
	ClaimPhases      Claim = "phases"
	ClaimCount       Claim = "count"
	ClaimBatch       Claim = "batch"
	ClaimSteps       Claim = "steps"
	ClaimConcurrency Claim = "concurrency"
	ClaimDump        Claim = "dump"
	ClaimLifecycle   Claim = "lifecycle"
	ClaimAdmission   Claim = "admission"
	ClaimPhysical    Claim = "physical"
	ClaimBarrier     Claim = "barrier"
)

// Hello is what an adapter says of itself.
type Hello struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Protocol   int      `json:"protocol"`
	Components []string `json:"components"`
	Claims     []Claim  `json:"claims"`
}

// Has says whether the adapter makes a claim.
func (h Hello) Has(c Claim) bool { return slices.Contains(h.Claims, c) }

// Hello begins the conversation. An adapter that does not speak our version of the
// protocol answers an *Error of kind Unsupported.
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	id := StringID(OpHello)
	if err := c.StartAs(ctx, id, OpHello, helloArgs{Protocol}); err != nil {
		return Hello{}, err
	}
	a, err := c.Await(ctx, id)
	if err != nil {
		return Hello{}, err
	}
	var h Hello
	if err := a.Into(&h); err != nil {
		return Hello{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims = map[Claim]bool{}
	for _, claim := range h.Claims {
		c.claims[claim] = true
	}
	return h, nil
}

type helloArgs struct {
	Protocol int `json:"protocol"`
}

// NewArgs are those of OpNew. Its result is an Instance.
type NewArgs struct {
	Component  string `json:"component"`
	Config     any    `json:"config"`
	Concurrent bool   `json:"concurrent,omitempty"`
}

// Instance names an instance: the result of OpNew, and all the args of some operations.
type Instance struct {
	Instance string `json:"instance"`
}

// Synced is the result of OpSync.
type Synced struct {
	Parked []ID `json:"parked"`
}

// Sync returns when every earlier operation is answered or parked, with those that
// are parked, in the order in which they were started.
func (c *Client) Sync(ctx context.Context) ([]ID, error) {
	r, err := Do[Synced](ctx, c, OpSync, nil)
	return r.Parked, err
}

// Cancel lets the client of an operation leave. Its answer is there when Cancel
// returns.
func (c *Client) Cancel(ctx context.Context, id ID) error {
	_, err := Do[struct{}](ctx, c, OpCancel, cancelArgs{id})
	return err
}

type cancelArgs struct {
	ID ID `json:"id"`
}

// AdvanceArgs are those of OpAdvance.
type AdvanceArgs struct {
	Instance string `json:"instance"`
	By       int64  `json:"by"` // milliseconds, 0 or more
}

// WorkersArgs are those of OpSetWorkers.
type WorkersArgs struct {
	Instance string   `json:"instance"`
	Workers  []Worker `json:"workers"`
}

// Worker is a live worker.
type Worker struct {
	ID    string `json:"id"`
	Ranks int    `json:"ranks"` // data-parallel ranks, 1 or more
}

// Part is one operation of a batch.
type Part struct {
	Op   string `json:"op"`
	Args any    `json:"args,omitempty"`
}

// BatchArgs are those of OpBatch.
type BatchArgs struct {
	Ops []Part `json:"ops"`
}

// Batched is the result of OpBatch.
type Batched struct {
	Answers []Outcome `json:"answers"`
	NS      int64     `json:"ns"`    // nanoseconds that the adapter spent on the operations alone
	Steps   *int64    `json:"steps"` // what the library visited; nil without the claim
}

// Batch runs operations one after another inside the adapter.
func (c *Client) Batch(ctx context.Context, parts ...Part) (Batched, error) {
	return Do[Batched](ctx, c, OpBatch, BatchArgs{parts})
}

// partsOf names the operations of a batch, so that its answers can be checked.
func partsOf(args any) []string {
	var names []string
	switch b := args.(type) {
	case BatchArgs:
		for _, p := range b.Ops {
			names = append(names, p.Op)
		}
	case map[string]any: // as read from a file
		ops, _ := b["ops"].([]any)
		for _, p := range ops {
			part, _ := p.(map[string]any)
			names = append(names, fmt.Sprint(part["op"]))
		}
	}
	return names
}
