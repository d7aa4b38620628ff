//go:build unix

package filestore

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const nonblock = syscall.O_NONBLOCK

// touch sets a file's modification time to the file system's present, which on a
// network mount is the server's: the owner's clock plays no part.
func touch(path string) error {
	if err := unix.Utimes(path, nil); err != nil {
		return &os.PathError{Op: "touch", Path: path, Err: err}
	}
	return nil
}

// tryLock locks an open file for this opener alone. It returns false if somebody
// else holds it.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

// noLinks says whether linking failed because the file system has no hard links.
func noLinks(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EMLINK)
}
