//go:build unix

package guard

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	// dirPrefix begins the name of every working directory.
	dirPrefix = "routeproof-target-"
	// rescan is how often the kill is repeated while something still lives: a
	// process that forks while it is looked at is caught in the next round.
	rescan = 20 * time.Millisecond
	// killLimit ends the wait for processes that do not die of SIGKILL (stuck in the
	// kernel). They are reported.
	killLimit = 10 * time.Second
)

// standing is the guard at work. One goroutine owns it.
type standing struct {
	out    *gob.Encoder
	dir    string
	pid    int  // the target; 0 before the launch
	exited bool // the target's own process has ended
	empty  bool // no descendant is left
	ending bool // asked to end: by request, lifeline or SIGTERM
	forced bool // SIGKILL was sent while something lived

	requests chan request
	ended    chan syscall.WaitStatus // the target's own end, closed when no descendant is left
	grace    <-chan time.Time
	again    *time.Ticker
	limit    <-chan time.Time
}

// stand is the whole life of the guard process. It returns the exit status.
func stand(control, status *os.File) int {
	// The parent death signal belongs to the thread that forks the target: it must
	// live as long as the process. init runs on the main thread; stay there.
	runtime.LockOSThread()
	os.Unsetenv(mark)
	syscall.CloseOnExec(controlFD)
	syscall.CloseOnExec(statusFD)
	syscall.CloseOnExec(stdinFD) // no error where there is none
	syscall.CloseOnExec(stdoutFD)

	// Caught, not ignored: an ignored signal would stay ignored in the target.
	ask := make(chan os.Signal, 4)
	signal.Notify(ask, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)

	g := &standing{out: gob.NewEncoder(status), empty: true, requests: make(chan request), ended: make(chan syscall.WaitStatus)}
	if err := becomeReaper(); err != nil {
		g.tell(report{Failed: "guard: " + err.Error()})
		return 1
	}
	nameSelf()
	sweep()
	dir, lock, err := makeDir()
	if err != nil {
		g.tell(report{Failed: "guard: " + err.Error()})
		return 1
	}
	defer lock.Close()
	g.dir = dir
	g.tell(report{Dir: dir})
	go g.listen(control)
	return g.run(ask)
}

// listen decodes requests until the lifeline ends.
func (g *standing) listen(control io.Reader) {
	in := gob.NewDecoder(control)
	for {
		var r request
		if in.Decode(&r) != nil {
			close(g.requests)
			return
		}
		g.requests <- r
	}
}

func (g *standing) run(ask <-chan os.Signal) int {
	requests, ended := g.requests, g.ended
	for !g.ending || !g.empty {
		var again <-chan time.Time
		if g.again != nil {
			again = g.again.C
		}
		select {
		case r, ok := <-requests:
			if !ok {
				requests = nil
				g.ending = true
				g.kill()
				continue
			}
			g.serve(r)
		case s := <-ask:
			if s == syscall.SIGTERM {
				g.ending = true
				g.kill()
			}
		case status, ok := <-ended:
			if !ok {
				ended = nil
				g.empty = true
				g.rest()
				continue
			}
			g.mark(status)
		case <-g.grace:
			g.kill()
		case <-again:
			g.kill()
		case <-g.limit:
			return g.leave(family(g.pid))
		}
	}
	return g.leave(nil)
}

func (g *standing) serve(r request) {
	switch {
	case r.Launch != nil:
		g.launch(*r.Launch)
	case r.Stop != nil:
		g.ending = true
		if g.pid != 0 && !g.exited {
			_ = syscall.Kill(g.pid, r.Stop.Signal)
			g.grace = time.After(r.Stop.Grace)
		}
	case r.Signal != 0 && g.pid != 0 && !g.exited:
		_ = syscall.Kill(g.pid, r.Signal)
	}
}

func (g *standing) launch(l launch) {
	if g.pid != 0 || g.ending {
		g.tell(report{Failed: "guard: launched twice or while ending"})
		return
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		g.tell(report{Failed: "guard: " + err.Error()})
		return
	}
	defer null.Close()
	files := []uintptr{null.Fd(), 1, 2}
	if l.Piped {
		files = []uintptr{stdinFD, stdoutFD, 2}
	}
	pid, err := syscall.ForkExec(l.Path, l.Args, &syscall.ProcAttr{Env: l.Env, Files: files, Sys: childAttributes()})
	if l.Piped { // the target's alone: its end must be seen at the other ends
		_ = syscall.Close(stdinFD)
		_ = syscall.Close(stdoutFD)
	}
	if err != nil {
		missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOEXEC)
		g.tell(report{Failed: fmt.Sprintf("%s: %v", l.Path, err), NotFound: missing, TooLong: errors.Is(err, syscall.E2BIG)})
		return
	}
	g.pid, g.empty = pid, false
	go g.wait()
	g.tell(report{PID: pid})
}

// wait reaps every child, adopted ones included, until there is none: then, on a
// subreaper, the target has no descendant either. Only the target's own end is told:
// others may end faster than anybody listens, and must not fill the process table.
func (g *standing) wait() {
	defer close(g.ended)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		case pid == g.pid && (status.Exited() || status.Signaled()):
			g.ended <- status
		}
	}
}

// mark notes the target's own end.
func (g *standing) mark(status syscall.WaitStatus) {
	g.exited = true
	e := &Exit{Code: status.ExitStatus()}
	if status.Signaled() {
		e.Signal = status.Signal()
	}
	g.tell(report{Exit: e})
	g.kill() // what the target leaves behind has no business without it
}

// kill sends SIGKILL to the target's group and all descendants, and sees to it
// that this is repeated until none is left.
func (g *standing) kill() {
	if g.pid == 0 || g.empty {
		return
	}
	if !g.exited {
		g.forced = true
	}
	if !g.exited || !seesAll { // a group whose leader was reaped may be somebody else's by now
		_ = syscall.Kill(-g.pid, syscall.SIGKILL)
	}
	killed := map[int]bool{}
	for end, fresh := time.Now().Add(rescan/2), true; fresh && time.Now().Before(end); {
		fresh = false
		for _, pid := range family(g.pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			fresh = fresh || !killed[pid] // and may have left another
			killed[pid] = true
		}
	}
	if g.again == nil {
		g.again = time.NewTicker(rescan)
		g.limit = time.After(killLimit)
	}
}

func (g *standing) rest() {
	g.grace, g.limit = nil, nil
	if g.again != nil {
		g.again.Stop()
		g.again = nil
	}
}

// leave removes the directory, reports and gives the exit status.
func (g *standing) leave(left []int) int {
	last := &gone{Forced: g.forced, Left: left}
	err := removeDir(g.dir)
	if err != nil {
		last.Stays = err.Error()
	}
	g.tell(report{Gone: last})
	if err != nil || len(left) > 0 {
		return 1
	}
	return 0
}

// tell reports to the parent. The parent may be gone; then nobody needs to know.
func (g *standing) tell(r report) { _ = g.out.Encode(r) }
