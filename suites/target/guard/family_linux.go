package guard

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seesAll: family finds every descendant, whatever it did to hide.
const seesAll = true

// becomeReaper makes orphaned descendants our children instead of init's.
func becomeReaper() error {
	return os.NewSyscallError("prctl(PR_SET_CHILD_SUBREAPER)", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// nameSelf names this process for people who look at a process list; at most 15 bytes.
func nameSelf() {
	name := append([]byte(argv0), 0)
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
}

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// family lists all living descendants of this process, whatever their group or
// session. The target itself is one of them. Where the kernel lists children, the
// rest of the machine is not looked at: a target that forks without pause must not
// be ahead for ever.
func family(int) []int {
	next := listed
	if !lists() {
		next = scanned()
	}
	var alive []int
	for _, pid := range descendants(next(os.Getpid()), next) {
		if s, ok := statOf(pid); ok && s.alive {
			alive = append(alive, pid)
		}
	}
	return alive
}

// orphans lists the living processes that a lost guard left to us, with all their
// descendants, and reaps those that are dead. They are children of ours in another
// session that are no guards: what we start ourselves stays in our session, but for
// the guards, and nothing comes into a session from outside. What is older than the
// guard, which began at since, we were born with.
func orphans(since uint64) (alive []int, reaped int) {
	living.Lock() // nobody becomes a guard while we look
	defer living.Unlock()
	if lists() {
		if alive, reaped = adopted(since, listed); len(alive) > 0 || reaped > 0 {
			return alive, reaped
		}
	}
	return adopted(since, scanned()) // the kernel's lists may miss one while others end
}

func adopted(since uint64, next func(int) []int) (alive []int, reaped int) {
	self, _ := statOf(os.Getpid())
	var left []int
	for _, pid := range next(os.Getpid()) {
		s, ok := statOf(pid)
		if !ok || living.pids[pid] || s.session == self.session || s.began < since {
			continue
		}
		if s.alive {
			left = append(left, pid)
		} else if done, _ := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); done == pid {
			reaped++
		}
	}
	return descendants(left, next), reaped
}

// descendants adds to processes their children, and theirs, and so on.
func descendants(all []int, next func(int) []int) []int {
	for i := 0; i < len(all); i++ {
		all = append(all, next(all[i])...)
	}
	return all
}

// lists says whether the kernel lists the children of a process.
func lists() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
}

// listed are the children of a process as the kernel lists them.
func listed(pid int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	var all []int
	for _, task := range numbers(tasks) {
		line, _ := os.ReadFile(tasks + "/" + strconv.Itoa(task) + "/children")
		for _, f := range bytes.Fields(line) {
			if child, err := strconv.Atoi(string(f)); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// scanned gives the children of any process, found among all processes there are now.
func scanned() func(int) []int {
	children := map[int][]int{}
	for _, pid := range numbers("/proc") {
		if s, ok := statOf(pid); ok {
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	return func(pid int) []int { return children[pid] }
}

// stat is what we want to know of a process.
type stat struct {
	parent, session int
	began           uint64 // in the kernel's clock ticks
	state           byte   // 'Z' is a zombie, or a process whose first thread is one
	alive           bool   // not a zombie, which has no life to end
}

// statOf reads /proc/PID/stat: "PID (NAME) STATE PPID PGRP SESSION ...", where NAME
// may hold anything, brackets included. After the name, the 18th is the number of
// threads and the 20th the start.
func statOf(pid int) (stat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(f) < 20 {
		return stat{}, false
	}
	parent, err1 := strconv.Atoi(string(f[1]))
	session, err2 := strconv.Atoi(string(f[3]))
	began, err3 := strconv.ParseUint(string(f[19]), 10, 64)
	state := f[0][0]
	alive := state != 'Z' || string(f[17]) != "0" && string(f[17]) != "1"
	return stat{parent, session, began, state, alive}, err1 == nil && err2 == nil && err3 == nil
}

// beganAt says when a process began, for orphans.
func beganAt(pid int) uint64 {
	s, _ := statOf(pid)
	return s.began
}

// marked lists the living processes whose environment holds the pair.
func marked(pair string) []int {
	var all []int
	for _, pid := range numbers("/proc") {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || !bytes.Contains(append(append([]byte{0}, env...), 0), []byte("\x00"+pair+"\x00")) {
			continue
		}
		if s, ok := statOf(pid); ok && s.alive {
			all = append(all, pid)
		}
	}
	return all
}

// numbers lists what is named by a number in a directory of /proc: all processes
// that we can see, or the threads of one.
func numbers(dir string) []int {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, n)
		}
	}
	return all
}
