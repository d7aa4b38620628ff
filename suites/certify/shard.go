package certify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
)

const (
	// stopGrace is how long a shard that was told to stop gets to end cleanly.
	stopGrace = 15 * time.Second
	// drainGrace is how long after a shard's end its last events are waited for.
	drainGrace = 5 * time.Second
	// silenceGrace is how much longer than its longest case a shard may be silent.
	silenceGrace = time.Minute
	// lookEvery is how often a shard is looked at: a stopped process is silent, but
	// there is no need to wait for that.
	lookEvery = time.Second
)

// shard is one child process as its parent sees it. One goroutine owns it.
type shard struct {
	n       int // from 1
	jobs    []suites.Job
	o       *Options
	col     *collector
	log     *shardLog
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	running string // the job that was last started and has not finished
	done    bool
	fault   string // what this side did to it, or found wrong with it
	stopped bool
	killed  bool
	events  *os.File
	over    chan struct{} // closed when nobody takes events any more
}

// logName is a shard's log file in the report's folder.
func logName(n int) string { return fmt.Sprintf("shard-%d.log", n) }

// run starts the child, follows it to its end and reports how that was. It
// always comes back: a child that is silent for too long is killed.
func (s *shard) run(ctx context.Context) {
	log, err := newShardLog(filepath.Join(s.o.ReportDir, logName(s.n)))
	if err != nil {
		s.problem(err.Error())
		return
	}
	s.log = log
	defer log.close()
	s.over = make(chan struct{})
	defer close(s.over)
	events, exited, err := s.start()
	if err != nil {
		s.problem(fmt.Sprintf("cannot start %q: %v", s.o.Command, err))
		return
	}
	defer s.events.Close()
	s.conclude(s.follow(ctx, events, exited))
}

// start starts the child. events is closed after its last one; exited gets its
// end, once.
func (s *shard) start() (<-chan event, <-chan error, error) {
	a := assignment{
		Shard: s.n, File: s.o.Manifest.File, Manifest: string(s.o.Manifest.Source()), Jobs: s.jobs, Seed: s.o.Seed,
		Natural: s.o.Mode == report.Run, Evidence: filepath.Join(s.o.ReportDir, evidenceDir),
	}
	line, err := json.Marshal(a)
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	s.cmd = exec.Command(s.o.Command[0], s.o.Command[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.ExtraFiles = []*os.File{w} // EventsFD
	s.cmd.SysProcAttr = childAttributes()
	s.cmd.WaitDelay = drainGrace
	if s.stdin, err = s.cmd.StdinPipe(); err == nil {
		started, exited := make(chan error, 1), make(chan error, 1)
		go func() {
			// The parent death signal belongs to the thread that forks: it must live as
			// long as the child.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			err := s.cmd.Start()
			started <- err
			if err == nil {
				exited <- s.cmd.Wait()
			}
		}()
		if err = <-started; err == nil {
			w.Close()
			go func() { _, _ = s.stdin.Write(append(line, '\n')) }() // ends with the child at the latest
			s.events = r
			return s.read(r), exited, nil
		}
	}
	r.Close()
	w.Close()
	return nil, nil, err
}

// read decodes events until their end, or until one is none.
func (s *shard) read(r *os.File) <-chan event {
	out := make(chan event)
	go func() {
		defer close(out)
		dec := json.NewDecoder(r)
		for {
			var e event
			err := dec.Decode(&e)
			switch {
			case errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed):
				return
			case err != nil:
				e = event{Problem: s.problemOf(fmt.Sprintf("its events cannot be read: %v", err))}
			}
			select {
			case out <- e:
			case <-s.over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// follow handles the child's events until it has ended and returns how it did.
func (s *shard) follow(ctx context.Context, events <-chan event, exited <-chan error) error {
	silence := time.NewTimer(s.silence())
	defer silence.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	stop, kill := ctx.Done(), s.o.Kill
	var late <-chan time.Time // a limit on an end that was asked for
	var how error
	for events != nil || exited != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				break
			}
			s.take(e)
			silence.Reset(s.silence())
		case how = <-exited:
			exited = nil
			late = time.After(drainGrace)
		case <-stop:
			stop, s.stopped = nil, true
			s.stdin.Close() // the lifeline: the child cancels its case, closes its benches and ends
			if late == nil {
				late = time.After(stopGrace)
			}
		case <-kill:
			kill, s.stopped = nil, true
			late = s.kill("")
		case <-silence.C:
			late = s.kill(fmt.Sprintf("it gave no sign of life for %v and was killed", s.silence()))
		case <-look.C:
			if exited != nil && !s.killed && halted(s.cmd.Process.Pid) {
				late = s.kill("something stopped it with a signal (SIGSTOP or the like), and it was killed")
			}
		case <-late:
			if s.killed || exited == nil {
				return how // it cannot be killed, or somebody else holds its end of the pipe
			}
			late = s.kill(fmt.Sprintf("it did not end within %v of being told to and was killed", stopGrace))
		}
	}
	return how
}

func (s *shard) silence() time.Duration {
	if s.o.Silence > 0 {
		return s.o.Silence
	}
	var longest time.Duration
	for _, j := range s.jobs {
		c, _ := s.o.Catalogue.Case(j.Case)
		longest = max(longest, c.Limit)
	}
	return longest + suites.SpecGrace + ginkgoGrace + silenceGrace
}

// kill ends the child's process group and returns the limit on its end. Its
// targets are no part of the group; they die through their guards.
func (s *shard) kill(why string) <-chan time.Time {
	if s.fault == "" {
		s.fault = why
	}
	s.killed = true
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	return time.After(drainGrace)
}

func (s *shard) take(e event) {
	switch {
	case e.Started != "":
		s.running = e.Started
		s.col.started(e.Started)
	case e.Finished != nil:
		s.running = ""
		if text := s.col.finished(s.jobs, *e.Finished); text != "" {
			s.problem(text)
		}
	case e.Problem != nil:
		s.col.problem(*e.Problem)
	case e.Done:
		s.done = true
	}
}

// conclude reports how the child ended where that is a finding.
func (s *shard) conclude(how error) {
	missing := s.col.missing(s.jobs)
	if s.stopped && (s.done || s.fault == "") {
		return // what has no result was stopped
	}
	text := s.fault
	switch {
	case text != "":
	case how != nil:
		text = "it crashed: " + how.Error()
	case !s.done:
		text = "it ended before its work did, with status 0"
	case len(missing) > 0:
		text = "it says it is done"
	default:
		return
	}
	if s.running != "" {
		text += fmt.Sprintf(", while case %s ran", s.running)
	}
	if len(missing) > 0 {
		text += fmt.Sprintf("; %d of its %d cases have no result", len(missing), len(s.jobs))
		s.col.explain(missing, fmt.Sprintf("shard %d ended before: %s", s.n, text))
	}
	text += fmt.Sprintf("; see %s", logName(s.n))
	if last := s.log.lastWords(); last != "" {
		text += ", which says:\n  " + strings.ReplaceAll(last, "\n", "\n  ")
	}
	s.problem(text)
}

func (s *shard) problem(text string) { s.col.problem(*s.problemOf(text)) }

func (s *shard) problemOf(text string) *report.Problem {
	return &report.Problem{Kind: report.ProblemHarness, Subject: fmt.Sprintf("shard %d", s.n), Text: text}
}
