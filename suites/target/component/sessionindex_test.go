package component

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestTheSchemaKnowsTheSessionIndex(t *testing.T) {
	const (
		on    = `"instance":"i","worker":"w","rank":0`
		own   = `"session":"",` + on
		block = `"00000000000000ff"`
	)
	for text, good := range map[string]bool{
		`"op":"new","args":{"component":"sessionindex","config":{}}`:                                   true,
		`"op":"new","args":{"component":"sessionindex","config":{"sessions":0,"retention":-1}}`:        true, // for the library to refuse
		`"op":"new","args":{"component":"sessionindex","config":{"idleTTL":1}}`:                        false,
		`"op":"new","args":{"component":"sessionindex","config":{"sessions":"many"}}`:                  false,
		`"op":"store","args":{` + own + `,"blocks":[]}`:                                                true,
		`"op":"store","args":{` + own + `,"parent":` + block + `,"incarnation":"a","blocks":[]}`:       true,
		`"op":"store","args":{` + own + `}`:                                                            false,
		`"op":"store","args":{` + own + `,"blocks":["ff"]}`:                                            false,
		`"op":"store","args":{` + own + `,"blocks":["00000000000000FF"]}`:                              false,
		`"op":"store","args":{` + own + `,"blocks":[255]}`:                                             false,
		`"op":"store","args":{` + own + `,"blocks":[],"incarnation":""}`:                               false,
		`"op":"store","args":{"instance":"i","session":"s","worker":"w","blocks":[]}`:                  false,
		`"op":"store","args":{"instance":"i","session":"s","worker":"","rank":0,"blocks":[]}`:          false,
		`"op":"match","args":{` + own + `,"block":` + block + `}`:                                      true,
		`"op":"match","args":{` + own + `,"blocks":[` + block + `]}`:                                   false,
		`"op":"remove","args":{` + on + `,"blocks":[` + block + `]}`:                                   true,
		`"op":"remove","args":{` + own + `,"blocks":[` + block + `]}`:                                  false,
		`"op":"clear","args":{` + on + `}`:                                                             true,
		`"op":"clear","args":{"instance":"i","worker":"w"}`:                                            false,
		`"op":"frontiers","args":{"instance":"i","session":"s"}`:                                       true,
		`"op":"lineages","args":{` + own + `,"anchor":` + block + `}`:                                  true,
		`"op":"lineages","args":{` + own + `,"anchor":null}`:                                           false,
		`"op":"size","args":{"instance":"i"}`:                                                          true,
		`"op":"dump","args":{"instance":"i","all":true}`:                                               false,
		`"op":"register","args":{"instance":"i","worker":"w","incarnation":"a"}`:                       true,
		`"op":"register","args":{` + on + `,"incarnation":"a"}`:                                        true,
		`"op":"register","args":{` + on + `}`:                                                          false,
		`"op":"worker.remove","args":{"instance":"i","worker":"w"}`:                                    true,
		`"op":"store.admit","args":{` + own + `,"blocks":[` + block + `]}`:                             true,
		`"op":"store.apply","args":{"token":"t"}`:                                                      true,
		`"op":"match.apply","args":{"token":7}`:                                                        false,
		`"op":"remove.begin","args":{` + on + `}`:                                                      true,
		`"op":"remove.await","args":{` + on + `}`:                                                      false,
		`"op":"physical.set","args":{` + on + `,"blocks":[]}`:                                          true,
		`"op":"physical.fail","args":{"instance":"i","barrier":true,"lowerTier":false}`:                true,
		`"op":"physical.fail","args":{"instance":"i","barrier":true}`:                                  false,
		`"op":"flush","args":{"instance":"i"}`:                                                         true,
		`"op":"batch","args":{"ops":[{"op":"store","args":{` + own + `,"blocks":[]}}]}`:                true,
		`"op":"batch","args":{"ops":[{"op":"worker.remove","args":{"instance":"i","worker":"w"}}]}`:    true,
		`"op":"batch","args":{"ops":[{"op":"dump","args":{"instance":"i"}}]}`:                          false,
		`"op":"batch","args":{"ops":[{"op":"store.apply","args":{"token":"t"}}]}`:                      false,
		`"op":"batch","args":{"ops":[{"op":"match","args":{` + own + `}}]}`:                            false,
		`"op":"batch","args":{"ops":[{"op":"physical.set","args":{` + on + `,"blocks":[]}}]}`:          false,
		`"error":{"kind":"cyclic_parent","message":"m","block":` + block + `}`:                         true,
		`"error":{"kind":"unknown_anchor","message":"m","block":` + block + `,"more":["for readers"]}`: true,
		`"error":{"kind":"cyclic_parent","message":"m"}`:                                               false,
		`"error":{"kind":"conflicting_parent","message":"m","block":"c"}`:                              false,
		`"error":{"kind":"unknown_parent","message":"m","block":255}`:                                  false,
		`"error":{"kind":"unknown_block","message":"m","block":` + block + `}`:                         false,
	} {
		line := []byte(`{"id":1,` + text + `}`)
		if err := Validate(line); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
		if !strings.Contains(text, `"op":`) {
			continue
		}
		if err := checkRequest(line); (err == nil) != good {
			t.Errorf("as a request of ours, %s: %v", text, err)
		}
	}
}

