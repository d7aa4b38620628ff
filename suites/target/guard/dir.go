//go:build unix

package guard

import (
	"fmt"
	"io/fs"
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
		_ = wipe(dir) // the next one tries again
		_ = lock.Close()
	}
}

// wipe ends every process that carries the directory's name in its environment and
// removes the directory.
func wipe(dir string) error {
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
	return removeDir(dir)
}

// removeDir removes a directory, also where the target took the right to do so from
// its owner.
func removeDir(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what can be removed without it still is
		}
		if d.IsDir() { // before it is read
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("the target's directory %s could not be removed (%w); remove it by hand", dir, err)
	}
	return nil
}
