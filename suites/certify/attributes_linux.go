package certify

import "syscall"

// childAttributes put a shard into a process group of its own, so that a
// terminal's Ctrl-C reaches only us, and let it die with us.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
