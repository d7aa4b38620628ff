package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTemplatesTellWorkersApartByRoleAndRanks(t *testing.T) {
	const line = "worker {{.ID}} {{.URL}}"
	with := func(text string) string { return strings.Replace(good, line, text, 1) }
	m, err := Parse("m.yaml", []byte(with(`{{if ne .Role "aggregated"}}{{.ID}} {{.Role}} of {{.Ranks}}{{else}}{{.ID}}{{end}}`)), testClaims)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Files["router.cfg"].render(&Data{Workers: []Worker{{ID: "w0", Role: "aggregated"}, {ID: "w1", Role: "prefill", Ranks: 4}, {ID: "w2", Role: "decode"}}})
	if err != nil || !strings.Contains(got, "w0\n") || !strings.Contains(got, "w1 prefill of 4\n") || !strings.Contains(got, "w2 decode of 0\n") {
		t.Errorf("rendered %q, %v", got, err)
	}
	for _, role := range []string{"aggregated", "prefill", "decode"} { // a mistake under a role is known before anything starts
		_, err := Parse("m.yaml", []byte(with(`{{if eq .Role "`+role+`"}}{{.Rank}}{{end}}`)), testClaims)
		var e *ManifestError
		if !errors.As(err, &e) || !strings.Contains(e.Problem, "Rank") || !strings.Contains(e.Remedy, "Role Ranks") {
			t.Errorf("a mistake for %s workers: %v", role, err)
		}
	}
}

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
