//go:build unix && !linux

package certify

import "syscall"

// childAttributes put a shard into a process group of its own, so that a
// terminal's Ctrl-C reaches only us. That we are gone it learns from its lifeline.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// halted cannot be told here: a stopped shard is ended for its silence.
func halted(int) bool { return false }
