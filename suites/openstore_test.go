package suites

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
	"github.com/routeproof/routeproof/suites/target"
)

// A record is kept alive in the way that the manifest names: the file stays what it is, or
// is another one each time.
func TestRecordsAreKeptAliveAsDeclared(t *testing.T) {
	for how, same := range map[string]bool{target.KeepAliveTouch: true, target.KeepAliveRewrite: false} {
		t.Run(how, func(t *testing.T) {
			d, err := openStore(t.Context(), target.StoreFile, target.Registration{KeepAlive: how})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Store.Close()
			defer d.Registrar.Close()
			if err := d.Registrar.Register(t.Context(), registrar.Entry{Key: "w0", Value: []byte("here"), TTL: registrar.MinTTL}); err != nil {
				t.Fatal(err)
			}
			stat := func() os.FileInfo {
				info, err := os.Stat(filepath.Join(d.At.Root, "w0"))
				if err != nil {
					t.Fatal(err)
				}
				return info
			}
			before := stat()
			for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) { // until it was refreshed
				if _, ok := d.Registrar.Log().Last("w0", registrar.Refreshed); ok {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("never refreshed")
				}
			}
			if got := os.SameFile(before, stat()); got != same {
				t.Errorf("the same file: %v, want %v", got, same)
			}
		})
	}
	if _, err := openStore(t.Context(), "zookeeper", target.Registration{}); err == nil {
		t.Error("a store of no kind was opened")
	}
}
