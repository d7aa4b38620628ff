package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTemplatesKnowTheManifestsOwnFolder(t *testing.T) {
	dir := t.TempDir()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(strings.Replace(good, "[router,", `["{{.ManifestDir}}/router",`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(wd, filepath.Join(dir, "m.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(relative, testClaims)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(context.Background(), m, Options{Workers: someWorkers(1)}) // there is none: its name tells where it was looked for
	var e *ManifestError
	if !errors.As(err, &e) || e.Value != filepath.Join(dir, "router") {
		t.Errorf("Start: %v", err)
	}
	if m := Reference(testClaims); m.sample(Variant{}, "", 1).ManifestDir != wd {
		t.Errorf("built-in: %s, want %s", m.sample(Variant{}, "", 1).ManifestDir, wd)
	}
}
