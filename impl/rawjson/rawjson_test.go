package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestEditsChangeTheirMembersAndNothingElse(t *testing.T) {
	set := func(name, value string) Edit { return Edit{Name: name, Value: value} }
	add := func(name, value string) Edit { return Edit{Name: name, Value: value, Add: true} }
	remove := func(name string) Edit { return Edit{Name: name} }
	for _, c := range []struct {
		name, doc string
		edits     []Edit
		want      string
	}{
		{"nothing", ` { "a" : 1.50 , "b":[ ] } `, nil, ` { "a" : 1.50 , "b":[ ] } `},
		{"a value where it stands", `{"a":1e2,  "b" : {"a":1} ,"c":12345678901234567890}`, []Edit{set("b", "true")}, `{"a":1e2,  "b" : true ,"c":12345678901234567890}`},
		{"a member that is not there", `{"a":1}`, []Edit{set("b", "2")}, `{"a":1}`},
		{"a member is added", `{ "a":1 }`, []Edit{add("b", `{"x":[1]}`)}, `{ "a":1,"b":{"x":[1]} }`},
		{"two are added", `{"a":1}`, []Edit{add("b", "2"), add("c", "3")}, `{"a":1,"b":2,"c":3}`},
		{"added to nothing", `{ }`, []Edit{add("b", "2"), add("c", "3")}, `{ "b":2,"c":3}`},
		{"not added where it is", `{"b":1,"a":2}`, []Edit{add("b", "2")}, `{"b":2,"a":2}`},
		{"the first is removed", `{ "a":1 , "b":2}`, []Edit{remove("a")}, `{ "b":2}`},
		{"one in the middle is removed", `{"a":1 , "b":2 , "c":3}`, []Edit{remove("b")}, `{"a":1 , "c":3}`},
		{"the last is removed", `{"a":1 , "b":2 }`, []Edit{remove("b")}, `{"a":1 }`},
		{"all are removed", `{"a":1 , "b":2 }`, []Edit{remove("b"), remove("a")}, `{ }`},
		{"all are removed and one added", `{"a":1,"b":2}`, []Edit{remove("b"), remove("a"), add("c", "3")}, `{"c":3}`},
		{"removed at both ends", `{"a":1,"b":2,"a":3}`, []Edit{remove("a")}, `{"b":2}`},
		{"repeated", `{"a":1,"b":2,"a":3}`, []Edit{set("a", "0")}, `{"a":0,"b":2,"a":0}`},
		{"an escaped name", `{"\u0061":1,"b":2}`, []Edit{set("a", "0"), remove("b")}, `{"\u0061":0}`},
		{"a name in another case", `{"A":1}`, []Edit{set("a", "0")}, `{"A":1}`},
		{"an inner member", `{"x":{"a":1},"y":[{"a":1}],"z":"\"a\":1"}`, []Edit{set("a", "0")}, `{"x":{"a":1},"y":[{"a":1}],"z":"\"a\":1"}`},
		{"a name that needs quotes", `{}`, []Edit{add(`a"b`, "1")}, `{"a\"b":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := []byte(c.doc)
			got, err := Apply(in, c.edits...)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
			if string(in) != c.doc {
				t.Errorf("the original became %s", in)
			}
		})
	}
}

func TestWhatIsNoObjectIsNotEdited(t *testing.T) {
	for _, doc := range []string{"", " ", "[]", "1", `"{}"`, "null", "{", `{"a":1,}`, `{"a":1}{}`, "{a:1}", strings.Repeat(`{"a":`, 20000)} {
		if got, err := Apply([]byte(doc), Edit{Name: "a"}); err == nil {
			t.Errorf("%.20q became %q", doc, got)
		}
	}
}

func FuzzEditsAgreeWithTheStandardDecoder(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, ` { "a" : [1,{"b":2}] , "b":-1.5e3 ,"c":"\\\"" } `, `{"b":{"a":1},"a":"}","a":null}`, `[1]`, `{"\u0061":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var before map[string]json.RawMessage
		isObject := json.Unmarshal(doc, &before) == nil && before != nil
		got, err := Apply(doc, Edit{Name: "a"}, Edit{Name: "b", Value: "7", Add: true}, Edit{Name: "c", Value: `"x"`})
		if isObject != (err == nil) {
			t.Fatalf("Apply(%q) = %v", doc, err)
		}
		if err != nil {
			return
		}
		var after map[string]json.RawMessage
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%q became %q: %v", doc, got, err)
		}
		_, hadC := before["c"]
		delete(before, "a")
		before["b"] = json.RawMessage("7")
		if hadC {
			before["c"] = json.RawMessage(`"x"`)
		}
		if len(after) != len(before) {
			t.Errorf("%q became %q", doc, got)
		}
		for name, value := range before {
			if !bytes.Equal(after[name], value) {
				t.Errorf("%q became %q: %s", doc, got, name)
			}
		}
	})
}

func FuzzMemberAgreesWithTheStandardDecoder(f *testing.F) {
	for _, s := range []string{`{}`, `{"model":1}`, `{"a":[1,{"model":2}],"model":-1.5e3 ,"b":"\\\""}`, ` [1] `, `{"model":"\"}"}`, `{"a":{},"model":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) {
			t.Skip()
		}
		got, ok := Member(doc, "model")
		var all map[string]json.RawMessage
		want, has := json.RawMessage(nil), false
		if json.Unmarshal(doc, &all) == nil {
			want, has = all["model"]
		}
		if ok != has || !bytes.Equal(got, want) {
			t.Errorf("Member(%q) = %q, %v; want %q, %v", doc, got, ok, want, has)
		}
	})
}
