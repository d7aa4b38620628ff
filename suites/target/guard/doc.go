// Package guard runs one target process so that nothing of it outlives us,
// however we end: also when our process is killed with SIGKILL, when the target
// ignores SIGTERM, and when it daemonizes.
//
// The target is not our child but a guard's: a second copy of our own executable
// that does nothing else. The guard holds the read end of a pipe (the lifeline)
// whose write end only we hold. When we end, for whatever reason, the kernel
// closes the write end, and the guard kills the target with all its descendants,
// removes the working directory and exits. On Linux the guard is a child
// subreaper, so that a descendant that left the target's process group and session
// is still found; and the target dies with the guard (parent death signal).
// On other systems the guard knows the target's process group only.
//
// A target can kill its guard. On Linux the process that starts guards is a child
// subreaper too, so what a lost guard leaves comes to it, and it ends all that is
// younger than the guard and in another session than its own: such a process may start
// no children in sessions of their own besides guards, or it may lose them with a guard.
//
// If guard and parent are killed together, the target still dies with the guard; what
// else they leave, the next guard that starts on this machine clears away: it knows
// the processes by a variable in their environment, which names the directory, and
// the directory by its name and a lock that only a living guard holds.
//
// The guard makes the working directory itself and removes that one alone: a
// directory that we had made could be left behind between its making and the
// guard's start.
package guard

import "os"

// argv0 and mark together turn a start of our executable into a guard. The name
// does not hold the program's, so that whoever ends everything that is called
// routeproof by SIGKILL leaves the guards to their work.
const (
	argv0 = "rp-guard"
	mark  = "ROUTEPROOF_GUARD"
)

// init is right here, against the rule of the house, because the guard must come
// to life in every binary that imports this package, test binaries of `go test`
// included, before their main function parses flags or starts anything. It
// registers nothing, and it does nothing at all unless the process was started
// as a guard; then it never returns.
func init() {
	if len(os.Args) == 1 && os.Args[0] == argv0 && os.Getenv(mark) == "1" {
		os.Exit(stand(os.NewFile(controlFD, "control"), os.NewFile(statusFD, "status")))
	}
}
