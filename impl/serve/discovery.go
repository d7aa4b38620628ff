package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/discovery/etcd"
	"github.com/routeproof/routeproof/impl/discovery/filestore"
)

// WorkersPath answers the workers that the router uses now, as a JSON list of objects
// with id, incarnation and url, sorted as they were given: by id, if they come from a
// store. The incarnation is "" where it is not known.
const WorkersPath = "/routeproof/workers"

// defaultPrefix is where workers are in etcd.
const defaultPrefix = "/routeproof/workers"

// source is where the workers are, if the file does not list them.
type source struct {
	Store     string   `yaml:"store"`     // etcd or file
	Endpoints []string `yaml:"endpoints"` // etcd: its servers
	Prefix    string   `yaml:"prefix"`    // etcd: what the keys begin with; default /routeproof/workers
	Root      string   `yaml:"root"`      // file: the directory; if relative, to where the router was started
}

// check returns the key to blame, below discovery, and the problem; or nothing.
func (s *source) check() (key, problem string) {
	unused := func(key, only string) (string, string) {
		return key, fmt.Sprintf("is only for store: %s; leave it out", only)
	}
	switch s.Store {
	case "etcd":
		switch {
		case s.Root != "":
			return unused("root", "file")
		case len(s.Endpoints) == 0:
			return "endpoints", "is not set: list the servers, such as [\"http://127.0.0.1:2379\"]"
		case s.Prefix != "" && strings.Trim(s.Prefix, "/") == "":
			return "prefix", fmt.Sprintf("%q names nothing: write it like %s", s.Prefix, defaultPrefix)
		}
		for i, e := range s.Endpoints {
			if !isEndpoint(e) {
				return fmt.Sprintf("endpoints[%d]", i), fmt.Sprintf("%q is no server: write it as http://HOST:PORT", e)
			}
		}
	case "file":
		switch {
		case len(s.Endpoints) > 0:
			return unused("endpoints", "etcd")
		case s.Prefix != "":
			return unused("prefix", "etcd")
		case s.Root == "":
			return "root", "is not set: name the directory that holds the records"
		}
	case "":
		return "store", "is not set: use etcd or file"
	default:
		return "store", fmt.Sprintf("%q is unknown: use etcd or file", s.Store)
	}
	return "", ""
}

func isEndpoint(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return false
	}
	host, port, err := net.SplitHostPort(u.Host)
	return err == nil && host != "" && port != ""
}

func (s *source) open(log *slog.Logger) (discovery.Store, error) {
	if s.Store == "file" {
		return filestore.Open(filestore.Config{Root: s.Root, Log: log})
	}
	prefix := s.Prefix
	if prefix == "" {
		prefix = defaultPrefix
	}
	return etcd.Open(etcd.Config{Endpoints: s.Endpoints, Root: prefix, Log: log})
}

// roster is the worker set that is in use.
type roster struct {
	use     func([]discovery.Worker) error
	current atomic.Pointer[[]discovery.Worker]
}

// set has the router use another set.
func (r *roster) set(workers []discovery.Worker) error {
	if err := r.use(workers); err != nil {
		return err
	}
	r.current.Store(&workers)
	return nil
}

// ServeHTTP answers with the set.
func (r *roster) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID          string `json:"id"`
		Incarnation string `json:"incarnation"`
		URL         string `json:"url"`
	}
	list := []entry{}
	if workers := r.current.Load(); workers != nil {
		for _, w := range *workers {
			list = append(list, entry{w.ID, w.Incarnation, w.URL})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // a client that has left needs no answer
}
