package complexity

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"

	"github.com/routeproof/routeproof/suites/target/component"
)

// Bounds of what is sent at once: far below the protocol's 16 MiB a line.
const (
	maxOps    = 1 << 12 // of a batch
	maxBlocks = 1 << 17 // of a store that builds a chain
)

// breath is how many bytes may be allocated between two collections of ours.
const breath = 64 << 20

// bench is one conversation with a target, and what ladders need of it.
type bench struct {
	*component.Client
	hello component.Hello
	local bool // it is served in this process
	tidy  bool // collect before each measurement: see breathe
	rng   *rand.Rand
	last  uint64 // bytes allocated at the last collection
}

// cost is what a batch took.
type cost struct {
	ns    int64
	steps *int64
	bytes uint64 // allocated meanwhile, our own part of the conversation included
}

// place is a worker rank.
type place struct {
	worker string
	rank   uint32
}

var here, there = place{"w", 0}, place{"v", 0}

// incarnation is that of each worker, where the target knows incarnations.
const incarnation = "first"

// keys makes random keys, which no other call returns.
func (b *bench) keys(n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = b.rng.Uint64()
	}
	return all
}

// names are keys as the protocol spells blocks.
func names(keys []uint64) []string {
	text := make([]byte, 0, 16*len(keys))
	for _, k := range keys {
		text = hex.AppendEncode(text, binary.BigEndian.AppendUint64(nil, k))
	}
	all := make([]string, len(keys))
	whole := string(text)
	for i := range all {
		all[i] = whole[16*i : 16*i+16]
	}
	return all
}

// index is one instance.
type index struct {
	*bench
	id string
}

// open makes an instance in which the workers are registered.
func (b *bench) open(ctx context.Context, sessions int, workers ...string) (*index, error) {
	i, err := component.Do[component.Instance](ctx, b.Client, component.OpNew, component.NewArgs{
		Component: component.SessionIndexComponent, Config: component.SessionIndexConfig{Sessions: &sessions},
	})
	if err != nil {
		return nil, err
	}
	x := &index{b, i.Instance}
	for _, w := range workers {
		if err := x.do(ctx, x.register(w, incarnation)...); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *index) close(ctx context.Context) error {
	_, err := component.Do[struct{}](ctx, x.Client, component.OpClose, component.Instance{Instance: x.id})
	return err
}

// register is nothing where the target knows no incarnations.
func (x *index) register(worker, as string) []component.Part {
	if !x.hello.Has(component.ClaimLifecycle) {
		return nil
	}
	return []component.Part{{Op: component.OpRegister, Args: component.MemberArgs{Instance: x.id, Worker: worker, Incarnation: as}}}
}

// under is the incarnation that stores and matches come under.
func (x *index) under() string {
	if x.hello.Has(component.ClaimLifecycle) {
		return incarnation
	}
	return ""
}

func (x *index) store(session string, at place, parent string, blocks ...string) component.Part {
	return component.Part{Op: component.OpStore, Args: component.StoreArgs{
		Instance: x.id, Session: session, Worker: at.worker, Rank: at.rank, Incarnation: x.under(), Parent: parent, Blocks: blocks,
	}}
}

func (x *index) match(session string, at place, block string) component.Part {
	return component.Part{Op: component.OpMatch, Args: component.MatchArgs{
		Instance: x.id, Session: session, Worker: at.worker, Rank: at.rank, Incarnation: x.under(), Block: block,
	}}
}

func (x *index) remove(at place, blocks ...string) component.Part {
	return component.Part{Op: component.OpRemove, Args: component.RankArgs{Instance: x.id, Worker: at.worker, Rank: at.rank, Blocks: &blocks}}
}

func (x *index) clear(at place) component.Part {
	return component.Part{Op: component.OpClear, Args: component.RankArgs{Instance: x.id, Worker: at.worker, Rank: at.rank}}
}

// chain are the stores of a long chain, in pieces.
func (x *index) chain(session string, at place, blocks []string) (parts []component.Part) {
	parent := ""
	for len(blocks) > 0 {
		n := min(len(blocks), maxBlocks)
		parts = append(parts, x.store(session, at, parent, blocks[:n]...))
		parent, blocks = blocks[n-1], blocks[n:]
	}
	return parts
}

// do runs operations that are not measured.
func (x *index) do(ctx context.Context, parts ...component.Part) error {
	for len(parts) > 0 {
		n := 1
		if !long(parts[0]) {
			for n = 1; n < min(len(parts), maxOps) && !long(parts[n]); n++ {
			}
		}
		if _, err := x.run(ctx, parts[:n]); err != nil {
			return err
		}
		parts = parts[n:]
	}
	return nil
}

// long says whether an operation is a line of its own.
func long(p component.Part) bool {
	s, ok := p.Args.(component.StoreArgs)
	return ok && len(s.Blocks) > 1<<10
}

// measure runs one batch.
func (x *index) measure(ctx context.Context, parts ...component.Part) (cost, error) {
	x.breathe()
	return x.run(ctx, parts)
}

func (x *index) run(ctx context.Context, parts []component.Part) (cost, error) {
	before := allocated()
	r, err := x.Batch(ctx, parts...)
	if err != nil {
		return cost{}, err
	}
	c := cost{ns: max(1, r.NS), steps: r.Steps, bytes: allocated() - before}
	for i, a := range r.Answers {
		if a.Err != nil {
			return c, &TargetError{fmt.Sprintf("it answered %v to operation %d of a batch, a %s that every correct index accepts", a.Err, i, parts[i].Op)}
		}
	}
	return c, nil
}

// retire moves the clock on, where there is one, so that what is not referred to any
// more is forgotten and each sample finds the index as the first one did.
func (x *index) retire(ctx context.Context) error {
	if !x.hello.Has(component.ClaimClock) {
		return nil
	}
	_, err := component.Do[struct{}](ctx, x.Client, component.OpAdvance, component.AdvanceArgs{Instance: x.id, By: 300_000})
	return err
}

// TargetError is a target that does not do what a measurement needs.
type TargetError struct{ Problem string }

func (e *TargetError) Error() string {
	return "the target cannot be measured: " + e.Problem + "; certify it first"
}

// quiet keeps our garbage collector out of what is measured until it is undone: it
// runs between samples, in breathe. The limit is a safety.
func quiet() (undo func()) {
	limit := debug.SetMemoryLimit(2 << 30)
	percent := debug.SetGCPercent(-1)
	warm()
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
		runtime.GC()
	}
}

// warm takes as much memory as is used between two collections from the system, and
// touches it. Otherwise what is measured first meets pages that have to be fetched, and
// what is measured later, or beside other ladders, does not.
func warm() {
	const page = 4 << 10
	memory := make([]byte, 3*breath)
	for i := 0; i < len(memory); i += page {
		memory[i] = 1
	}
	runtime.KeepAlive(memory)
	runtime.GC()
}

// breathe collects garbage between two samples: when there is enough; or always, where
// samples of a few percent's difference are told apart. What is measured soon after a
// collection may take half as long again as later, and so does the control.
func (b *bench) breathe() {
	if now := allocated(); b.tidy || now-b.last > breath {
		runtime.GC()
		b.last = now
	}
}

// allocated is how many bytes this process has ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// live is how many bytes of this process are in use. Two collections, because what is
// pooled survives one.
func live() uint64 {
	runtime.GC()
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// another names one of many sessions.
func another(i int) string { return "t" + strconv.Itoa(i) }
