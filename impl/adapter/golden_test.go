package adapter

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The conversations are everybody's; how they are played here is our own.
func TestGoldenConversations(t *testing.T) {
	files, err := filepath.Glob("../../fixtures/component/*.jsonl")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d conversations, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			converse(t, text)
		})
	}
}

func converse(t *testing.T, text []byte) {
	k := begin(t)
	known := map[string]string{}
	came := map[any]map[string]any{} // answers that were not wanted yet, by id
	for line := range bytes.Lines(text) {
		doc := object(t, line)
		if doc["op"] != nil {
			if len(came) > 0 {
				t.Fatalf("before %s came %v", line, came)
			}
			ask, err := json.Marshal(filled(doc, known))
			if err != nil {
				t.Fatal(err)
			}
			k.say(string(ask))
			continue
		}
		for came[doc["id"]] == nil {
			got := object(t, []byte(k.hear()))
			came[got["id"]] = got
		}
		got := came[doc["id"]]
		delete(came, doc["id"])
		if !alike(doc, got, "", known) {
			t.Fatalf("want %s got %v", line, got)
		}
	}
	if len(came) > 0 {
		t.Errorf("at the end came %v", came)
	}
}

func object(t *testing.T, text []byte) (doc map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return doc
}

// filled puts what is known in the place of $names.
func filled(v any, known map[string]string) any {
	switch v := v.(type) {
	case string:
		if value, ok := known[v]; ok {
			return value
		}
	case []any:
		for n := range v {
			v[n] = filled(v[n], known)
		}
	case map[string]any:
		for name := range v {
			v[name] = filled(v[name], known)
		}
	}
	return v
}

// alike compares an answer, and learns what $names stand for.
func alike(want, got any, member string, known map[string]string) bool {
	switch w := want.(type) {
	case string:
		if g, ok := got.(string); ok && strings.HasPrefix(w, "$") {
			if known[w] == "" {
				known[w] = g
			}
			return known[w] == g
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for n := range w {
			if !alike(w[n], g[n], "", known) {
				return false
			}
		}
		return true
	case map[string]any:
		g, ok := got.(map[string]any)
		if w["ns"] != nil { // a batch; whether it counts steps is a claim
			delete(g, "steps")
		}
		if !ok || len(g) != len(w) {
			return false
		}
		for name := range w {
			if !alike(w[name], g[name], name, known) {
				return false
			}
		}
		return true
	}
	if member == "message" || member == "ns" || member == "version" {
		return got != nil
	}
	return reflect.DeepEqual(want, got)
}
