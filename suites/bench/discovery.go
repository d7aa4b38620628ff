package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/routeproof/routeproof/mockers/registrar"
	"github.com/routeproof/routeproof/mockers/registrar/dir"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/stores"
	"github.com/routeproof/routeproof/suites/target"
)

// Store re-exports the store's faults, which keeps case files to one import.
type Store = stores.Store

// Discovery is a discovery store that a target looks for its workers in, and what
// registers them there in their stead.
type Discovery struct {
	At        target.StoreAt
	Store     *stores.Store
	Registrar registrar.Registrar

	lives map[string]int           // by worker: how often it was registered
	ttls  map[string]time.Duration // by worker: how long its record lives, where that is its own affair
}

// Where is how the target gets at its store.
type Where struct {
	Linked bool // file: by a path on which both the root and its parent are symbolic links
	Away   bool // etcd: out of the target's reach when it starts, until the case heals the way
}

// close takes it away; nil is none.
func (d *Discovery) close() error {
	if d == nil {
		return nil
	}
	return errors.Join(d.Registrar.Close(), d.Store.Close())
}

// discover makes the bench's store, with all workers in it.
func (b *Bench) discover(ctx context.Context) (err error) {
	if b.env.OpenStore == nil {
		return fmt.Errorf("the case needs a discovery store of kind %s, and this run has none", b.Store)
	}
	if b.disc, err = b.env.OpenStore(ctx, b.Store, b.env.Manifest.Wiring.Stores[b.Store]); err != nil {
		return fmt.Errorf("open a discovery store of kind %s: %w", b.Store, err)
	}
	b.disc.lives, b.disc.ttls = map[string]int{}, map[string]time.Duration{}
	if b.Linked {
		b.disc.At.Root = b.disc.Store.Linked
	}
	if b.Away {
		if err := b.disc.Store.Cut(ctx); err != nil {
			return errors.Join(err, b.disc.close())
		}
	}
	for _, id := range b.wired {
		if err := b.register(ctx, id); err != nil {
			return errors.Join(err, b.disc.close())
		}
	}
	return nil
}

// record is a worker's record in its present life.
func (b *Bench) record(id string) (key string, value []byte, err error) {
	return b.recordAt(id, id)
}

// recordAt is the same where the worker is to be found at another one's address.
func (b *Bench) recordAt(id, at string) (key string, value []byte, err error) {
	w := b.targets([]string{at})[0]
	w.ID = b.targets([]string{id})[0].ID
	return b.env.Manifest.Record(b.disc.At, w, strconv.Itoa(b.disc.lives[id]), b.disc.ttls[id])
}

// ttl is how long records outlive their owners.
func (b *Bench) ttl() time.Duration { return b.env.Manifest.Wiring.Stores[b.Store].TTL }

// register puts a worker's record into the store, as its next life.
func (b *Bench) register(ctx context.Context, id string) error {
	b.disc.lives[id]++
	key, value, err := b.record(id)
	if err == nil {
		err = b.disc.Registrar.Register(ctx, registrar.Entry{Key: key, Value: value, TTL: cmp.Or(b.disc.ttls[id], b.ttl())})
	}
	if err != nil {
		return fmt.Errorf("register worker %s: %w", id, err)
	}
	return nil
}

// storage says where the target looks for its workers, for the evidence.
func (b *Bench) storage(left []string) history.Store {
	if b.disc == nil {
		return history.Store{}
	}
	return history.Store{Kind: b.Store, TTL: b.ttl(), Left: left}
}

// TTL is how long a worker's record outlives its owner.
func (r *Run) TTL() time.Duration { return r.bench.ttl() }

// Add starts an aggregated worker that the target knows nothing of yet.
func (r *Run) Add() string {
	w, err := r.bench.fleet.Add(r.bench.Fleet.shape(Aggregated))
	if err != nil {
		r.Fail(fmt.Errorf("add a worker: %w", err))
		return ""
	}
	return w.ID()
}

// Register puts a worker's record into the store and keeps it alive, as its next life.
func (r *Run) Register(ctx context.Context, id string) {
	r.step("register", id, func() error { return r.bench.register(ctx, id) })
	r.bench.wired = append(r.bench.wired, id)
}

