//go:build unix

package guard

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// abandoned is how long a directory must have been left alone before a missing lock
// says that its guard is dead: a new one is locked a moment after it was made.
const abandoned = 10 * time.Second

// makeDir makes the working directory and locks it for as long as the guard lives.
func makeDir() (string, *os.File, error) {
	dir, err := os.MkdirTemp("", dirPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, lock, nil
}

// lockDir locks a directory; the lock goes with the file, or with the process. The
// file is close-on-exec: a target does not hold it.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, os.NewSyscallError("flock "+dir, err)
	}
	return f, nil
}

// sweep clears what guards left behind that were killed together with whoever had
// started them: nobody was there to mourn.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*")) // the pattern is sound
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < abandoned {
			continue
		}
		lock, err := lockDir(dir)
		if err != nil {
			continue // its guard lives, or it is somebody else's
		}
		wipe(dir)
		_ = lock.Close()
	}
}

// wipe ends every process that carries the directory's name in its environment and
// removes the directory.
func wipe(dir string) {
	for end := time.Now().Add(killLimit); time.Now().Before(end); {
		left := marked(dirEnv + "=" + dir)
		if len(left) == 0 {
			break
		}
		for _, p := range left {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		<-time.After(rescan)
	}
	_ = os.RemoveAll(dir)
}
