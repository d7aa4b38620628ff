//go:build unix

package guard

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// helloLimit is how long a guard may take to come to life.
	helloLimit = 30 * time.Second
	// sendLimit is how long a guard may take to read a request.
	sendLimit = 10 * time.Second
	// endLimit is how long a guard may take, after the grace, to end everything.
	endLimit = killLimit + 5*time.Second
)

// ErrNotFound is wrapped by Launch when the program does not exist or may not be run.
var ErrNotFound = errors.New("program not found or not executable")

// ErrTooLong is wrapped by Launch when the system refuses arguments and environment for
// their size.
var ErrTooLong = errors.New("its arguments and environment are too long together")

// Guard is one guard process and the target it holds. Methods may be called from
// any goroutine.
type Guard struct {
	cmd     *exec.Cmd
	dir     string
	control *os.File
	stdin   *os.File // our ends of the target's pipes; nil if it has none
	stdout  *os.File
	began   uint64        // when the guard process did
	over    chan struct{} // closed when the guard process has ended and was cleaned up after
	exited  chan struct{} // closed when the target's own process has ended

	launched chan report // the answer to Launch

	mu   sync.Mutex
	out  *gob.Encoder // nil once the lifeline is cut
	pid  int
	exit Exit
	done bool // exited is closed
	gone *gone
	loss error // what could not be put right after the guard was lost
}

// Start starts a guard process with an empty working directory and no target
// yet. What the target (and a broken guard) writes to standard output and error
// goes to log, in one call at a time, and before Exited tells of the target's
// end. The caller must Stop it.
func Start(ctx context.Context, log io.Writer) (*Guard, error) {
	return begin(ctx, log, false)
}

// StartPiped is Start for a target that is spoken to: its standard input and output
// are pipes of ours, Stdin and Stdout, and only its standard error goes to log.
func StartPiped(ctx context.Context, log io.Writer) (*Guard, error) {
	return begin(ctx, log, true)
}

func begin(ctx context.Context, log io.Writer, piped bool) (*Guard, error) {
	self, err := executable()
	if err != nil {
		return nil, fmt.Errorf("guard: own executable: %w", err)
	}
	var p pipes
	if err := p.open(piped); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	cmd := &exec.Cmd{
		Path:        self,
		Args:        []string{argv0},
		Env:         append(os.Environ(), mark+"=1"),
		Stdout:      p.logW,
		Stderr:      p.logW,
		ExtraFiles:  p.inherited(),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	output, err := newLogs(p.logR, log)
	if err == nil {
		err = bear(cmd)
	}
	p.closeTheirs()
	if err != nil {
		p.closeOurs()
		return nil, fmt.Errorf("guard: start: %w", err)
	}
	g := &Guard{
		cmd: cmd, began: beganAt(cmd.Process.Pid), control: p.controlW, stdin: p.stdinW, stdout: p.stdoutR, out: gob.NewEncoder(p.controlW),
		over: make(chan struct{}), exited: make(chan struct{}), launched: make(chan report, 1),
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		output.copy()
	}()
	hello := make(chan report, 1)
	go g.follow(p, output, hello, copied)

	limit := time.NewTimer(helloLimit)
	defer limit.Stop()
	select {
	case r := <-hello:
		if r.Dir != "" {
			g.dir = r.Dir
			return g, nil
		}
		err = fmt.Errorf("guard: did not come to life: %s", r.Failed)
	case <-limit.C:
		err = fmt.Errorf("guard: did not come to life within %v", helloLimit)
	case <-ctx.Done():
		err = fmt.Errorf("guard: %w", context.Cause(ctx))
	}
	_ = g.finish()
	return nil, err
}

// Dir is the working directory: absolute, made for this guard, removed at its end.
func (g *Guard) Dir() string { return g.dir }

// Stdin is the other end of the target's standard input: closing it is the end of
// the file. It is nil unless the guard was started with StartPiped. Stop closes it.
func (g *Guard) Stdin() *os.File { return g.stdin }

// Stdout is the other end of the target's standard output. It ends when the target
// and all that hold it have ended or closed it. It is nil unless the guard was
// started with StartPiped. Stop closes it, read or not.
func (g *Guard) Stdout() *os.File { return g.stdout }

// PID is the target's own process, 0 before Launch.
func (g *Guard) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pid
}

// GuardPID is the process id of the guard itself.
func (g *Guard) GuardPID() int { return g.cmd.Process.Pid }

