package discovery

import (
	"errors"
	"strings"
	"testing"
)

func w(id, url string, models ...string) Worker { return Worker{ID: id, URL: url, Models: models} }

func TestABadWorkerSetIsRefusedByIndexFieldAndRemedy(t *testing.T) {
	good := w("a", "http://127.0.0.1:1", "m")
	for _, c := range []struct {
		name    string
		set     []Worker
		index   int
		field   string
		problem string
	}{
		{"a blank id", []Worker{good, w(" ", "http://h:1", "m")}, 1, "id", "blank"},
		{"a repeated id", []Worker{good, w("b", "http://h:1", "m"), w("a", "http://h:2", "m")}, 2, "id", "workers[0]"},
		{"no scheme", []Worker{w("a", "127.0.0.1:1", "m")}, 0, "url", "http://HOST:PORT"},
		{"another scheme", []Worker{w("a", "ftp://h:1", "m")}, 0, "url", "http://"},
		{"no host", []Worker{w("a", "http://", "m")}, 0, "url", "host"},
		{"only a port", []Worker{w("a", "http://:80", "m")}, 0, "url", "host"},
		{"a bad port", []Worker{w("a", "http://h:x", "m")}, 0, "url", "not a URL"},
		{"a path", []Worker{w("a", "http://h:1/v1", "m")}, 0, "url", "path"},
		{"a query", []Worker{w("a", "http://h:1?x=1", "m")}, 0, "url", "query"},
		{"credentials", []Worker{w("a", "http://u:p@h:1", "m")}, 0, "url", "credentials"},
		{"no model", []Worker{w("a", "http://h:1")}, 0, "models", "at least one"},
		{"a blank model", []Worker{w("a", "http://h:1", "m", "")}, 0, "models", "blank"},
		{"an unknown role", []Worker{{ID: "a", URL: "http://h:1", Models: []string{"m"}, Role: "Decode"}}, 0, "role", "use aggregated, prefill or decode"},
		{"negative ranks", []Worker{good, {ID: "b", URL: "http://h:1", Models: []string{"m"}, Ranks: -1}}, 1, "ranks", "at most 1024"},
		{"too many ranks", []Worker{{ID: "a", URL: "http://h:1", Models: []string{"m"}, Ranks: MaxRanks + 1}}, 0, "ranks", "at most 1024"},
		{"a repeated model", []Worker{w("a", "http://h:1", "m", "m")}, 0, "models", "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Validate(c.set)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Validate = %v, want an *Error", err)
			}
			if e.Index != c.index || e.Field != c.field || !strings.Contains(e.Problem, c.problem) {
				t.Errorf("got %v, want workers[%d].%s with %q", e, c.index, c.field, c.problem)
			}
		})
	}
}

func TestGoodWorkerSetsAreAccepted(t *testing.T) {
	for _, set := range [][]Worker{nil, {w("a", "http://h:1", "m"), w("b", "https://[::1]:2/", "m", "n")}, {
		{ID: "a", URL: "http://h:1", Models: []string{"m"}, Role: Prefill, Ranks: MaxRanks}, {ID: "b", URL: "http://h:2", Models: []string{"m"}, Role: Decode, Ranks: 1},
		{ID: "c", URL: "http://h:3", Models: []string{"m"}, Role: Aggregated},
	}} {
		if err := Validate(set); err != nil {
			t.Errorf("Validate(%v) = %v", set, err)
		}
	}
}

func TestARefusedSetLeavesTheOldOneAndWakesNobody(t *testing.T) {
	s, err := NewStatic(w("a", "http://h:1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	_, changed := s.Watch()
	if err := s.Set([]Worker{w("", "", "")}); err == nil {
		t.Fatal("a bad set was accepted")
	}
	select {
	case <-changed:
		t.Error("watchers were woken")
	default:
	}
	if got := s.Snapshot(); len(got) != 1 || got[0].ID != "a" {
		t.Errorf("Snapshot = %v", got)
	}
}

func TestWatchersAreWokenByEveryReplacement(t *testing.T) {
	s, _ := NewStatic()
	for _, id := range []string{"a", "b"} {
		_, changed := s.Watch()
		if err := s.Set([]Worker{w(id, "http://h:1", "m")}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		default:
			t.Fatal("not woken")
		}
		if got := s.Snapshot(); got[0].ID != id {
			t.Errorf("Snapshot = %v, want %s", got, id)
		}
	}
}

func TestSnapshotsAreIndependentOfTheSetAndOfTheCaller(t *testing.T) {
	given := []Worker{w("a", "http://h:1", "m")}
	s, _ := NewStatic(given...)
	given[0].Models[0] = "changed"
	got := s.Snapshot()
	got[0].Models[0] = "changed too"
	if again := s.Snapshot(); again[0].Models[0] != "m" {
		t.Errorf("the set followed a caller's slice: %v", again)
	}
}
