package filestore

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/discovery/storetest"
)

func TestMain(m *testing.M) {
	storetest.Main(func(spec string, log *slog.Logger) (discovery.Store, error) {
		return Open(Config{Root: spec, Log: log})
	})
	goleak.VerifyTestMain(m)
}

// ttl is the time to live of most records here: long enough for a busy machine to
// keep up with its keep-alives, short enough to wait for.
const ttl = 800 * time.Millisecond

// place is a directory that stores share.
type place struct {
	root, elsewhere string
	change          func(*Config)
}

func newPlace(t *testing.T) *place {
	dir := t.TempDir()
	p := &place{root: filepath.Join(dir, "root"), elsewhere: filepath.Join(dir, "elsewhere"), change: func(*Config) {}}
	storetest.Must(t, os.Mkdir(p.root, 0o755))
	return p
}

func (p *place) open(t *testing.T, root string) *Store {
	t.Helper()
	cfg := Config{Root: root, Log: storetest.Log(t)}
	p.change(&cfg)
	s, err := Open(cfg)
	storetest.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (p *place) Open(t *testing.T) discovery.Store   { return p.open(t, p.root) }
func (p *place) Behind(t *testing.T) discovery.Store { return p.open(t, p.elsewhere) }
func (p *place) Spec() string                        { return p.root }

func (p *place) Away(t *testing.T) func() {
	storetest.Must(t, os.Rename(p.root, p.elsewhere))
	return func() { storetest.Must(t, os.Rename(p.elsewhere, p.root)) }
}

func TestContract(t *testing.T) {
	storetest.Suite{TTL: ttl, New: func(t *testing.T) storetest.Backend { return newPlace(t) }}.Run(t)
}

func TestContractWithoutNotification(t *testing.T) {
	storetest.Suite{TTL: ttl, New: func(t *testing.T) storetest.Backend {
		p := newPlace(t)
		p.change = func(c *Config) { c.NewWatcher = func() (Watcher, error) { return newFake(), nil } }
		return p
	}}.Run(t)
}
