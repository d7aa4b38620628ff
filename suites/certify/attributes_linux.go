package certify

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttributes put a shard into a process group of its own, so that a
// terminal's Ctrl-C reaches only us, and let it die with us.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// halted says whether a child was stopped by a signal since the last time. It takes
// nothing from whoever waits for the child's end.
func halted(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo == int32(unix.SIGCHLD)
}
