package worker

import (
	"fmt"
	"slices"
)

// Role is a worker's part in serving a request. A worker does not see to it that
// it gets only what suits its role, as vLLM's engines do not: the ledger says
// what it got, and judges say what that means.
type Role string

// The roles.
const (
	Aggregated Role = "aggregated" // serves requests whole and knows no hand-offs
	Prefill    Role = "prefill"    // computes prompts and hands their KV blocks off
	Decode     Role = "decode"     // fetches KV blocks and generates from there
)

var roles = []Role{Aggregated, Prefill, Decode}

// MaxRanks is the most data-parallel ranks that one worker may have.
const MaxRanks = 256

// Shape is what kind of engine a worker is. The zero value is an aggregated one
// without ranks.
type Shape struct {
	Role Role `json:"role"` // empty means Aggregated
	// Ranks is the number of data-parallel ranks behind the worker's one address,
	// at most MaxRanks. 0 is an engine that knows no ranks: it ignores the rank
	// header, and 1 one that refuses every rank but 0.
	Ranks int `json:"ranks"`
}

// Validate says what is wrong with the shape, if anything.
func (s Shape) Validate() error {
	if s.Role != "" && !slices.Contains(roles, s.Role) {
		return fmt.Errorf("shape: no role %q; use one of %v", s.Role, roles)
	}
	if s.Ranks < 0 || s.Ranks > MaxRanks {
		return fmt.Errorf("shape: ranks is %d; use 1 to %d, or 0 for an engine that knows no ranks", s.Ranks, MaxRanks)
	}
	return nil
}

func (s Shape) complete() Shape {
	if s.Role == "" {
		s.Role = Aggregated
	}
	return s
}
