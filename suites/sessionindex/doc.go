// Package sessionindex holds the cases of area SPX: how far the chains of sessions' KV
// blocks reach on worker ranks, as a library answers it. Each case states what it expects
// by hand; suites/lineage/model says the same by rule, and a test holds the two together.
package sessionindex

// Cases are the area's.
type Cases struct{}
