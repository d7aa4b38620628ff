//go:build unix

package storetest

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

// processes are the tests with workers that are processes, which can be killed and
// stopped.
var processes = map[string]func(*testing.T, Suite){
	"a worker that is killed is gone after its time to live":     testKilled,
	"a worker that was stopped for long comes back as a new one": testStopped,
	"a worker that was killed and restarted is the new one":      testRestarted,
}

// childEnv makes a test binary a worker.
const childEnv = "ROUTEPROOF_STORETEST_CHILD"

// child is what a worker has to do.
type child struct {
	Spec string
	ID   string
	TTL  time.Duration
}

// Main is to be called first in TestMain: in a process that is to be a worker it
// registers until its input ends, and does not return. In a test binary it lets
// several tests run at once even on one core, since they wait most of the time.
func Main(open func(spec string, log *slog.Logger) (discovery.Store, error)) {
	text := os.Getenv(childEnv)
	if text == "" {
		flag.Parse()
		if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
			_ = f.Value.Set(strconv.Itoa(max(16, runtime.GOMAXPROCS(0)))) // a number is what it takes
		}
		return
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := work(text, open, log); err != nil {
		log.Error("worker", "error", err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

func work(text string, open func(string, *slog.Logger) (discovery.Store, error), log *slog.Logger) error {
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	store, err := open(c.Spec, log)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent closes it, or is gone
		cancel()
	}()
	r, err := discovery.Register(ctx, store, "workers", worker(c.ID), c.TTL, log)
	if err != nil {
		return err
	}
	for {
		w, registered, changed := r.Current()
		if registered {
			fmt.Println(w.Incarnation)
		}
		select {
		case <-changed:
		case <-r.Done():
			return r.Err()
		}
	}
}

// Process is a worker in a process of its own.
type Process struct {
	t            *testing.T
	cmd          *exec.Cmd
	stdin        io.Closer
	incarnations chan string
	ended        chan struct{}
}

// Start starts a worker.
func Start(t *testing.T, b Backend, id string, ttl time.Duration) *Process {
	t.Helper()
	text, err := json.Marshal(child{Spec: b.Spec(), ID: id, TTL: ttl})
	Must(t, err)
	p := &Process{t: t, cmd: exec.Command(os.Args[0]), incarnations: make(chan string, 100), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	p.cmd.Stderr = &testLog{t: t}
	p.stdin, err = p.cmd.StdinPipe()
	Must(t, err)
	out, err := p.cmd.StdoutPipe()
	Must(t, err)
	Must(t, p.cmd.Start())
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.incarnations <- strings.TrimSpace(lines.Text())
		}
		_ = p.cmd.Wait() // most are killed
	}()
	t.Cleanup(p.Kill)
	return p
}

// Incarnation waits for the next one that the worker registers.
func (p *Process) Incarnation() string {
	p.t.Helper()
	select {
	case i := <-p.incarnations:
		return i
	case <-p.ended:
		p.t.Fatal("the worker has ended")
	case <-time.After(Patience):
		p.t.Fatalf("no registration within %v", Patience)
	}
	return ""
}

// Signal sends a signal to the worker.
func (p *Process) Signal(s syscall.Signal) {
	p.t.Helper()
	Must(p.t, p.cmd.Process.Signal(s))
}

// Kill ends the worker as hard as can be.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// Stop has the worker leave.
func (p *Process) Stop() {
	_ = p.stdin.Close()
	<-p.ended
}

func testKilled(t *testing.T, s Suite) {
	b := s.New(t)
	fleet := Follow(t, b.Open(t))
	leaving := Start(t, b, "leaving", s.TTL)
	leaving.Incarnation()
	killed := Start(t, b, "killed", s.TTL)
	incarnation := killed.Incarnation()
	set := fleet.UntilIDs("killed", "leaving")
	if set[0].Incarnation != incarnation {
		t.Errorf("followed %v, registered %s", set[0], incarnation)
	}
	leaving.Stop()
	fleet.UntilIDs("killed")
	died := time.Now()
	killed.Kill()
	fleet.UntilIDs()
	// The bound is the promise and what a busy machine may add to it.
	took := time.Since(died)
	t.Logf("gone %v after it was killed, with a time to live of %v", took, s.TTL)
	if limit := s.TTL + time.Second + 3*time.Second; took > limit {
		t.Errorf("gone after %v, later than %v", took, limit)
	}
}

func testStopped(t *testing.T, s Suite) {
	b := s.New(t)
	fleet := Follow(t, b.Open(t))
	p := Start(t, b, "w0", s.TTL)
	first := p.Incarnation()
	fleet.UntilIDs("w0")
	p.Signal(syscall.SIGSTOP)
	fleet.UntilIDs()
	from := len(fleet.Sets())
	p.Signal(syscall.SIGCONT)
	second := p.Incarnation()
	if second == first {
		t.Errorf("registered again as %s", first)
	}
	fleet.Until("the new incarnation", func(set []discovery.Worker) bool { return len(set) == 1 && set[0].Incarnation == second })
	for _, set := range fleet.Sets()[from:] {
		if len(set) == 1 && set[0].Incarnation == first {
			t.Error("the old incarnation came back")
		}
	}
	p.Stop()
	fleet.UntilIDs()
}

func testRestarted(t *testing.T, s Suite) {
	b := s.New(t)
	fleet := Follow(t, b.Open(t))
	old := Start(t, b, "w0", 3*s.TTL)
	first := old.Incarnation()
	fleet.UntilIDs("w0")
	old.Kill()
	next := Start(t, b, "w0", 3*s.TTL)
	second := next.Incarnation()
	if second == first {
		t.Fatalf("both processes are %s", first)
	}
	fleet.Until("the new incarnation", func(set []discovery.Worker) bool { return len(set) == 1 && set[0].Incarnation == second })
	reader := b.Open(t)
	Eventually(t, "the old record to expire", func() bool { return len(Listing(t, reader, "workers")) == 1 }, func() any { return Listing(t, reader, "workers") })
	if set := fleet.UntilIDs("w0"); set[0].Incarnation != second {
		t.Errorf("when the old record was gone, the worker was %v", set[0])
	}
	next.Stop()
	fleet.UntilIDs()
}
