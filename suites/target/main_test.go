package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/fixtures/hostile"
	"github.com/routeproof/routeproof/impl/serve"
)

// The test binary stands in for routeproof (its serve and hostile commands) and
// for the targets of these tests (play), since manifests reach it as .Exe.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "play":
			play(os.Args[2], os.Args[3:])
		case "hostile": // hostile MODE --listen ADDR
			exit(hostile.Run(context.Background(), os.Args[2], os.Args[4]))
		case "serve": // serve --config FILE
			exit(serveReference(os.Args[3]))
		case "hold": // hold MANIFEST: a parent to be killed
			hold(os.Args[2])
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every process sleeps for a second at its end
	goleak.VerifyTestMain(m)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveReference(file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	reload := make(chan struct{})
	go func() {
		for range hup {
			reload <- struct{}{}
		}
	}()
	return serve.Run(ctx, file, reload, slog.New(slog.NewTextHandler(os.Stderr, nil)))
}

// play is a target: it serves /health and /gen, which is the text of the file
// "gen" in dir as of the last SIGHUP it did not lose.
func play(mode string, args []string) {
	addr, dir := args[0], args[1]
	stubborn := mode == "stubborn" || mode == "family"
	if stubborn || mode == "child" {
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Printf("pid %d %s\n", os.Getpid(), mode)
	switch mode {
	case "exit":
		fmt.Println("line before the last")
		fmt.Println("cannot find my model")
		os.Exit(4)
	case "child":
		time.Sleep(time.Minute)
		os.Exit(0)
	case "family":
		child := exec.Command(os.Args[0], "play", "child", addr, dir)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			exit(err)
		}
	case "busy": // finds its port taken until the third try, as the file counts
		n, _ := os.ReadFile(args[2])
		_ = os.WriteFile(args[2], append(n, 'x'), 0o600)
		if len(n) < 2 {
			fmt.Printf("bind %s: Address already in use\n", addr)
			os.Exit(1)
		}
	case "impostor": // complains of its port, yet something answers there
		fmt.Printf("bind %s: address already in use, trying again\n", addr)
	case "taken":
		fmt.Printf("bind 127.0.0.1:%s: address already in use\n", args[2])
		os.Exit(1)
	}
	var gen atomic.Value
	read := func() {
		b, _ := os.ReadFile(filepath.Join(dir, "gen"))
		gen.Store(string(b))
	}
	read()
	hup := make(chan os.Signal, 8)
	signal.Notify(hup, syscall.SIGHUP)
	var reloading atomic.Int64
	go func() {
		for n := 1; ; n++ {
			<-hup
			reloading.Store(1)
			switch {
			case mode == "slow":
				time.Sleep(700 * time.Millisecond)
				read()
			case mode == "deaf", mode == "lossy" && n == 1:
			case mode == "dies":
				fmt.Println("reload: giving up")
				os.Exit(9)
			default:
				read()
			}
			reloading.Store(0)
		}
	}()
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		if mode == "unready" {
			http.Error(w, "loading weights", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/gen", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "gen %s;", gen.Load()) })
	mux.HandleFunc("/undone", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, reloading.Load()+int64(len(hup)), " reloads to come")
	})
	var asked atomic.Int64
	mux.HandleFunc("/when", func(w http.ResponseWriter, _ *http.Request) {
		if mode != "late" && asked.Add(1) > 3 {
			_, _ = io.WriteString(w, "now;")
		}
	})
	mux.HandleFunc("/env", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, os.Getenv("PLAY")) })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for chunk := []byte(strings.Repeat("x", 1<<16)); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("x"))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	})
	mux.HandleFunc("/garbage", func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = c.Write([]byte("\xff\xfe\x00\r\n\r\n"))
			_ = c.Close()
		}
	})
	exit(http.ListenAndServe(addr, mux))
}

// hold starts a target and waits to be killed.
func hold(manifest string) {
	m, err := Load(manifest, nil)
	if err != nil {
		exit(err)
	}
	r, err := Start(context.Background(), m, Options{Workers: someWorkers(1)})
	if err != nil {
		exit(err)
	}
	fmt.Printf("%sready\n", r.Logs())
	time.Sleep(time.Minute)
	os.Exit(0)
}

// playManifest is a manifest for play in a mode, with further text below it.
func playManifest(mode string, args ...string) string {
	more := ""
	for _, a := range args {
		more += ", '" + a + "'"
	}
	return `apiVersion: routeproof/v1
implementation: {organization: o, project: p, version: v, url: u}
launch:
  exec:
    command: ["{{.Exe}}", play, ` + mode + `, "{{.Host}}:{{.Port}}", "{{.Dir}}"` + more + `]
    env: {PLAY: "{{len .Workers}} at {{.Generation}} {{.Variant}} {{int (seconds .Session.IdleTTL)}}"}
    ready: {http: "{{.BaseURL}}/health", timeout: 20s}
    grace: 100ms
files: {gen: "{{.Generation}}{{range .Workers}} {{.ID}}{{end}}"}
wiring:
  workers: static
  apply: {signal: SIGHUP, verify: {http: "{{.BaseURL}}/gen", contains: "gen {{.Generation}} "}}
endpoint: {openai: "{{.BaseURL}}/"}
session: {carrier: {header: X-Session-ID}, kind: table, idleTTL: 60s}
claims: {}
timeouts: {convergence: 8s}
variants: {shortTTL: {session: {idleTTL: 1s}, env: {EXTRA: x}}}
`
}

func playParsed(t *testing.T, mode string, args ...string) *Manifest {
	t.Helper()
	return parsed(t, playManifest(mode, args...))
}

func parsed(t *testing.T, source string) *Manifest {
	t.Helper()
	m, err := Parse("play.yaml", []byte(source), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func someWorkers(n int) []Worker {
	var all []Worker
	for i := range n {
		all = append(all, Worker{ID: fmt.Sprintf("w%d", i+1), Host: loopback, Port: 1 + i, URL: baseURL(loopback, 1+i), Model: "mock"})
	}
	return all
}

// started starts a target and stops it with the test.
func started(t *testing.T, m *Manifest, opt Options) *Running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	opt.Logf = t.Logf
	r, err := Start(ctx, m, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(cancelled()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// fetch gets a text over a fresh connection.
func fetch(t *testing.T, url string) string {
	t.Helper()
	a, err := probe(context.Background(), url, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return string(a.body)
}

// until waits for a condition with a deadline.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// lives says whether a process exists and is no zombie.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// playPIDs reads the pids that play printed.
func playPIDs(log string) []int {
	var all []int
	for line := range strings.Lines(log) {
		var pid int
		var mode string
		if n, _ := fmt.Sscanf(line, "pid %d %s\n", &pid, &mode); n == 2 {
			all = append(all, pid)
		}
	}
	return all
}

// occupied listens on a port for the length of the test.
func occupied(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