// Unregister takes it out, as an owner does that leaves.
func (r *Run) Unregister(ctx context.Context, id string) {
	r.owned("unregister", id, func(key string) error { return r.bench.disc.Registrar.Unregister(ctx, key) })
	r.unwire(id)
}

// Abandon lets it lapse, as after its owner's death. The worker goes on serving: so the
// ledger shows who is still sent there.
func (r *Run) Abandon(id string) {
	r.owned("abandon", id, func(key string) error { return r.bench.disc.Registrar.Abandon(key) })
	r.unwire(id)
}

// Freeze pauses the keep-alive of a worker's record, as SIGSTOP does its owner's.
func (r *Run) Freeze(ctx context.Context, id string) {
	r.owned("freeze", id, func(key string) error { return r.bench.disc.Registrar.Freeze(ctx, key) })
	r.unwire(id)
}

// Thaw lets the owner go on. It finds its record gone, and registers anew, as its next
// life; or not, and keeps it alive again.
func (r *Run) Thaw(ctx context.Context, id string) {
	key, _, err := r.bench.record(id)
	var lapse registrar.Lapse
	if err == nil {
		lapse, err = r.bench.disc.Registrar.Thaw(ctx, key)
	}
	if err == nil && lapse != registrar.Kept {
		if lapse == registrar.Expired { // alive again, but not what others took it for
			err = r.bench.disc.Registrar.Unregister(ctx, key)
		}
		if err == nil {
			err = r.bench.register(ctx, id)
		}
	}
	if err != nil {
		r.Fail(fmt.Errorf("thaw worker %s: %w", id, err))
	}
	r.Mark("thaw", id, lapse.String())
	r.unwire(id) // who never froze is there already
	r.bench.wired = append(r.bench.wired, id)
}

// Relocate changes a worker's record: it is to be found where the other worker is. The
// record is put by its owner, or by means of change.
func (r *Run) Relocate(ctx context.Context, id, to string, change Change) {
	r.owned("move", id, func(key string) error {
		r.bench.disc.lives[id]++
		_, here, err := r.bench.recordAt(id, id)
		if err != nil {
			return err
		}
		_, there, err := r.bench.recordAt(id, to)
		if err != nil {
			return err
		}
		if change == nil {
			return r.bench.disc.Registrar.Update(ctx, key, there)
		}
		return r.files(func(f *Files) error { return change(ctx, f, key, here, there) })
	})
	r.Mark("moved", to, id)
	r.unwire(id)
	r.bench.wired = append(r.bench.wired, to)
}

// Files re-exports what can happen to the files of a file store.
type Files = dir.Registrar

// Change is a way to change a worker's file from what it says where the worker is to
// what it says where it goes.
type Change func(ctx context.Context, f *Files, key string, here, there []byte) error

// InFiles does something to a worker's file, or with id "" to the root, and marks it.
func (r *Run) InFiles(what, id string, do func(f *Files, key string) error) {
	if id == "" {
		r.step(what, "", func() error { return r.files(func(f *Files) error { return do(f, "") }) })
		return
	}
	r.owned(what, id, func(key string) error { return r.files(func(f *Files) error { return do(f, key) }) })
}

func (r *Run) files(do func(*Files) error) error {
	f, ok := r.bench.disc.Registrar.(*Files)
	if !ok {
		return errors.New("the discovery store has no files")
	}
	return do(f)
}

// InEtcd does something to a worker's record in etcd, and marks it.
func (r *Run) InEtcd(what, id string, do func(e Leases, key string) error) {
	r.owned(what, id, func(key string) error {
		e, ok := r.bench.disc.Registrar.(Leases)
		if !ok {
			return errors.New("the discovery store has no leases")
		}
		return do(e, key)
	})
}

// Leases is what can happen to the leases of an etcd.
type Leases interface {
	// RevokeLease ends the lease of a record, which goes with it.
	RevokeLease(ctx context.Context, key string) error
}

// Outlives says how long a worker's record lives without its owner, from its next
// registration on, instead of as long as the manifest says.
func (r *Run) Outlives(id string, ttl time.Duration) { r.bench.disc.ttls[id] = ttl }

