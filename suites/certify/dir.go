package certify

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"

	"github.com/routeproof/routeproof/suites/report"
)

const (
	evidenceDir = "evidence"
	// markFile says that a folder is a report's, also where a run was killed before it
	// could write one. While a run lasts it is locked.
	markFile = ".routeproof"
)

var ours = regexp.MustCompile(`^(report\.json|report\.invalid\.json|junit\.xml|evidence|shard-\d+\.log|\.routeproof|\.(report\.json|report\.invalid\.json|junit\.xml)\.\d+)$`)

// folder is a report's folder, reserved for one run.
type folder struct {
	dir  string
	lock *os.File
}

// reserve makes the folder and locks it. A folder that holds anything that is
// no report of ours, or that another run writes to, is a *UsageError.
func reserve(dir string) (*folder, error) {
	if err := foreign(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, usagef("cannot make the report's folder: %v; name another with --report-dir", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, markFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, usagef("cannot write to the report's folder: %v; name another with --report-dir", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return nil, usagef("another run writes its report to %s; wait for it, or name another folder with --report-dir", dir)
	}
	return &folder{dir: dir, lock: lock}, nil
}

// foreign is an error if the folder holds something that we must not replace.
func foreign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return usagef("cannot use %s for the report: %v; name another folder with --report-dir", dir, err)
	}
	marked := false
	for _, e := range entries {
		if !ours.MatchString(e.Name()) {
			return usagef("%s holds %s, which is no part of a report, so nothing there is replaced; remove the folder, or name another with --report-dir", dir, e.Name())
		}
		marked = marked || e.Name() == markFile
	}
	if marked {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, report.JSONFile))
	if err != nil || !bytes.Contains(text, []byte(report.FormatVersion)) {
		return usagef("%s is no report of ours, so nothing there is replaced; remove the folder, or name another with --report-dir", dir)
	}
	return nil
}

// sweep removes the previous report.
func (f *folder) sweep() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != markFile && ours.MatchString(e.Name()) {
			if err := os.RemoveAll(filepath.Join(f.dir, e.Name())); err != nil {
				return fmt.Errorf("remove the previous report: %w", err)
			}
		}
	}
	return nil
}

func (f *folder) release() { _ = f.lock.Close() }
