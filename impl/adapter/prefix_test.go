package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/impl/sessionindex"
)

// index makes i1, an index that keeps blocks for ten seconds.
func (k *talk) index() {
	k.t.Helper()
	k.wants(`"i1"`, `{"id":"new","op":"new","args":{"component":"sessionindex","config":{"sessions":2,"retention":10000}}}`)
}

// ask1 asks i1, where $ stands for the leading zeros of a hash.
func (k *talk) ask1(want, op, args string) {
	k.t.Helper()
	args = strings.ReplaceAll(args, "$", strings.Repeat("0", 15))
	k.wants(`{"id":1,`+strings.ReplaceAll(want, "$", strings.Repeat("0", 15)), `{"id":1,"op":"%s","args":{"instance":"i1",%s}}`, op, args)
}

const (
	w0 = `"worker":"w","rank":0,`
	w1 = `"worker":"w","rank":1,`
)

func TestWhatAnIndexIsAsked(t *testing.T) {
	k := begin(t)
	k.index()
	k.ask1(`"ok":{"changed":true}}`, "store", w0+`"session":"s","blocks":["$a","$b","$c"]`)
	k.ask1(`"ok":{"changed":false}}`, "store", w0+`"session":"s","blocks":[]`)
	k.ask1(`"ok":{"changed":false}}`, "store", w0+`"session":"`+strings.Repeat("x", 257)+`","blocks":["$a"]`)
	k.ask1(`"ok":{"changed":true}}`, "match", w1+`"session":"s","block":"$b"`)
	k.ask1(`"ok":{"changed":true}}`, "match", w0+`"session":"s","block":"$e"`)
	k.ask1(`"ok":{"changed":false}}`, "store", w0+`"session":"s","parent":"$d","blocks":["$e"]`)
	k.ask1(`"ok":{"frontiers":[{"worker":"w","rank":0,"block":"$c"},{"worker":"w","rank":0,"block":"$e"},{"worker":"w","rank":1,"block":"$b"}]}}`, "frontiers", `"session":"s"`)
	k.ask1(`"ok":{"frontiers":[]}}`, "frontiers", `"session":"t"`)
	k.ask1(`"ok":{"chains":[["$a","$b","$c"],["$d","$e"]]}}`, "lineages", w0+`"session":"s"`)
	k.ask1(`"ok":{"chains":[["$b","$c"]]}}`, "lineages", w0+`"session":"s","anchor":"$b"`)
	k.ask1(`"ok":{"chains":[]}}`, "lineages", w0+`"session":"t"`)
	k.ask1(`"ok":{"blocks":5,"sessions":1,"discarded":0}}`, "size", `"instance":"i1"`)
	k.ask1(`"ok":{"blocks":[{"block":"$a"},{"block":"$b","parent":"$a"},{"block":"$c","parent":"$b"},{"block":"$d","phantom":true},{"block":"$e","parent":"$d"}],`+
		`"sessions":[{"session":"s","frontiers":[{"worker":"w","rank":0,"block":"$c"},{"worker":"w","rank":0,"block":"$e"},{"worker":"w","rank":1,"block":"$b"}]}]}}`, "dump", `"instance":"i1"`)
	k.ask1(`"ok":{"hit":1}}`, "remove", w0+`"blocks":["$f","$c"]`)
	k.ask1(`"ok":{"dropped":2}}`, "clear", `"worker":"w","rank":0`)
	k.ask1(`"ok":{"dropped":1}}`, "clear", `"worker":"w","rank":1`)
	k.wants(`"ok"`, `{"id":1,"op":"clock.advance","args":{"instance":"i1","by":9999}}`)
	k.ask1(`"ok":{"blocks":5,"sessions":0`, "size", `"instance":"i1"`)
	k.wants(`"ok"`, `{"id":1,"op":"clock.advance","args":{"instance":"i1","by":1}}`)
	k.ask1(`"ok":{"blocks":0,"sessions":0`, "size", `"instance":"i1"`)
}

