package containers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/suites/internal/require"
	"github.com/routeproof/routeproof/suites/stores"
	"github.com/routeproof/routeproof/suites/stores/internal/storetest"
)

// needs skips the test where containers cannot be used.
func needs(t *testing.T) {
	t.Helper()
	require.Require(t, require.Docker)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // images may have to be pulled
	defer cancel()
	if err := Ready(ctx); err != nil {
		require.Missing(t, require.Docker, err.Error())
	}
}

func open(t *testing.T, kind stores.Kind) *storetest.Bed {
	t.Helper()
	needs(t)
	var things []string
	b := storetest.Open(t, func(ctx context.Context) (*stores.Store, error) { return Open(ctx, kind) }, func(*storetest.Bed) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for _, id := range things {
			if still(ctx, t, id) {
				t.Errorf("left behind: %s", id)
			}
		}
	})
	things = belongings(b.Store)
	return b
}

// belongings are the ids of a store's containers and networks.
func belongings(s *stores.Store) []string {
	c := s.Backend().(*Cluster)
	var ids []string
	for _, id := range c.Containers() {
		ids = append(ids, "container/"+id)
	}
	if c.peers != nil {
		ids = append(ids, "network/"+c.peers.ID)
	}
	return ids
}

// still says whether something is there.
func still(ctx context.Context, t *testing.T, what string) bool {
	t.Helper()
	p, err := provider(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	kind, id, _ := strings.Cut(what, "/")
	switch kind {
	case "container":
		_, err = p.Client().ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	case "network":
		_, err = p.Client().NetworkInspect(ctx, id, client.NetworkInspectOptions{})
	}
	if err != nil && !errdefs.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func TestOneNodeServesThroughTheFaultsAndPastThem(t *testing.T) {
	storetest.Network(open(t, stores.Container))
}

func TestAnEndedNodeComesBackWithItsKeysAndItsAddress(t *testing.T) {
	needs(t)
	for name, down := range storetest.Downs() {
		t.Run(name, func(t *testing.T) { storetest.Restart(open(t, stores.Container), down) })
	}
}

func TestAfterACompactionAnOldWatchCannotGoOn(t *testing.T) {
	storetest.Compaction(open(t, stores.Container))
}

func TestALeaseEndsSoonAfterItsTime(t *testing.T) { storetest.Lease(open(t, stores.Container)) }

func TestAPausedNodeIsSilentUntilItResumes(t *testing.T) {
	b := open(t, stores.Container)
	c := b.Client(b.Endpoints...)
	b.Must(b.Put(c, "a", 10*time.Second))
	b.Must(b.Pause(b.Ctx, 0))
	if err := b.Put(c, "b", 500*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a put to a paused node: %v, want silence", err)
	}
	for what, err := range map[string]error{"Pause": b.Pause(b.Ctx, 0), "Stop": b.Stop(b.Ctx, 0), "Start": b.Start(b.Ctx, 0)} {
		if err == nil {
			t.Errorf("%s worked on a paused node", what)
		}
	}
	b.Must(b.Resume(b.Ctx, 0))
	b.Until("a put", func() error { return b.Put(c, "c", time.Second) })
	if err := b.Resume(b.Ctx, 0); err == nil {
		t.Error("it resumed twice")
	}
	b.Must(b.Pause(b.Ctx, 0)) // a store with a paused node can be closed
}

func TestADisconnectedNodeIsOutOfReachUntilItIsBack(t *testing.T) {
	b := open(t, stores.Container)
	through, past := b.Client(b.Endpoints...), b.Client(b.Direct...)
	b.Must(b.Put(through, "a", 10*time.Second))
	b.Must(b.Disconnect(b.Ctx, 0))
	if err := b.Put(through, "b", 500*time.Millisecond); err == nil {
		t.Error("a put reached it through the proxy")
	}
	if err := b.Put(past, "b", 500*time.Millisecond); err == nil {
		t.Error("a put reached it past the proxy")
	}
	b.Must(b.Reconnect(b.Ctx, 0))
	b.Until("a put", func() error { return b.Put(through, "c", time.Second) })
	b.WantKeys("a", "c")
}

func TestAMockWorkersRecordOutlivesAnOutage(t *testing.T) {
	storetest.Outage(open(t, stores.Container))
}

func TestThreeNodesLoseTheirLeaderAndElectAnother(t *testing.T) {
	storetest.Leaders(open(t, stores.Three))
}

func TestANodeThatIsPartedKnowsNothingNew(t *testing.T) {
	needs(t)
	for name, leads := range map[string]bool{"the leader": true, "a follower": false} {
		t.Run(name, func(t *testing.T) { storetest.Parted(open(t, stores.Three), leads) })
	}
}

func TestAPartitionOutlivesTheRestartOfANode(t *testing.T) {
	storetest.PartedRestart(open(t, stores.Three))
}

func TestFaultsReachSingleNodes(t *testing.T) {
	b := open(t, stores.Three)
	storetest.Single(b)
	b.Must(b.Disconnect(b.Ctx, 2))
	if err := b.Put(b.Client(b.Direct[2]), "c", time.Second); err == nil {
		t.Error("a put reached a disconnected node")
	}
	b.Must(b.Put(b.Client(b.Direct[0], b.Direct[1]), "d", 10*time.Second))
	b.Must(b.Reconnect(b.Ctx, 2))
	b.Until("a put", func() error { return b.Put(b.Client(b.Direct[2]), "e", time.Second) })
	b.Must(b.Pause(b.Ctx, 0))
	c := b.Client(b.Direct[1], b.Direct[2])
	b.Until("a put beside a paused node", func() error { return b.Put(c, "f", time.Second) })
}

func TestAKindThatIsNoneOfTheseIsRefused(t *testing.T) {
	if _, err := Open(t.Context(), stores.Embedded); err == nil || !strings.Contains(err.Error(), "embedded") {
		t.Errorf("Open(embedded) = %v", err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