func TestAResultOfTheSessionIndexIsChecked(t *testing.T) {
	const block = `"00000000000000ff"`
	for _, c := range []struct {
		op, ok string
		good   bool
	}{
		{OpStore, `{"changed":true}`, true},
		{OpStore, `{"changed":false,"discarded":true}`, true},
		{OpStore, `{"changed":true,"discarded":true}`, false},
		{OpStore, `{"changed":false,"discarded":false}`, false},
		{OpStore, `{}`, false},
		{OpStoreApply, `{"changed":1}`, false},
		{OpMatch, `{"changed":false}`, true},
		{OpMatchAdmit, `{"token":"t"}`, true},
		{OpMatchAdmit, `{"token":""}`, false},
		{OpRemoveBegin, `{"dropped":0}`, false},
		{OpRemove, `{"hit":0}`, true},
		{OpRemove, `{"hit":-1}`, false},
		{OpClear, `{"dropped":2}`, true},
		{OpClear, `{"hit":2}`, false},
		{OpRemoveAwait, `{"dropped":2}`, true},
		{OpFrontiers, `{"frontiers":[]}`, true},
		{OpFrontiers, `{"frontiers":null}`, false},
		{OpFrontiers, `{"frontiers":[{"worker":"w","rank":0,"block":` + block + `}]}`, true},
		{OpFrontiers, `{"frontiers":[{"worker":"w","block":` + block + `}]}`, false},
		{OpLineages, `{"chains":[[` + block + `]]}`, true},
		{OpLineages, `{"chains":[[]]}`, false},
		{OpLineages, `{"chains":[` + block + `]}`, false},
		{OpSize, `{"blocks":1,"sessions":1}`, true},
		{OpSize, `{"blocks":1,"sessions":1,"discarded":0}`, true},
		{OpSize, `{"blocks":1,"sessions":1,"leases":0}`, false},
		{OpDump, `{"blocks":[{"block":` + block + `}],"sessions":[{"session":"","frontiers":[]}]}`, true},
		{OpDump, `{"blocks":[{"block":` + block + `,"parent":` + block + `,"phantom":true}],"sessions":[]}`, true},
		{OpDump, `{"blocks":[{"block":` + block + `,"phantom":false}],"sessions":[]}`, false},
		{OpDump, `{"blocks":[{"block":` + block + `,"parent":null}],"sessions":[]}`, false},
		{OpDump, `{"blocks":[]}`, false},
		{OpRegister, `{}`, true},
		{OpRegister, `{"dropped":0}`, false},
		{OpPhysicalSet, `{}`, true},
		{OpFlush, `{"flushed":true}`, false},
	} {
		if err := ValidateOK(c.op, []byte(c.ok)); (err == nil) != c.good {
			t.Errorf("%s %s: %v", c.op, c.ok, err)
		}
	}
}

func TestTheConversationOnTheSessionIndexsPageKeepsToTheSchema(t *testing.T) {
	page, err := os.ReadFile("../sessionindex.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "```jsonl\n")
	text, _, ended := strings.Cut(text, "```")
	if !found || !ended {
		t.Fatal("the page shows no conversation")
	}
	asked := map[string]string{}
	for line := range strings.Lines(text) {
		if err := Validate([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		var f struct {
			ID json.RawMessage `json:"id"`
			Op string          `json:"op"`
			OK json.RawMessage `json:"ok"`
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if f.Op != "" {
			asked[string(f.ID)] = f.Op
		} else if f.OK != nil {
			if err := ValidateOK(asked[string(f.ID)], f.OK); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}

func TestAnErrorKeepsItsBlock(t *testing.T) {
	var o Outcome
	if err := json.Unmarshal([]byte(`{"error":{"kind":"unknown_parent","message":"m","block":"00000000000000ff"}}`), &o); err != nil {
		t.Fatal(err)
	}
	if o.Err.Kind != UnknownParent || o.Err.Block != "00000000000000ff" {
		t.Errorf("got %+v", o.Err)
	}
}
