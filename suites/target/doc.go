// Package target describes a router under test and holds it while it is tested:
// the manifest (strict YAML), launching it (a process, something that already
// runs, or the reference inside this process), wiring the workers to it,
// changing them, and tearing it down so that nothing is left.
//
// A process is held by package guard: it dies with us, however we end.
package target
