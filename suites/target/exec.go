package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/routeproof/routeproof/suites/target/guard"
)

// relaunches is how often a target that found a port taken is tried again.
const relaunches = 3

// binEnv overrides the program that templates know as .Exe.
const binEnv = "ROUTEPROOF_BIN"

// process is a target that runs as a process of ours, held by a guard.
type process struct {
	m    *Manifest
	v    Variant
	logf func(string, ...any)
	g    *guard.Guard
	log  *guard.Log
	url  string

	ports    *reservation // locked until the target has ended
	launched bool         // from here on, a failure may be a port's

	applying sync.Mutex
	data     Data // of the last rendering
}

// startExec launches the target, again with fresh ports if it found one taken.
func startExec(ctx context.Context, m *Manifest, v Variant, opt Options) (holder, error) {
	exe, err := ownProgram()
	if err != nil {
		return nil, err
	}
	data := Data{Exe: exe, ManifestDir: m.dir, Host: loopback, Workers: opt.Workers, Generation: 1, Session: v.Session, Aliases: m.Aliases, Timeouts: m.timeouts(v), Variant: opt.Variant, Store: opt.Store}
	for try := 1; ; try++ {
		p := &process{m: m, v: v, logf: opt.Logf, log: &guard.Log{}, data: data}
		err := p.start(ctx)
		if err == nil {
			return p, nil
		}
		if p.g != nil {
			if left := p.g.Stop(cancelled(), syscall.SIGKILL, 0); left != nil {
				err = errors.Join(err, left)
			}
		}
		p.ports.free()
		if !p.launched {
			return nil, err
		}
		// The guard is gone: the log is complete.
		port, ours, clash := p.ports.portClash(string(p.log.Bytes()))
		if clash && (!ours || try > relaunches) {
			return nil, &PortInUseError{Port: port, Tries: try, Log: p.log.Excerpt(), Remedy: portRemedy(port, ours)}
		}
		if !clash {
			return nil, p.unreachable(err)
		}
		opt.Logf("target: port %d was taken, launching again (%d of %d)", port, try, relaunches)
	}
}

func portRemedy(port int, ours bool) string {
	find := "find who holds it"
	if port != 0 {
		find = fmt.Sprintf("find who holds it with ss -ltnp 'sport = :%d' and stop it", port)
	}
	if ours {
		return find + ", or run fewer things beside this"
	}
	return find + ", or let the manifest use {{.Port}} and {{.Ports.NAME}} instead of a fixed port"
}

// notReady is why a launched target was given up.
type notReady struct{ error }

// unreachable gives a *notReady its final form, with the whole log.
func (p *process) unreachable(err error) error {
	var n *notReady
	if !errors.As(err, &n) {
		return err
	}
	u := &UnreachableError{Reason: n.Error(), Log: p.log.Excerpt()}
	if errors.Is(err, errEnded) {
		u.Reason = strings.TrimPrefix(u.Reason, errEnded.Error()+"; ")
		u.Reason = "it ended before it was ready (" + u.Reason + "); it must stay in the foreground"
		u.Exit = p.how()
	}
	return u
}

// start makes one try.
func (p *process) start(ctx context.Context) (err error) {
	if p.ports, err = reserve(1 + len(p.m.Ports)); err != nil {
		return err
	}
	defer p.ports.release()
	p.data.Port, p.data.Ports = p.ports.ports[0], map[string]int{}
	for i, name := range p.m.Ports {
		p.data.Ports[name] = p.ports.ports[1+i]
	}
	p.data.BaseURL = baseURL(p.data.Host, p.data.Port)
	ready, err := p.addresses()
	if err != nil {
		return err
	}
	if p.g, err = guard.Start(ctx, p.log); err != nil {
		return err
	}
	p.data.Dir = p.g.Dir()
	if err := p.writeFiles(&p.data); err != nil {
		return err
	}
	spec, err := p.command()
	if err != nil {
		return err
	}
	p.ports.release()
	if err := p.g.Launch(ctx, spec); err != nil {
		if errors.Is(err, guard.ErrNotFound) {
			return p.notFound(spec.Path, err)
		}
		if errors.Is(err, guard.ErrTooLong) {
			return tooLong(p.m.Launch.Exec.Command[0], spec.Path, err)
		}
		return err
	}
	p.launched = true
	if err := p.awaitReady(ctx, ready); err != nil {
		return err
	}
	// A target that stays after it found its port taken has let somebody else answer.
	if port, ours, _ := p.ports.portClash(string(p.log.Bytes())); ours && port != 0 {
		return &notReady{fmt.Errorf("port %d was taken, and what answers there is not the target", port)}
	}
	return nil
}

