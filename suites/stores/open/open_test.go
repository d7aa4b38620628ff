package open

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/suites/internal/require"
	"github.com/routeproof/routeproof/suites/stores"
	"github.com/routeproof/routeproof/suites/stores/containers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryKindOpensEmptyAndCloses(t *testing.T) {
	for _, kind := range stores.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			if kind == stores.Container || kind == stores.Three {
				require.Require(t, require.Docker)
				if err := containers.Ready(ctx); err != nil {
					require.Missing(t, require.Docker, err.Error())
				}
			}
			dir := t.TempDir()
			s, err := Open(ctx, kind, dir)
			if err != nil {
				t.Fatal(err)
			}
			if keys, err := s.Keys(ctx); err != nil || len(keys) > 0 {
				t.Errorf("Keys = %v, %v", keys, err)
			}
			nodes := map[stores.Kind]int{stores.File: 0, stores.Three: 3, stores.ThreeEmbedded: 3}
			want, ok := nodes[kind]
			if !ok {
				want = 1
			}
			if s.Kind != kind || s.Nodes() != want || len(s.Direct) != want || (s.Root != "") != (kind == stores.File) {
				t.Errorf("it is %+v", s)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

func TestAnUnknownKindNamesTheOnesThereAre(t *testing.T) {
	if _, err := Open(t.Context(), "redis", ""); err == nil || !strings.Contains(err.Error(), "three-embedded") {
		t.Errorf("Open(redis) = %v", err)
	}
}
