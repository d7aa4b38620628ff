//go:build unix

package guard

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// playTarget is the target: polite, stubborn, family, daemon, hider, exit, usr1, echo or held.
func playTarget(role string) {
	stubborn := func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Printf("pid %d %s\n", os.Getpid(), role)
	}
	if role == "grandchild" && os.Getenv("GUARD_TEST_SLOW") != "" {
		time.Sleep(200 * time.Millisecond) // a busy machine
	}
	switch role {
	case "polite":
		fmt.Printf("pid %d %s\n", os.Getpid(), role)
		time.Sleep(time.Minute)
	case "stubborn":
		stubborn()
		time.Sleep(time.Minute)
	case "grandchild":
		stubborn()
		_ = os.NewFile(spawnedFD, "spawned").Close()
		time.Sleep(time.Minute)
	case "family": // stubborn, with a grandchild that hides in a session of its own
		stubborn()
		spawn("grandchild", true)
		time.Sleep(time.Minute)
	case "middle": // leaves an orphan in a session of its own
		spawn("grandchild", true)
	case "daemon": // ends after a double fork
		fmt.Printf("pid %d %s\n", os.Getpid(), role)
		spawn("middle", true)
		if d := os.Getenv("GUARD_TEST_STAY"); d != "" {
			time.Sleep(time.Minute)
		}
	case "exit":
		fmt.Print(os.Getenv("GUARD_TEST_SAY"))
		fmt.Println("going with 7")
		os.Exit(7)
	case "echo": // says what it hears, until it hears nothing more
		fmt.Fprintf(os.Stderr, "pid %d %s\n", os.Getpid(), role)
		_, _ = io.Copy(os.Stdout, os.Stdin)
		fmt.Fprintln(os.Stderr, "heard all")
		os.Exit(5)
	case "held": // leaves a grandchild that holds its standard output
		fmt.Fprintf(os.Stderr, "pid %d %s\n", os.Getpid(), role)
		spawn("grandchild", true)
		if os.Getenv("GUARD_TEST_PIPED") != "" {
			time.Sleep(time.Minute)
		}
	case "hider": // leaves, by way of a middle, an orphan that only its parentage could give away
		stubborn()
		spawn("hider's middle", true)
		time.Sleep(time.Minute)
	case "hider's middle":
		cmd := exec.Command("sleep", "60")
		cmd.Env = []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("pid %d hidden\n", cmd.Process.Pid)
	case "usr1":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR1)
		fmt.Printf("pid %d %s\n", os.Getpid(), role)
		<-c
		fmt.Println("got USR1")
		os.Exit(3)
	}
	os.Exit(0)
}

// spawnedFD is what a spawned process closes once it has named itself.
const spawnedFD = 3

// spawn starts a process and returns when it has named itself, or ended. Whoever
// ends before that takes it along: the guard ends what the target leaves behind at
// once, and then it is never heard of.
func spawn(role string, session bool) {
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Println("spawn:", err)
		os.Exit(1)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		fmt.Println("spawn:", err)
		os.Exit(1)
	}
	_ = w.Close()
	_, _ = io.Copy(io.Discard, r)
}

// playParent holds a target until it is killed.
func playParent() {
	start := Start
	if os.Getenv("GUARD_TEST_PIPED") != "" {
		start = StartPiped
	}
	g, err := start(context.Background(), os.Stdout)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Printf("dir %s\npid %d guard\n", g.Dir(), g.GuardPID())
	if err := g.Launch(context.Background(), target(os.Getenv("GUARD_TEST_CHILD"))); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	time.Sleep(time.Minute)
}

func target(role string) Spec {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, roleEnv+"=") {
			env = append(env, e)
		}
	}
	return Spec{Path: os.Args[0], Args: []string{os.Args[0]}, Env: append(env, roleEnv+"="+role)}
}
