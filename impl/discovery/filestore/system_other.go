//go:build !unix

package filestore

import (
	"errors"
	"fmt"
	"os"
)

const nonblock = 0

var errUnix = fmt.Errorf("the file store needs a Unix system: use etcd: %w", errors.ErrUnsupported)

func touch(string) error { return errUnix }

func tryLock(*os.File) (bool, error) { return false, errUnix }

func noLinks(error) bool { return false }