// Launch starts the target; a guard launches once. The error wraps ErrNotFound
// if the program cannot be run at all, and ErrTooLong if not with so much.
func (g *Guard) Launch(ctx context.Context, s Spec) error {
	s.Env = append(slices.Clone(s.Env), dirEnv+"="+g.dir)
	if err := g.send(request{Launch: &launch{Spec: s, Piped: g.stdin != nil}}); err != nil {
		return err
	}
	select {
	case r := <-g.launched:
		if r.NotFound {
			return fmt.Errorf("%w: %s", ErrNotFound, r.Failed)
		}
		if r.TooLong {
			return fmt.Errorf("%w: %s", ErrTooLong, r.Failed)
		}
		if r.Failed != "" {
			return errors.New(r.Failed)
		}
		return nil
	case <-g.over:
		return errors.New("guard: ended before the launch")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Signal sends one signal to the target's own process. After the target's end it
// does nothing.
func (g *Guard) Signal(s syscall.Signal) error { return g.send(request{Signal: s}) }

// Exited is closed when the target's own process has ended, by itself or by Stop.
func (g *Guard) Exited() <-chan struct{} { return g.exited }

// Exit says how the target ended; ok is false while it runs.
func (g *Guard) Exit() (e Exit, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.exit, g.done
}

// Stop ends the target: signal first, SIGKILL to everything after grace, or at
// once when ctx ends. It returns when no process is left and the directory is
// removed, and says so if that could not be reached. It may be called again.
func (g *Guard) Stop(ctx context.Context, s syscall.Signal, grace time.Duration) error {
	if g.send(request{Stop: &stop{Signal: s, Grace: grace}}) == nil {
		limit := time.NewTimer(grace + endLimit)
		defer limit.Stop()
		select {
		case <-g.over:
		case <-ctx.Done():
		case <-limit.C:
		}
	}
	return g.finish()
}

// Forced says, after Stop, whether the target had to be killed.
func (g *Guard) Forced() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gone != nil && g.gone.Forced
}

// finish cuts the lifeline, waits for the guard's end, and ends it by force if
// need be: the target then dies with it.
func (g *Guard) finish() error {
	g.cut()
	limit := time.NewTimer(endLimit)
	defer limit.Stop()
	select {
	case <-g.over:
	case <-limit.C:
		_ = g.cmd.Process.Kill()
		<-g.over
	}
	closeAll(g.stdin, g.stdout) // the end of our side; a second close does nothing
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.gone == nil && g.loss != nil:
		return fmt.Errorf("guard process %d was lost: %w", g.GuardPID(), g.loss)
	case g.gone == nil && !seesAll:
		return fmt.Errorf("guard process %d was lost; its target's process group was killed, but what had left the group may be running", g.GuardPID())
	case g.gone == nil:
		return fmt.Errorf("guard process %d was lost; what was left of its target was killed", g.GuardPID())
	}
	var left, stays error
	if len(g.gone.Left) > 0 {
		left = fmt.Errorf("processes %v of the target did not end, even by SIGKILL within %v; look at them with ps", g.gone.Left, killLimit)
	}
	if g.gone.Stays != "" {
		stays = errors.New(g.gone.Stays)
	}
	return errors.Join(left, stays)
}

func (g *Guard) send(r request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.out == nil {
		return errors.New("guard: already stopped")
	}
	_ = g.control.SetWriteDeadline(time.Now().Add(sendLimit)) // a stopped guard reads nothing
	if err := g.out.Encode(r); err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	return nil
}

func (g *Guard) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.out != nil {
		g.out = nil
		_ = g.control.Close()
	}
}

// follow reads the guard's reports to their end and tidies up after it.
func (g *Guard) follow(p pipes, output *logs, hello chan<- report, copied <-chan struct{}) {
	in := gob.NewDecoder(p.statusR)
	dir := ""
	for {
		var r report
		if in.Decode(&r) != nil {
			break
		}
		switch {
		case r.Dir != "":
			dir = r.Dir
			hello <- r
		case r.PID != 0 || r.Failed != "" && dir != "":
			g.mu.Lock()
			g.pid = r.PID
			g.mu.Unlock()
			select {
			case g.launched <- r:
			default: // nobody waits any more
			}
		case r.Failed != "":
			hello <- r
		case r.Exit != nil:
			output.drain()
			g.end(*r.Exit)
		case r.Gone != nil:
			g.mu.Lock()
			g.gone = r.Gone
			g.mu.Unlock()
		}
	}
	_ = p.statusR.Close()
	bury(g.cmd)
	g.mu.Lock()
	lost, pid := g.gone == nil, g.pid
	g.mu.Unlock()
	if lost {
		loss := mourn(pid, dir, g.began)
		g.mu.Lock()
		g.loss = loss
		g.mu.Unlock()
	}
	g.end(Exit{Code: -1, Lost: true})
	// Everybody who held the log's other end is dead. If one is not, do not wait for it.
	_ = p.logR.SetReadDeadline(time.Now().Add(time.Second))
	<-copied
	_ = p.logR.Close()
	if dir == "" {
		select {
		case hello <- report{Failed: "it ended at once"}:
		default:
		}
	}
	close(g.over)
}

// end records the target's end once.
func (g *Guard) end(e Exit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.done {
		g.exit, g.done = e, true
		close(g.exited)
	}
}
