package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptLimit bounds every wait of a script.
const scriptLimit = 40 * time.Second

// processes are those that a script started, by name.
type processes map[string]*process

type process struct {
	cmd  *exec.Cmd
	over chan struct{}
}

// mark is in the environment of every process of a script, so that what is left can be found.
const mark = "ROUTEPROOF_SCRIPT="

func setup(e *testscript.Env) error {
	all := processes{}
	e.Values["processes"] = all
	e.Setenv("ROUTEPROOF_SCRIPT", e.WorkDir)
	e.Setenv("GORACE", "atexit_sleep_ms=0")
	e.Setenv("TMPDIR", e.WorkDir) // targets' directories; .Exe is found by the program itself
	fixtures, err := filepath.Abs("../../fixtures/targets")
	e.Setenv("FIXTURES", fixtures)
	e.Defer(func() {
		for _, p := range all {
			_ = p.cmd.Process.Kill()
			<-p.over
		}
	})
	return err
}

// commands are the verbs of the scripts beside testscript's own.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":       exits,       // exits STATUS ARG...: run routeproof; stdout and stderr can be matched
		"start":       start,       // start NAME ARG...: run it beside the script, into NAME.out and NAME.err
		"signal":      send,        // signal NAME INT|QUIT|TERM|HUP|KILL
		"ends":        ends,        // ends NAME STATUS: wait for it; -1 is a signal
		"await":       await,       // await FILE REGEXP: until it matches; a group goes into $FOUND
		"get":         get,         // get URL REGEXP: until the answer matches
		"chat":        chat,        // chat BASE-URL REGEXP: a completion
		"hold":        hold,        // hold: listen on a free port, $PORT
		"nothingleft": nothingLeft, // no process of the script lives
		"manifest":    manifest,    // manifest FILE [OLD NEW]...: the reference as a process, changed
		"claiming":    claiming,    // claiming FILE LAUNCH CLAIM...: a target that claims no more than these
		"measurement": measurement, // measurement FILE FACTOR [LADDER|SUITE|interrupted]...: of d/match, and of more, with its times multiplied
		"unheard":     unheard,     // unheard STATUS out|err|both|full ARG...: run routeproof with nobody at the other end, or on a full disk
		"fifo":        fifo,        // fifo FILE: a named pipe
		"feed":        feed,        // feed FIFO FILE SIGNAL NAME: once NAME reads the pipe, signal it, and then give it the file
		"expectation": expectation, // expectation FILE REPORT [CASE VERDICT]...: what the report says, changed
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits STATUS ARG...")
	}
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec("routeproof", args[1:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
	if errs := ts.ReadFile("stderr"); strings.Contains(errs, "panic:") || strings.Contains(errs, "goroutine ") {
		ts.Fatalf("it panicked")
	}
}

func start(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command(lookPath(ts, "routeproof"), args[1:]...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = append(os.Environ(), mark+ts.Getenv("ROUTEPROOF_SCRIPT"), "TMPDIR="+ts.Getenv("TMPDIR"))
	out, err := os.Create(ts.MkAbs(args[0] + ".out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	ts.Check(cmd.Start())
	p := &process{cmd: cmd, over: make(chan struct{})}
	go func() {
		defer close(p.over)
		_ = cmd.Wait() // ends looks at the state
	}()
	ts.Value("processes").(processes)[args[0]] = p
}

func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, name); exec.Command(path).Err == nil {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	ts.Fatalf("no %s in PATH", name)
	return ""
}

func send(ts *testscript.TestScript, _ bool, args []string) {
	s := map[string]syscall.Signal{"INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[args[1]]
	ts.Check(ts.Value("processes").(processes)[args[0]].cmd.Process.Signal(s))
}

func ends(ts *testscript.TestScript, _ bool, args []string) {
	p := ts.Value("processes").(processes)[args[0]]
	select {
	case <-p.over:
	case <-time.After(scriptLimit):
		ts.Fatalf("%s has not ended within %v", args[0], scriptLimit)
	}
	if got := strconv.Itoa(p.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("%s ended with %s, want %s\n%s", args[0], got, args[1], ts.ReadFile(args[0]+".err"))
	}
}

// until polls for what it can see, up to the limit.
func until(ts *testscript.TestScript, what string, seen func() (bool, string)) {
	var last string
	for end := time.Now().Add(scriptLimit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ok, now := seen()
		if ok {
			return
		}
		last = now
	}
	ts.Fatalf("%s: not within %v; last seen: %s", what, scriptLimit, last)
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	re := regexp.MustCompile(args[1])
	until(ts, "await "+strings.Join(args, " "), func() (bool, string) {
		b, _ := os.ReadFile(ts.MkAbs(args[0]))
		m := re.FindSubmatch(b)
		if len(m) > 1 {
			ts.Setenv("FOUND", string(m[1]))
		}
		return m != nil, string(b)
	})
}

var client = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func get(ts *testscript.TestScript, _ bool, args []string) {
	re := regexp.MustCompile(args[1])
	until(ts, "get "+args[0], func() (bool, string) {
		resp, err := client.Get(args[0])
		return matches(resp, err, re)
	})
}

func chat(ts *testscript.TestScript, _ bool, args []string) {
	re := regexp.MustCompile(args[1])
	until(ts, "chat "+args[0], func() (bool, string) {
		body := strings.NewReader(`{"model": "mock", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}`)
		resp, err := client.Post(args[0]+"/v1/chat/completions", "application/json", body)
		return matches(resp, err, re)
	})
}

func matches(resp *http.Response, err error, re *regexp.Regexp) (bool, string) {
	if err != nil {
		return false, err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return err == nil && re.Match(b), string(b)
}

func hold(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv("PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

func nothingLeft(ts *testscript.TestScript, _ bool, _ []string) {
	want := []byte(mark + ts.Getenv("ROUTEPROOF_SCRIPT"))
	until(ts, "nothingleft", func() (bool, string) {
		var left []string
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			if env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ")); err == nil && slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return bytes.Equal(v, want) }) {
				left = append(left, e.Name()) // a zombie's environment is empty
			}
		}
		return len(left) == 0, strings.Join(left, " ")
	})
	if dirs, _ := filepath.Glob(filepath.Join(ts.Getenv("TMPDIR"), "routeproof-*")); len(dirs) > 0 {
		until(ts, "nothingleft", func() (bool, string) {
			dirs, _ := filepath.Glob(filepath.Join(ts.Getenv("TMPDIR"), "routeproof-target-*"))
			return len(dirs) == 0, strings.Join(dirs, " ")
		})
	}
}