func TestWhatAnIndexRefuses(t *testing.T) {
	k := begin(t)
	k.index()
	k.wants(`"i2"`, `{"id":1,"op":"new","args":{"component":"affinity","config":{"idleTTL":10000}}}`)
	k.ask1(`"ok":{"changed":true}}`, "store", w0+`"session":"s","blocks":["$a","$b"]`)
	for _, c := range []struct{ kind, block, op, args string }{
		{"cyclic_parent", "$a", "store", w0 + `"session":"s","parent":"$b","blocks":["$a"]`},
		{"conflicting_parent", "$b", "store", w0 + `"session":"s","blocks":["$b"]`},
		{"unknown_parent", "$c", "store", w0 + `"session":"s","parent":"$c","blocks":["$d"]`},
		{"unknown_anchor", "$c", "lineages", w0 + `"session":"s","anchor":"$c"`},
	} {
		got := k.get(`{"id":1,"op":"%s","args":{"instance":"i1",%s}}`, c.op, strings.ReplaceAll(c.args, "$", strings.Repeat("0", 15)))
		if !strings.HasPrefix(got, `{"id":1,"error":{"kind":"`+c.kind+`","message":"`) || !strings.HasSuffix(got, `","block":"`+strings.ReplaceAll(c.block, "$", strings.Repeat("0", 15))+`"}}`) {
			t.Errorf("%s %s was answered %s", c.op, c.args, got)
		}
	}
	for _, call := range []string{
		`"op":"new","args":{"component":"sessionindex","config":{"sessions":0}}`, `"op":"new","args":{"component":"sessionindex","config":{"retention":0}}`,
		`"op":"new","args":{"component":"sessionindex","config":{"retention":"1s"}}`,
		`"op":"store","args":{"instance":"i2","worker":"w","rank":0,"session":"s","blocks":[]}`, `"op":"store","args":{"instance":"i1","worker":"w","session":"s","blocks":[]}`,
		`"op":"store","args":{"instance":"i1","worker":"w","rank":0,"session":"s"}`, `"op":"store","args":{"instance":"i1","worker":"w","rank":0,"session":"s","blocks":["a"]}`,
		`"op":"match","args":{"instance":"i1","worker":"w","rank":0,"session":"s"}`, `"op":"match","args":{"instance":"i1","worker":"w","rank":-1,"session":"s","block":"000000000000000a"}`,
		`"op":"match","args":{"instance":"i1","rank":0,"session":"s","block":"000000000000000a"}`,
		`"op":"remove","args":{"instance":"i1","worker":"w","blocks":[]}`, `"op":"remove","args":{"instance":"i3","worker":"w","rank":0,"blocks":[]}`, `"op":"clear","args":{"instance":"i1","worker":"w"}`,
		`"op":"clear","args":{"instance":"i2","worker":"w","rank":0}`, `"op":"frontiers","args":{"instance":"i2","session":"s"}`, `"op":"lineages","args":{"instance":"i1","session":"s"}`,
		`"op":"lineages","args":{"instance":"i2","worker":"w","rank":0,"session":"s"}`, `"op":"size","args":{"instance":"i2"}`, `"op":"dump","args":{"instance":"i2"}`, `"op":"flush","args":{"instance":"i2"}`,
		`"op":"register","args":{"instance":"i1","worker":"w"}`, `"op":"register","args":{"instance":"i1","incarnation":"x"}`, `"op":"register","args":{"instance":"i2","worker":"w","incarnation":"x"}`,
		`"op":"register","args":{"instance":"i1","worker":"w","incarnation":"` + strings.Repeat("é", 257) + `"}`,
		`"op":"worker.remove","args":{"instance":"i1"}`, `"op":"remove.begin","args":{"instance":"i2","worker":"w"}`, `"op":"store.apply","args":{"token":"t1"}`, `"op":"match.apply","args":{}`, `"op":"remove.await","args":{"token":"t1"}`,
		`"op":"store.admit","args":{"instance":"i1"}`, `"op":"match.admit","args":{"instance":"i1"}`,
		`"op":"physical.set","args":{"instance":"i1","worker":"w","blocks":[]}`, `"op":"physical.set","args":{"instance":"i2","worker":"w","rank":0,"blocks":[]}`, `"op":"physical.fail","args":{"instance":"i2","barrier":true,"lowerTier":true}`,
		`"op":"workers.set","args":{"instance":"i1","workers":[]}`, `"op":"acquire","args":{"instance":"i1","model":"m","session":"s"}`, `"op":"count","args":{"instance":"i1"}`,
	} {
		if got := k.get(`{"id":1,%s}`, call); !strings.HasPrefix(got, `{"id":1,"error":{"kind":"invalid_argument"`) {
			t.Errorf("%s was answered %s", call, got)
		}
	}
}

