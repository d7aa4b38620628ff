package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"time"
)

// kind is a kind of thing that an engine holds.
type kind struct {
	name   string
	list   string // the path that lists
	remove string // the path and query that remove, with %s for the id
	ids    func(body []byte) ([]string, error)
}

// kinds in the order of removal: what is used comes after what uses it.
var kinds = []kind{
	{"containers", "/containers/json?all=1", "/containers/%s?force=1&v=1", byField("Id")},
	{"networks", "/networks?", "/networks/%s?", byField("Id")},
	{"volumes", "/volumes?", "/volumes/%s?force=1", volumes},
	{"images", "/images/json?", "/images/%s?force=1", byField("Id")},
}

// counts are the removed things by kind.
type counts map[string]int

func (c counts) String() string {
	s := ""
	for _, k := range kinds {
		s += fmt.Sprintf(", %d %s", c[k.name], k.name)
	}
	return s[2:]
}

// engine is a container engine behind a unix socket. Paths carry no version, so
// that every engine takes its own.
type engine struct {
	client  *http.Client
	timeout time.Duration
	pause   time.Duration // between two rounds
	rounds  int           // at most
}

func newEngine(socket string, timeout time.Duration) *engine {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &engine{client: &http.Client{Transport: &http.Transport{DialContext: dial}}, timeout: timeout, pause: time.Second, rounds: 30}
}

// prune removes what has the labels of any filter. Whoever asked for it may have
// died in the middle of making things: only two rounds in a row that find nothing
// end it. The error is the last round's, when the rounds were used up.
func (e *engine) prune(ctx context.Context, filters [][]string) (counts, error) {
	defer e.client.CloseIdleConnections()
	removed := counts{}
	var err error
	for round, quiet := 0, 0; quiet < 2 && len(filters) > 0; round++ {
		if round == e.rounds {
			return removed, fmt.Errorf("gave up after %d rounds: %w", round, err)
		}
		if round > 0 {
			select {
			case <-ctx.Done():
				return removed, errors.Join(ctx.Err(), err)
			case <-time.After(e.pause):
			}
		}
		var found int
		found, err = e.round(ctx, filters, removed)
		if err != nil {
			log.Print(err)
		}
		quiet++
		if found > 0 || err != nil {
			quiet = 0
		}
	}
	return removed, nil
}

// round looks at everything once.
func (e *engine) round(ctx context.Context, filters [][]string, removed counts) (found int, err error) {
	var failed []error
	for _, k := range kinds {
		for _, labels := range filters {
			ids, err := e.list(ctx, k, labels)
			if err != nil {
				failed = append(failed, fmt.Errorf("list %s: %w", k.name, err))
			}
			for _, id := range ids {
				found++
				if err := e.remove(ctx, k, id); err != nil {
					failed = append(failed, fmt.Errorf("remove %s %.12s: %w", k.name, id, err))
					continue
				}
				removed[k.name]++
			}
		}
	}
	return found, errors.Join(failed...)
}

func (e *engine) list(ctx context.Context, k kind, labels []string) ([]string, error) {
	filter, err := json.Marshal(map[string][]string{"label": labels})
	if err != nil {
		return nil, err
	}
	body, err := e.do(ctx, http.MethodGet, k.list+"&filters="+url.QueryEscape(string(filter)))
	if err != nil {
		return nil, err
	}
	return k.ids(body)
}

func (e *engine) remove(ctx context.Context, k kind, id string) error {
	_, err := e.do(ctx, http.MethodDelete, fmt.Sprintf(k.remove, url.PathEscape(id)))
	return err
}

// do asks the engine. What is missing already is as good as removed.
func (e *engine) do(ctx context.Context, method, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://engine"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 && (method != http.MethodDelete || resp.StatusCode != http.StatusNotFound) {
		return nil, fmt.Errorf("%s %s: %s: %.200s", method, path, resp.Status, body)
	}
	return body, nil
}

// byField reads a list of objects.
func byField(field string) func([]byte) ([]string, error) {
	return func(body []byte) ([]string, error) {
		var things []map[string]any
		if err := json.Unmarshal(body, &things); err != nil {
			return nil, err
		}
		return pick(things, field)
	}
}

// volumes are listed inside an object, and null where there are none.
func volumes(body []byte) ([]string, error) {
	var answer struct{ Volumes []map[string]any }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	return pick(answer.Volumes, "Name")
}

func pick(things []map[string]any, field string) (ids []string, err error) {
	for _, t := range things {
		id, ok := t[field].(string)
		if !ok || id == "" {
			return ids, fmt.Errorf("the engine lists something without %s: %v", field, t)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
