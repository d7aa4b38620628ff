package certify

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
)

// The test binary also stands in for shards, good and bad, and for a target.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every process sleeps for a second at its end
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "play-shard":
			playShard(os.Args[2])
		case "play-target":
			playTarget(os.Args[2], os.Args[3])
		}
	}
	goleak.VerifyTestMain(m)
}

// playShard is a shard, or what a shard must not be.
func playShard(mode string) {
	events, err := Events()
	if err != nil {
		panic(err)
	}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		panic(err)
	}
	var a assignment
	if err := json.Unmarshal(line, &a); err != nil {
		panic(err)
	}
	if mode == "first-crashes" && a.Shard != 1 {
		mode = "good"
	}
	send := func(e event) { _ = json.NewEncoder(events).Encode(e) }
	if mode != "good" && mode != "mute" {
		send(event{Started: a.Jobs[0].Name()})
	}
	blank := func(id string) *report.CaseResult {
		return &report.CaseResult{ID: id, Verdict: report.Pass}
	}
	switch mode {
	case "good":
		rest := io.MultiReader(bytes.NewReader(line), in)
		if err := ShardMain(context.Background(), rest, events, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "first-crashes", "crash":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		time.Sleep(time.Minute)
	case "killed":
		fmt.Println("last words")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "halted":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Minute)
	case "panic":
		panic("lost my mind")
	case "leaves":
		os.Exit(0)
	case "liar":
		send(event{Done: true})
		os.Exit(0)
	case "garbage":
		fmt.Fprintln(events, "this is no JSON")
		time.Sleep(time.Minute)
	case "stranger":
		send(event{Finished: blank("XXX-001/unknown")})
		os.Exit(0)
	case "twice":
		for range 2 {
			send(event{Finished: blank(a.Jobs[0].Case)})
		}
		os.Exit(0)
	case "mute", "deaf":
		time.Sleep(time.Minute)
	}
	os.Exit(0)
}

// playTarget answers everything with 200 the first time it is started, and
// cannot be started again: file says whether it was.
func playTarget(addr, file string) {
	if _, err := os.Stat(file); err == nil {
		fmt.Println("I was here before")
		os.Exit(1)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		panic(err)
	}
	panic(http.ListenAndServe(addr, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
}

// quick are cases that take a few milliseconds each.
var quick = []string{"RTE-003/request", "RTE-004/response", "STR-003/reset", "RTE-002/unknown-model"}

func quickJobs() (jobs []suites.Job) {
	for _, id := range quick {
		jobs = append(jobs, suites.Job{Case: id})
	}
	return jobs
}

// options are those of a run of the quick cases with a kind of shard.
func options(t *testing.T, shard string) Options {
	t.Helper()
	cat, err := suites.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Catalogue: cat, Mode: report.Run, Jobs: quickJobs(), Seed: 7, Shards: 2, ReportDir: t.TempDir() + "/report",
		Command: []string{os.Args[0], "play-shard", shard}, Tool: report.Tool{Name: "routeproof", Version: "test"},
		Silence: 20 * time.Second,
	}
}

// reported runs and reads the report back from its file.
func reported(t *testing.T, ctx context.Context, o Options) *report.Report {
	t.Helper()
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	read, err := report.ReadJSON(o.ReportDir + "/report.json")
	if err != nil {
		t.Fatal(err)
	}
	if read.ExitCode != r.ExitCode || len(read.Cases) != len(r.Cases) {
		t.Fatalf("the file says exit %d and %d cases, the run %d and %d", read.ExitCode, len(read.Cases), r.ExitCode, len(r.Cases))
	}
	return read
}

func verdicts(r *report.Report) map[report.Verdict]int {
	n := map[report.Verdict]int{}
	for _, c := range r.Cases {
		n[c.Verdict]++
	}
	return n
}

func ended() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	cancel()
	return ctx
}
