//go:build unix

package guard

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// living are the guards that are children of this process. Whoever holds the lock
// can tell them from its other children: none is started meanwhile.
var living = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// bear starts a guard. From the first one on, what a lost guard leaves comes to us
// and not to init. What is adopted otherwise (the guards of a shard that was killed)
// ends by itself, and is init's to reap when we have ended.
func bear(cmd *exec.Cmd) error {
	living.Lock()
	defer living.Unlock()
	if err := becomeReaper(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	living.pids[cmd.Process.Pid] = true
	return nil
}

// bury waits for a guard's end. Its status says nothing that its reports did not.
func bury(cmd *exec.Cmd) {
	_ = cmd.Wait()
	living.Lock()
	defer living.Unlock()
	delete(living.pids, cmd.Process.Pid)
}

// mourn cleans up after a guard that was itself killed. Its target died with it
// (parent death signal), the rest of the target's group dies now, then what the
// guard left to us, and what is found by the directory's name.
func mourn(pid int, dir string, since uint64) error {
	if dir == "" {
		return nil
	}
	if pid != 0 {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	return errors.Join(endOrphans(since), wipe(dir))
}

// endOrphans ends what a guard that began at since left to us. While there are new
// ones it does not rest: who forks and ends without pause leaves one dead after the
// other, and is caught alive some time.
func endOrphans(since uint64) error {
	seen := map[int]bool{}
	for end := time.Now().Add(killLimit); ; {
		alive, reaped := orphans(since)
		fresh := reaped > 0
		for _, pid := range alive {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			fresh = fresh || !seen[pid]
			seen[pid] = true
		}
		switch {
		case len(alive) == 0 && reaped == 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("processes of the target (now %v) did not end, even by SIGKILL within %v; look at them with ps", alive, killLimit)
		case !fresh:
			<-time.After(rescan)
		}
	}
}
