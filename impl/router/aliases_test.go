package router

import (
	"errors"
	"strings"
	"testing"
)

func TestAnAliasIsItsModel(t *testing.T) {
	b := BodyModels{Aliases: map[string]string{"latest": "m", "gone": "n"}}
	known := []string{"m"}
	for _, name := range []string{"m", "latest"} {
		if got, err := b.Model([]byte(`{"model":"`+name+`"}`), known); err != nil || got != "m" {
			t.Errorf("%s is %q, %v; want m", name, got, err)
		}
	}
	for _, name := range []string{"gone", "n", "Latest"} {
		var e *Error
		if _, err := b.Model([]byte(`{"model":"`+name+`"}`), known); !errors.As(err, &e) || e.Kind != ModelNotFound || !strings.Contains(e.Message, name) {
			t.Errorf("%s: %v; want an unknown model of that name", name, err)
		}
	}
}

func TestAnAliasGoesOutUnderTheModelsOwnName(t *testing.T) {
	aliases := map[string]string{"latest": `m"1`}
	for in, want := range map[string]string{
		`{ "n":1e0, "model" : "latest","x":9007199254740993}`: `{ "n":1e0, "model" : "m\"1","x":9007199254740993}`,
		`{"model":"m"}`:                                 `{"model":"m"}`,
		`{"model":"\u006catest"}`:                       `{"model":"m\"1"}`,
		`{"messages":[{"model":"latest"}],"model":"o"}`: `{"messages":[{"model":"latest"}],"model":"o"}`,
	} {
		if got, err := underOwnName([]byte(in), aliases); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v; want %s", in, got, err, want)
		}
		if got, err := underOwnName([]byte(in), nil); err != nil || string(got) != in {
			t.Errorf("without aliases %s became %s, %v", in, got, err)
		}
	}
}

func TestBadAliasesAreRefused(t *testing.T) {
	for _, c := range []struct {
		aliases map[string]string
		problem string
	}{
		{map[string]string{"": "m"}, "ALIAS: MODEL"},
		{map[string]string{"a": ""}, "ALIAS: MODEL"},
		{map[string]string{"a": "b", "b": "m"}, "alias itself"},
		{map[string]string{"a": "a"}, "alias itself"},
	} {
		if err := (Config{Aliases: c.aliases}).Validate(); err == nil || !strings.Contains(err.Error(), c.problem) || !strings.HasPrefix(err.Error(), "aliases") {
			t.Errorf("%v: %v, want %q", c.aliases, err, c.problem)
		}
	}
}