func TestTheLifeOfAWorker(t *testing.T) {
	k := begin(t)
	k.index()
	long := strings.Repeat("é", 256)
	const first, second = `"incarnation":"first",`, `"incarnation":"second",`
	const nothing, tooLate = `"ok":{}}`, `"ok":{"changed":false,"discarded":true}}`
	token := func(op, args string) string {
		t.Helper()
		var a struct{ OK tokened }
		line := k.get(`{"id":1,"op":"%s","args":{"instance":"i1",%s}}`, op, strings.ReplaceAll(args, "$", strings.Repeat("0", 15)))
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.OK.Token == "" {
			t.Fatal(line)
		}
		return a.OK.Token
	}
	use := func(want, op, token string) {
		t.Helper()
		k.wants(`{"id":2,`+want, `{"id":2,"op":"%s","args":{"token":"%s"}}`, op, token)
	}
	k.ask1(nothing, "register", `"worker":"v","incarnation":"`+long+`"`)
	k.ask1(nothing, "register", `"worker":"w","incarnation":"first"`)
	k.ask1(`"ok":{"changed":true}}`, "store", w0+first+`"session":"s","blocks":["$a"]`)
	k.ask1(tooLate, "store", w0+second+`"session":"s","blocks":["$b"]`)
	k.ask1(tooLate, "match", w0+`"session":"s","block":"$b"`)

	store, match := token("store.admit", w0+first+`"session":"t","blocks":["$b"]`), token("match.admit", w0+first+`"session":"t","block":"$c"`)
	there := token("match.admit", w0+first+`"session":"t","block":"$d"`)
	k.ask1(nothing, "physical.set", w0+`"blocks":["$d"]`)
	k.ask1(`"ok":{"dropped":1}}`, "clear", `"worker":"w","rank":0`)
	use(`"error":{"kind":"invalid_argument"`, "match.apply", store)
	use(tooLate, "store.apply", store)
	use(`"error":{"kind":"invalid_argument"`, "store.apply", store)
	use(tooLate, "match.apply", match)
	use(`"ok":{"changed":true}}`, "match.apply", there)
	fresh := token("store.admit", w0+first+`"session":"t","blocks":["$e","$e"]`)
	use(`"error":{"kind":"cyclic_parent"`, "store.apply", fresh)

	late := token("store.admit", w0+first+`"session":"s","blocks":["$a"]`)
	removal := token("remove.begin", `"worker":"w","rank":0`)
	use(`"error":{"kind":"invalid_argument"`, "store.apply", removal)
	k.ask1(nothing, "physical.fail", `"barrier":true,"lowerTier":false`)
	use(`"error":{"kind":"unavailable"`, "remove.await", removal)
	k.ask1(`"error":{"kind":"unavailable"`, "flush", `"instance":"i1"`)
	k.ask1(`"error":{"kind":"unavailable"`, "worker.remove", `"worker":"w"`)
	use(tooLate, "store.apply", late)
	k.ask1(nothing, "physical.fail", `"barrier":false,"lowerTier":true`)
	k.ask1(`"error":{"kind":"unavailable"`, "clear", `"worker":"w","rank":0`)
	k.ask1(nothing, "flush", `"instance":"i1"`)
	k.ask1(nothing, "physical.fail", `"barrier":false,"lowerTier":false`)
	use(`"ok":{"dropped":1}}`, "remove.await", removal)
	use(`"error":{"kind":"invalid_argument"`, "remove.await", removal)
	k.ask1(`"ok":{"dropped":0}}`, "worker.remove", `"worker":"w"`)
	k.ask1(nothing, "register", `"worker":"w","rank":1,"incarnation":"second"`)
	k.ask1(`"ok":{"changed":true}}`, "match", w1+second+`"session":"s","block":"$a"`)
	k.ask1(`"ok":{"dropped":1}}`, "worker.remove", `"worker":"w","rank":1`)
	k.ask1(`"ok":{"blocks":2,"sessions":0,"discarded":5}}`, "size", `"instance":"i1"`)

	last := token("store.admit", `"worker":"v","rank":0,"incarnation":"`+long+`","session":"s","blocks":["$a"]`)
	k.wants(nothing, `{"id":1,"op":"close","args":{"instance":"i1"}}`)
	use(`"error":{"kind":"invalid_argument"`, "store.apply", last)
}