// addresses renders the endpoint and the readiness URL. A port that the manifest
// fixes must be free: else we would test whoever holds it.
func (p *process) addresses() (ready string, err error) {
	for _, a := range []struct {
		from Template
		into *string
	}{{p.m.Endpoint, &p.url}, {p.m.Launch.Exec.Ready.HTTP, &ready}} {
		s, err := a.from.renderURL(&p.data)
		if err != nil {
			return "", err
		}
		if port := p.ports.literalPort(s); port != 0 && taken(port) {
			return "", a.from.bad(s, fmt.Sprintf("port %d is already in use, by something that is not the target", port), portRemedy(port, false))
		}
		*a.into = s
	}
	p.url = trimURL(p.url)
	return ready, nil
}

// command renders the program, its arguments and its environment.
func (p *process) command() (guard.Spec, error) {
	e := p.m.Launch.Exec
	args := make([]string, len(e.Command))
	for i, a := range e.Command {
		s, err := a.renderWord("", &p.data)
		if err != nil {
			return guard.Spec{}, err
		}
		args[i] = s
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return guard.Spec{}, p.notFound(args[0], err)
	}
	env, err := p.environment()
	return guard.Spec{Path: path, Args: args, Env: env}, err
}

// environment is ours with the manifest's in its place: no name twice, for
// programs differ in which one they would take.
func (p *process) environment() ([]string, error) {
	var all []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if _, replaced := p.v.Env[name]; !replaced {
			all = append(all, pair)
		}
	}
	for _, name := range sortedKeys(p.v.Env) {
		s, err := p.v.Env[name].renderWord(name+"=", &p.data)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (p *process) notFound(program string, err error) error {
	return p.m.Launch.Exec.Command[0].bad(program, fmt.Sprintf("program %q cannot be run: %v", program, err),
		"install it, or write its path")
}

// tooLong is an error about all that a process is started with.
func tooLong(program Template, path string, err error) error {
	return program.bad(path, err.Error(), "write long texts into files, and give their names")
}

// newSuffix is behind the name of a file that is being written.
const newSuffix = ".routeproof-new"

// writeFiles renders all files into the target's directory, each by a temporary
// file and a rename: a target that reads while we write sees the old or the new.
func (p *process) writeFiles(d *Data) error {
	for _, name := range sortedKeys(p.v.Files) {
		s, err := p.v.Files[name].render(d)
		if err != nil {
			return err
		}
		final := filepath.Join(d.Dir, name)
		temp := final + newSuffix
		if err := os.WriteFile(temp, []byte(s), 0o644); err != nil {
			return err
		}
		if err := os.Rename(temp, final); err != nil {
			return err
		}
	}
	return nil
}

// awaitReady waits until the target serves and, where the manifest says how, until
// it shows the generation of its files: then it is really the target that answers.
func (p *process) awaitReady(ctx context.Context, url string) error {
	r := p.m.Launch.Exec.Ready
	limited, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("it was not ready within %v (launch.exec.ready.timeout)", r.Timeout))
	defer cancel()
	limited, done := alive(limited, p.g.Exited())
	defer done()
	err := awaitStatus(limited, url, r.Status)
	if err == nil && p.m.Wiring.Apply != nil {
		err = p.verify(limited, p.m.Wiring.Apply.Verify, &p.data, 0)
	}
	if err == nil {
		select {
		case <-p.g.Exited(): // somebody else answered
			err = errEnded
		default:
			return nil
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &notReady{err}
}

func (n *notReady) Unwrap() error { return n.error }

func (p *process) baseURL() string         { return p.url }
func (p *process) pid() int                { return p.g.PID() }
func (p *process) exited() <-chan struct{} { return p.g.Exited() }
func (p *process) logs() *guard.Log        { return p.log }

func (p *process) how() string {
	e, _ := p.g.Exit()
	return e.String()
}

func (p *process) lost() bool {
	e, _ := p.g.Exit()
	return e.Lost
}

func (p *process) end(ctx context.Context) error {
	e := p.m.Launch.Exec
	defer p.ports.free()
	err := p.g.Stop(ctx, unix.SignalNum(e.Stop), e.Grace)
	if p.g.Forced() && ctx.Err() == nil {
		p.logf("target: did not end on %s within %v and was killed", e.Stop, e.Grace)
	}
	return err
}

func ownProgram() (string, error) {
	if p := os.Getenv(binEnv); p != "" {
		return filepath.Abs(p)
	}
	return os.Executable()
}

// cancelled is a context that ended: no grace.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
