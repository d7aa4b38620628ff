package embedded

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/stores"
	"github.com/routeproof/routeproof/suites/stores/internal/storetest"
)

func open(t *testing.T, kind stores.Kind) *storetest.Bed {
	t.Helper()
	dir := t.TempDir()
	return storetest.Open(t, func(ctx context.Context) (*stores.Store, error) { return Open(ctx, kind, dir) }, func(*storetest.Bed) {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func TestOneNodeServesThroughTheFaultsAndPastThem(t *testing.T) {
	storetest.Network(open(t, stores.Embedded))
}

func TestAnEndedNodeComesBackWithItsKeysAndItsAddress(t *testing.T) {
	for name, down := range storetest.Downs() {
		t.Run(name, func(t *testing.T) { storetest.Restart(open(t, stores.Embedded), down) })
	}
}

func TestAfterACompactionAnOldWatchCannotGoOn(t *testing.T) {
	storetest.Compaction(open(t, stores.Embedded))
}

func TestALeaseEndsSoonAfterItsTime(t *testing.T) { storetest.Lease(open(t, stores.Embedded)) }

func TestAMockWorkersRecordOutlivesAnOutage(t *testing.T) {
	storetest.Outage(open(t, stores.Embedded))
}

func TestThreeNodesLoseTheirLeaderAndElectAnother(t *testing.T) {
	storetest.Leaders(open(t, stores.ThreeEmbedded))
}

func TestANodeThatIsPartedKnowsNothingNew(t *testing.T) {
	for name, leads := range map[string]bool{"the leader": true, "a follower": false} {
		t.Run(name, func(t *testing.T) { storetest.Parted(open(t, stores.ThreeEmbedded), leads) })
	}
}

func TestAPartitionOutlivesTheRestartOfANode(t *testing.T) {
	storetest.PartedRestart(open(t, stores.ThreeEmbedded))
}

func TestFaultsReachSingleNodes(t *testing.T) { storetest.Single(open(t, stores.ThreeEmbedded)) }

func TestWhatAnEmbeddedNodeCannotDoIsUnsupported(t *testing.T) {
	b := open(t, stores.Embedded)
	for what, err := range map[string]error{
		"Pause":      b.Pause(b.Ctx, 0),
		"Disconnect": b.Disconnect(b.Ctx, 0),
		"Partition":  b.Partition(b.Ctx, 0),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s = %v", what, err)
		}
	}
	dir := t.TempDir()
	if _, err := Open(b.Ctx, stores.File, dir); err == nil || !strings.Contains(err.Error(), "file") {
		t.Errorf("Open(file) = %v", err)
	}
	if _, err := Open(b.Ctx, stores.Embedded, dir+"/none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("Open below a missing directory = %v", err)
	}
}

func TestOneThatIsNotReadyInTimeLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := Open(ctx, stores.ThreeEmbedded, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