// Rename gives a worker a new name, under which its record is registered next, as after
// a restart. The old record is nobody's any more.
func (r *Run) Rename(id, name string) {
	r.owned("rename", id, func(key string) error { return r.bench.disc.Registrar.Abandon(key) })
	r.unwire(id)
	r.bench.names[id] = name
}

// Spoil makes bytes of a worker's record.
func (r *Run) Spoil(ctx context.Context, id string, value []byte) {
	r.owned("spoil", id, func(key string) error { return r.bench.disc.Registrar.PutRaw(ctx, key, value) })
}

// Record is a worker's record as it stands in the store.
func (r *Run) Record(id string) []byte {
	_, value, err := r.bench.record(id)
	if err != nil {
		r.Fail(err)
	}
	return value
}

// Stray puts bytes where the record of a worker would be that does not exist.
func (r *Run) Stray(ctx context.Context, name string, value []byte) {
	r.step("stray", name, func() error { return r.bench.stray(ctx, name, value) })
}

// Strays puts the same bytes under many such names.
func (r *Run) Strays(ctx context.Context, prefix string, n int, value []byte) {
	r.step("strays", "", func() error {
		for i := range n {
			if err := r.bench.stray(ctx, prefix+strconv.Itoa(i), value); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Bench) stray(ctx context.Context, name string, value []byte) error {
	key, _, err := b.env.Manifest.Record(b.disc.At, target.Worker{ID: name}, "1", 0)
	if err == nil {
		err = b.disc.Registrar.PutRaw(ctx, key, value)
	}
	if err != nil {
		return fmt.Errorf("put a record named %s: %w", name, err)
	}
	return nil
}

// Addressless is the record of a worker without an address.
func (r *Run) Addressless(name string) []byte {
	_, value, err := r.bench.env.Manifest.Record(r.bench.disc.At, target.Worker{ID: name, Model: r.bench.fleet.Models()[0], Role: string(Aggregated)}, "1", 0)
	if err != nil {
		r.Fail(err)
	}
	return value
}

// Look notes what is in the store, for the judge.
func (r *Run) Look(ctx context.Context) {
	all, err := r.bench.disc.Registrar.List(ctx)
	if err != nil {
		r.Fail(fmt.Errorf("read the discovery store: %w", err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range all {
		r.left = append(r.left, e.Key+" "+string(e.Value))
	}
}

// Faulty does something to the way between the target and its store, or to the store
// itself, and marks it.
func (r *Run) Faulty(what string, do func(*stores.Store) error) {
	r.step(what, "", func() error {
		if err := do(r.bench.disc.Store); err != nil {
			return fmt.Errorf("%s the discovery store: %w", what, err)
		}
		return nil
	})
}

// step does something to the store and marks when it was done.
func (r *Run) step(what, id string, do func() error) {
	if err := do(); err != nil {
		r.Fail(err)
	}
	r.Mark(what, id, "done")
}

// owned is step for a worker's record.
func (r *Run) owned(what, id string, do func(key string) error) {
	r.step(what, id, func() error {
		key, _, err := r.bench.record(id)
		if err == nil {
			err = do(key)
		}
		if err != nil {
			return fmt.Errorf("%s worker %s: %w", what, id, err)
		}
		return nil
	})
}

func (r *Run) unwire(id string) {
	for i, w := range r.bench.wired {
		if w == id {
			r.bench.wired = append(r.bench.wired[:i:i], r.bench.wired[i+1:]...)
			return
		}
	}
}

// Discovered sends keyless requests until every registered worker has answered one, for
// at most the convergence time.
func (r *Run) Discovered(ctx context.Context) { r.UntilEach(ctx, "discovering", r.Convergence()) }

// UntilEach is Until every registered worker has answered one.
func (r *Run) UntilEach(ctx context.Context, phase string, max time.Duration) {
	unseen := map[string]bool{}
	for _, id := range r.Workers() {
		unseen[id] = true
	}
	if len(unseen) == 0 {
		return
	}
	r.Until(ctx, phase, max, func(w string) bool {
		delete(unseen, w)
		return len(unseen) == 0
	})
}