func TestABatchCountsWhatIsVisited(t *testing.T) {
	k := begin(t)
	k.index()
	k.wants(`"i2"`, `{"id":"new","op":"new","args":{"component":"affinity","config":{"idleTTL":10000}}}`)
	steps := func(ops ...string) (steps int) {
		t.Helper()
		var a struct {
			OK struct {
				Answers []outcome
				NS      int64
				Steps   *int
			}
		}
		line := k.get(`{"id":1,"op":"batch","args":{"ops":[%s]}}`, strings.Join(ops, ","))
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.OK.Steps == nil || a.OK.NS <= 0 || len(a.OK.Answers) != len(ops) {
			t.Fatal(line)
		}
		for _, answer := range a.OK.Answers {
			if answer.Error != nil {
				t.Fatal(line)
			}
		}
		return *a.OK.Steps
	}
	store := func(first, n int) string {
		var blocks []string
		for i := range n {
			blocks = append(blocks, fmt.Sprintf(`"%016x"`, first+i))
		}
		return `{"op":"store","args":{"instance":"i1",` + w0 + `"session":"s","blocks":[` + strings.Join(blocks, ",") + `]}}`
	}
	if got := steps(store(1, 100)); got < 100 || got > 110 {
		t.Errorf("a store of 100 blocks takes %d steps", got)
	}
	if got := steps(`{"op":"frontiers","args":{"instance":"i1","session":"s"}}`, `{"op":"size","args":{"instance":"i1"}}`); got < 1 || got > 10 {
		t.Errorf("two reads take %d steps", got)
	}
	turn := func(session int) string {
		return fmt.Sprintf(`{"op":"acquire","args":{"instance":"i2","model":"m","session":"%d"}}`, session)
	}
	if got := steps(turn(1)); got < 1 || got > 5 {
		t.Errorf("an acquire takes %d steps", got)
	}
	if got := steps(turn(2), `{"op":"release","args":{"lease":0}}`, `{"op":"count","args":{"instance":"i2"}}`); got < 2 || got > 10 {
		t.Errorf("an acquire and a release take %d steps", got)
	}
}

// Others may take the index's place.
func TestAnotherIndexMaySpeak(t *testing.T) {
	made := errors.New("made")
	var out strings.Builder
	err := ServeWith(t.Context(), strings.NewReader(`{"id":1,"op":"new","args":{"component":"sessionindex","config":{}}}`), &out, nil,
		func(c sessionindex.Config, _ sessionindex.Clock, p sessionindex.Physical) (sessionindex.Indexer, error) {
			if held, err := p.Holds(context.Background(), sessionindex.WorkerRank{}, 1); held || err != nil || c != (sessionindex.Config{}) {
				t.Errorf("Holds = %v, %v; config %+v", held, err, c)
			}
			return nil, made
		})
	if err != nil || !strings.Contains(out.String(), `"message":"made"`) {
		t.Errorf("Serve = %v, out %s", err, out.String())
	}
}
