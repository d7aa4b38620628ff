// Package perf measures what a target's libraries cost: complexity, and speed beside a
// bare map. It reaches a target only through suites/target, as a certification does.
package perf
