package containers

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/routeproof/routeproof/suites/stores"
)

// childEnv makes TestChild do in a process of its own what it names.
const childEnv = "ROUTEPROOF_TEST_STORE_CHILD"

func TestChild(t *testing.T) {
	switch os.Getenv(childEnv) {
	case "wait":
		fmt.Println("things", strings.Join(append(belongings(childOpens(t)), childsReaper(t)...), " "))
		select {} // until it is killed
	case "at the edge":
		// The reaper waits a second after the last client has gone, and then removes
		// what it finds: a store must not open in the middle of that.
		for wait := 900 * time.Millisecond; wait < 3*time.Second; wait += 400 * time.Millisecond {
			s, err := Open(t.Context(), stores.Container)
			if err != nil {
				t.Fatal(err)
			}
			if keys, err := s.Keys(t.Context()); err != nil {
				t.Error(keys, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			time.Sleep(wait)
		}
	case "again":
		first := childOpens(t)
		reaper := childsReaper(t)
		if err := first.Close(); err != nil || len(reaper) != 1 {
			t.Fatal(reaper, err)
		}
		for still(t.Context(), t, reaper[0]) {
			time.Sleep(100 * time.Millisecond)
		}
		again := childOpens(t)
		fmt.Println("reapers", reaper, childsReaper(t))
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		t.Skip("this is what other tests run as a process of its own")
	}
}

func childOpens(t *testing.T) *stores.Store {
	s, err := Open(t.Context(), stores.Three)
	if err != nil {
		fmt.Println("error", err)
		t.Fatal(err)
	}
	return s
}

func childsReaper(t *testing.T) (ids []string) {
	p, err := provider(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	reapers, err := p.Client().ContainerList(t.Context(), client.ContainerListOptions{
		Filters: make(client.Filters).Add("name", "reaper_"+testcontainers.SessionID())})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reapers.Items {
		ids = append(ids, "container/"+r.ID)
	}
	return ids
}

// child is TestChild as a process. It has a session of its own, as it has another
// parent, and its reaper does not wait long.
func child(ctx context.Context, does string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), childEnv+"="+does, "RYUK_RECONNECTION_TIMEOUT=1s")
	c.Stderr = os.Stderr
	return c
}

func TestAStoreOpensAlsoAfterTheReaperHasLeft(t *testing.T) {
	needs(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out, err := child(ctx, "again").Output()
	if err != nil || !strings.Contains(string(out), "reapers") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAStoreOpensAlsoWhileAReaperIsAtWork(t *testing.T) {
	needs(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if out, err := child(ctx, "at the edge").Output(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAKilledProcessLeavesNothing(t *testing.T) {
	needs(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	child := child(ctx, "wait")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var things []string
	for lines := bufio.NewScanner(out); things == nil && lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "things "); ok {
			things = strings.Fields(rest)
		} else if strings.HasPrefix(lines.Text(), "error") {
			t.Error(lines.Text())
		}
	}
	if len(things) != 5 { // three nodes, their network, the reaper
		child.Process.Kill()
		child.Wait()
		t.Fatalf("the child has %v", things)
	}
	for _, thing := range things {
		if !still(ctx, t, thing) {
			t.Errorf("%s is not there to begin with", thing)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	for _, thing := range things {
		for still(ctx, t, thing) {
			select {
			case <-ctx.Done():
				t.Fatalf("left behind: %s", thing)
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}
