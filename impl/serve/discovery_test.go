package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/discovery/filestore"
)

func TestADiscoverySectionIsReadWhole(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"discovery: {store: file, root: /d}", "{file [] /d}"},
		{`discovery: {store: etcd, endpoints: ["http://h:1", "https://i:2"], prefix: /p}`, "{etcd [http://h:1 https://i:2] /p}"},
		{`discovery: {store: etcd, endpoints: ["http://h:1"]}`, "{etcd [http://h:1] }"},
	} {
		f, err := parse("router.yaml", []byte("listen: 127.0.0.1:0\n"+c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := fmt.Sprintf("{%s %v %s}", f.Discovery.Store, f.Discovery.Endpoints, f.Discovery.Prefix+f.Discovery.Root); got != c.want {
			t.Errorf("%s is read as %s", c.text, got)
		}
	}
}

func TestABadDiscoverySectionIsRefusedByLineAndKey(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int
		problem    string
	}{
		{"nothing in it", "discovery:\n", 2, "empty"},
		{"no store", "discovery:\n  root: /d\n", 3, "discovery.store is not set: use etcd or file"},
		{"an unknown store", "discovery:\n  store: consul\n", 3, `"consul" is unknown: use etcd or file`},
		{"an unknown key", "discovery:\n  store: file\n  rot: /d\n", 4, "rot"},
		{"no root", "discovery:\n  store: file\n", 3, "discovery.root is not set"},
		{"no endpoints", "discovery:\n  store: etcd\n", 3, "discovery.endpoints is not set"},
		{"an endpoint without port", "discovery:\n  store: etcd\n  endpoints:\n    - http://h:1\n    - http://h\n", 6, "discovery.endpoints[1] \"http://h\""},
		{"an endpoint with a path", "discovery:\n  store: etcd\n  endpoints: [http://h:1/v3]\n", 4, "http://HOST:PORT"},
		{"an endpoint without scheme", "discovery:\n  store: etcd\n  endpoints: ['h:1']\n", 4, "http://HOST:PORT"},
		{"a prefix of nothing", "discovery:\n  store: etcd\n  endpoints: [http://h:1]\n  prefix: //\n", 5, "discovery.prefix"},
		{"a root for etcd", "discovery:\n  store: etcd\n  endpoints: [http://h:1]\n  root: /d\n", 5, "only for store: file"},
		{"endpoints for files", "discovery:\n  store: file\n  root: /d\n  endpoints: [http://h:1]\n", 5, "only for store: etcd"},
		{"a prefix for files", "discovery:\n  store: file\n  root: /d\n  prefix: /p\n", 5, "only for store: etcd"},
		{"workers too", "discovery:\n  store: file\n  root: /d\nworkers: []\n", 5, "both set"},
		{"more workers", "workers:\n  - {id: a, url: 'http://h:1', models: [m]}\ndiscovery: {store: file, root: /d}\n", 3, "both set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse("router.yaml", []byte("listen: 127.0.0.1:0\n"+c.text))
			var e *FileError
			if !errors.As(err, &e) {
				t.Fatalf("parse = %v, want a *FileError", err)
			}
			if e.Line != c.line || !strings.Contains(e.Problem, c.problem) {
				t.Errorf("got %v, want line %d and %q", err, c.line, c.problem)
			}
		})
	}
}

// roster returns the workers that the router says it uses.
func (r *running) roster() string {
	r.t.Helper()
	code, text := r.get("GET", WorkersPath, "")
	var list []struct{ ID, Incarnation, URL string }
	if err := json.Unmarshal([]byte(text), &list); err != nil || code != 200 {
		r.t.Fatalf("%s: %d %q, %v", WorkersPath, code, text, err)
	}
	out := []string{}
	for _, w := range list {
		out = append(out, w.ID+"="+w.Incarnation)
	}
	return strings.Join(out, " ")
}

// until waits until the router uses these workers.
func (r *running) until(want string) {
	r.t.Helper()
	for end := time.Now().Add(patience); r.roster() != want; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("the router uses %q, want %q; its log:\n%s", r.roster(), want, r.log)
		}
	}
}

func TestWorkersOfAFileStoreAreFollowed(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root") // does not exist yet
	text := "listen: 127.0.0.1:0\ngeneration: 1\ndiscovery: {store: file, root: " + root + "}\n"
	r := start(t, text)
	if got := r.roster(); got != "" {
		t.Errorf("before there is a store the router uses %q", got)
	}
	if code, body := r.get("POST", "/v1/completions", `{"model":"m"}`); code != 404 && code != 503 {
		t.Errorf("without workers: %d %s", code, body)
	}
	store, err := filestore.Open(filestore.Config{Root: root, MakeRoot: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	register := func(id, incarnation, url string) *discovery.Registration {
		w := discovery.Worker{ID: id, URL: url, Models: []string{"m"}, Incarnation: incarnation}
		reg, err := discovery.Register(t.Context(), store, "", w, time.Second, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return reg
	}
	answers := func(want string) {
		t.Helper()
		if code, body := r.get("POST", "/v1/completions", `{"model":"m"}`); code != 200 || body != want {
			t.Errorf("answered %d %q, want %q", code, body, want)
		}
	}
	one := register("w0", "1", namedWorker(t, "first"))
	r.until("w0=1")
	answers("first")
	two := register("w1", "1", namedWorker(t, "second"))
	r.until("w0=1 w1=1")
	if err := one.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	r.until("w1=1")
	answers("second")

	// A reload leaves them alone, and cannot change where they come from.
	r.rewrite(strings.Replace(text, "generation: 1", "generation: 2", 1))
	if _, got := r.get("GET", GenerationPath, ""); got != "2" {
		t.Errorf("generation %q", got)
	}
	answers("second")
	r.rewrite(strings.Replace(text, root, root+"/other", 1))
	if !strings.Contains(r.log.String(), "changes discovery") {
		t.Errorf("the log is:\n%s", r.log)
	}
	r.rewrite("listen: 127.0.0.1:0\nworkers: []\n")
	r.until("w1=1")

	// While the store is away, traffic goes on.
	if err := os.Rename(root, root+"-away"); err != nil {
		t.Fatal(err)
	}
	answers("second")
	if err := os.Rename(root+"-away", root); err != nil {
		t.Fatal(err)
	}
	if err := two.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	r.until("")
}

func TestAnEtcdThatIsAwayDoesNotKeepTheRouterFromServing(t *testing.T) {
	r := start(t, "listen: 127.0.0.1:0\ndiscovery: {store: etcd, endpoints: ['http://127.0.0.1:1']}\n")
	if code, body := r.get("GET", "/health", ""); code != 200 {
		t.Errorf("health: %d %s", code, body)
	}
	if got := r.roster(); got != "" {
		t.Errorf("the router uses %q", got)
	}
}

func TestStaticWorkersAreShownToo(t *testing.T) {
	r := start(t, config("1", "http://127.0.0.1:1", "http://127.0.0.1:2"))
	if got := r.roster(); got != "w0= w1=" {
		t.Errorf("the router uses %q", got)
	}
	r.rewrite(config("2", "http://127.0.0.1:1"))
	if got := r.roster(); got != "w0=" {
		t.Errorf("the router uses %q", got)
	}
}
