package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refused is the error of what must be a manifest's, not the harness's.
func refused(t *testing.T, err error, key, problem string) {
	t.Helper()
	var e *ManifestError
	if !errors.As(err, &e) || e.Line < 1 || e.Key != key || !strings.Contains(e.Problem, problem) || e.Remedy == "" {
		t.Errorf("%.400v\nwant key %q and %q", err, key, problem)
	}
}

func TestWhatNoSystemTakesIsRefusedAtItsLine(t *testing.T) {
	long := `{{printf "%200000d" 1}}`
	name := strings.Repeat("x", 241)
	component := "component:\n  command: [adapter, A]\n  env: {B: C}\nwiring:\n"
	for what, c := range map[string]struct{ old, new, at, key, problem string }{
		"a long file name":            {"router.cfg: |", name + ": |", name, "files." + name, "a name of 241 bytes"},
		"a long file name, a variant": {"    files:\n      extra", "    files:\n      " + name + ": x\n      extra", name, "variants.shortTTL.files." + name, "a name of 241 bytes"},
		"a long argument":             {`--port, "{{.Port}}"]`, "--port,\n      '" + long + "']", long, "launch.exec.command[2]", "renders to 200000 bytes"},
		"a zero byte in an argument":  {`--port, `, `"\0", `, "    command", "launch.exec.command[1]", "zero byte"},
		"a long variable":             {"MODEL: mock", "MODEL: '" + long + "'", long, "launch.exec.env.MODEL", "renders to 200006 bytes"},
		"a component's argument":      {"wiring:\n", strings.Replace(component, "A]", "'"+long+"']", 1), long, "component.command[1]", "renders to 200000 bytes"},
		"a component's variable":      {"wiring:\n", strings.Replace(component, "C}", "'"+long+"'}", 1), long, "component.env.B", "renders to 200002 bytes"},
		"a component's zero byte":     {"wiring:\n", strings.Replace(component, "C}", `"\0"}`, 1), "  env: {B", "component.env.B", "zero byte"},
		"the model as carrier":        {"header: X-Session-ID", "body: model", "body: model", "session.carrier.body", "model is a field that requests have anyway"},
		"a carrier in the messages":   {"header: X-Session-ID", "body: messages.id", "body: messages.id", "session.carrier.body", "messages is a field"},
		"a carrier in the user":       {"header: X-Session-ID", "body: user.id", "body: user.id", "session.carrier.body", "holds no fields"},
		"a carrier of empty names":    {"header: X-Session-ID", `body: "..a"`, `body: "..a"`, "session.carrier.body", "has an empty part"},
		"a carrier that ends in one":  {"header: X-Session-ID", "body: meta.", "body: meta.", "session.carrier.body", "has an empty part"},
		"what is not UTF-8":           {"organization: Example", "organization: Ex\xffample", "organization: Ex", "", "byte 0xff (number "},
	} {
		t.Run(what, func(t *testing.T) {
			source := strings.Replace(good, c.old, c.new, 1)
			if source == good {
				t.Fatal("the case changes nothing")
			}
			_, err := Parse("m.yaml", []byte(source), testClaims)
			refused(t, err, c.key, c.problem)
			var e *ManifestError
			if want := lineOf(t, source, c.at); errors.As(err, &e) && e.Line != want {
				t.Errorf("line %d, want %d", e.Line, want)
			}
		})
	}
	for what, c := range map[string]struct{ old, new string }{
		"a file name that fits":      {"router.cfg: |", name[:240] + ": |"},
		"a carrier inside an object": {"header: X-Session-ID", "body: meta.session"},
		"the user as carrier":        {"header: X-Session-ID", "body: user"},
		"a byte order mark":          {"apiVersion", "\ufeffapiVersion"},
		"letters beyond ASCII":       {"organization: Example", "organization: Bücher & Söhne"},
	} {
		if _, err := Parse("m.yaml", []byte(strings.Replace(good, c.old, c.new, 1)), testClaims); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What only a start shows is the manifest's error, too: the rehearsal has port 20000.
func TestAProcessThatCannotBeGivenSoMuchIsAManifestError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	much := make([]string, 80) // 8 MB, of which Linux takes 6 at most
	for i := range much {
		much[i] = `{{printf "%100000d" 1}}`
	}
	for what, c := range map[string]struct {
		args         []string
		key, problem string
	}{
		"one argument":  {[]string{`{{if ne .Port 20000}}{{printf "%200000d" 1}}{{end}}`}, "launch.exec.command[5]", "renders to 200000 bytes"},
		"all arguments": {much, "launch.exec.command[0]", "too long together"},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := Start(ctx, playParsed(t, "ok", c.args...), Options{})
			refused(t, err, c.key, c.problem)
		})
	}
	t.Run("a component", func(t *testing.T) {
		words := strings.Repeat(`, '{{printf "%100000d" 1}}'`, 80)
		m := parsed(t, "apiVersion: routeproof/v1\nimplementation: {organization: o, project: p, version: v, url: u}\n"+
			"component:\n  command: [sh, -c, exit"+words+"]\nclaims: {}\n")
		_, err := StartComponent(ctx, m, ComponentOptions{})
		refused(t, err, "component.command[0]", "too long together")
	})
}

// The longest name that is taken can be written, by way of its temporary file.
func TestTheLongestFileNameCanBeWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), strings.Repeat("x", maxFileName)+newSuffix)
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Error(err)
	}
}
