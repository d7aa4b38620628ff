package mutants

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/impl/router"
	"github.com/routeproof/routeproof/suites/target"
)

// overStore makes a mutant that sees its store through something wrong.
func overStore(id, fault string, killed []string, through func(discovery.Store) discovery.Store) Mutant {
	return at(id, fault, killed, func(s discovery.Store, _ target.StoreAt) discovery.Store { return through(s) })
}

// at is overStore for what must know where the store is.
func at(id, fault string, killed []string, through func(discovery.Store, target.StoreAt) discovery.Store) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killed, New: func(c target.LocalConfig) (target.Local, error) {
		r, err := routerOf(c, func(*router.Config, *router.Parts) {})
		if err != nil {
			return nil, err
		}
		return target.Following(r, c.Store, func(s discovery.Store) discovery.Store { return through(s, c.Store) })
	}}
}

// seen is a store whose watches are seen through f: it turns each event into those that
// are told instead. Each watch has an f of its own.
type seen struct {
	discovery.Store
	through func() func(discovery.Event) []discovery.Event
}

func (s seen) Watch(ctx context.Context, prefix string) (<-chan discovery.Event, error) {
	events, err := s.Store.Watch(ctx, prefix)
	if err != nil {
		return nil, err
	}
	f, out := s.through(), make(chan discovery.Event)
	go func() {
		defer close(out)
		for e := range events {
			for _, told := range f(e) {
				select {
				case out <- told:
				case <-ctx.Done():
				}
			}
		}
	}()
	return out, nil
}

// sees makes a mutant of what it makes of each event by itself.
func sees(id, fault string, killed []string, f func(discovery.Event) []discovery.Event) Mutant {
	return overStore(id, fault, killed, func(s discovery.Store) discovery.Store {
		return seen{s, func() func(discovery.Event) []discovery.Event { return f }}
	})
}

// overBoth names a case over either kind of store.
func overBoth(name string) []string { return []string{name + "-etcd", name + "-file"} }

// as is what is told.
func as(events ...discovery.Event) []discovery.Event { return events }

// DSCFirstList never looks again.
func (Catalogue) DSCFirstList() Mutant {
	return sees("dsc/first-list", "workers are listed once, and changes ignored", overBoth("DSC-002/join"), func(e discovery.Event) []discovery.Event {
		if e.Kind == discovery.Snapshot {
			return as(e)
		}
		return nil
	})
}

// DSCNoDeletes never forgets.
func (Catalogue) DSCNoDeletes() Mutant {
	return sees("dsc/no-deletes", "a record that is taken away is not noticed", slices.Concat(overBoth("DSC-003/leave"), []string{"DSC-003/revoked-etcd"}, overBoth("DSC-004/killed"), overBoth("DSC-014/flaps")), func(e discovery.Event) []discovery.Event {
		if e.Kind == discovery.Delete {
			return nil
		}
		return as(e)
	})
}

// DSCLateDeletes follows deletes four seconds late.
func (Catalogue) DSCLateDeletes() Mutant {
	return overStore("dsc/late-deletes", "a worker whose record is gone is used for four seconds more", append(overBoth("DSC-004/killed"), "DSC-004/longer-etcd"), func(s discovery.Store) discovery.Store {
		return lateDeletes{s}
	})
}

// lateDeletes tells of deletes four seconds late, and of the rest at once.
type lateDeletes struct{ discovery.Store }

func (l lateDeletes) Watch(ctx context.Context, prefix string) (<-chan discovery.Event, error) {
	events, err := l.Store.Watch(ctx, prefix)
	if err != nil {
		return nil, err
	}
	out := make(chan discovery.Event)
	go func() {
		var all sync.WaitGroup
		defer close(out)
		defer all.Wait()
		tell := func(e discovery.Event) {
			select {
			case out <- e:
			case <-ctx.Done():
			}
		}
		for e := range events {
			if e.Kind != discovery.Delete {
				tell(e)
				continue
			}
			all.Go(func() {
				select {
				case <-time.After(4 * time.Second):
					tell(e)
				case <-ctx.Done():
				}
			})
		}
	}()
	return out, nil
}

// DSCNeverBack takes a key that was deleted for dead.
func (Catalogue) DSCNeverBack() Mutant {
	return overStore("dsc/never-back", "a record that comes back under its old key is ignored", append(overBoth("DSC-005/frozen"), overBoth("DSC-014/flaps")...), func(s discovery.Store) discovery.Store {
		return seen{s, func() func(discovery.Event) []discovery.Event {
			dead := map[string]bool{}
			return func(e discovery.Event) []discovery.Event {
				switch {
				case e.Kind == discovery.Delete:
					dead[e.Entry.Key] = true
				case e.Kind == discovery.Put && dead[e.Entry.Key]:
					return nil
				}
				return as(e)
			}
		}}
	})
}

// DSCMerges adds what a new snapshot holds to what there was.
func (Catalogue) DSCMerges() Mutant {
	return overStore("dsc/merges", "what is listed after an interruption is added to what was known", []string{"DSC-007/ghost-etcd", "DSC-007/silent-etcd", "DSC-007/compacted-etcd"}, func(s discovery.Store) discovery.Store {
		return seen{s, func() func(discovery.Event) []discovery.Event {
			first := true
			return func(e discovery.Event) []discovery.Event {
				if e.Kind != discovery.Snapshot || first {
					first = false
					return as(e)
				}
				var puts []discovery.Event
				for _, x := range e.Entries {
					puts = append(puts, discovery.Event{Kind: discovery.Put, Entry: x})
				}
				return puts
			}
		}}
	})
}

// DSCEmpties takes a store that is out of reach for an empty one.
func (Catalogue) DSCEmpties() Mutant {
	return overStore("dsc/empties", "when the store cannot be reached there are no workers", []string{"DSC-006/cut-etcd", "DSC-006/half-open-etcd", "DSC-006/stopped-etcd"}, func(s discovery.Store) discovery.Store {
		return asking{Store: s}
	})
}

// DSCRelists takes what is not in a new list for gone, for whatever reason.
func (Catalogue) DSCRelists() Mutant {
	return overStore("dsc/relists", "a record that cannot be read is taken for gone", []string{"DSC-009/last-good-file", "DSC-009/half-file"}, func(s discovery.Store) discovery.Store {
		return asking{Store: s, waits: true}
	})
}

// asking lists the store again and again and tells what it hears; that there is nothing,
// if it hears nothing, unless it waits.
type asking struct {
	discovery.Store
	waits bool
	every time.Duration // 0: 200 ms
	fails func() bool   // says that a list fails; nil: none does
}

func (a asking) Watch(ctx context.Context, prefix string) (<-chan discovery.Event, error) {
	out := make(chan discovery.Event)
	go func() {
		defer close(out)
		for ctx.Err() == nil {
			limited, cancel := context.WithTimeout(ctx, time.Second)
			all, err := a.List(limited, prefix)
			cancel()
			if failed := err != nil || a.fails != nil && a.fails(); !failed || !a.waits {
				select {
				case out <- discovery.Event{Kind: discovery.Snapshot, Entries: all}:
				case <-ctx.Done():
				}
			}
			select {
			case <-time.After(cmp.Or(a.every, 200*time.Millisecond)):
			case <-ctx.Done():
			}
		}
	}()
	return out, nil
}

// bad says whether a record cannot be used.
func bad(value []byte) bool {
	_, err := discovery.DecodeRecord(value)
	return err != nil
}

// DSCStumbles gives up over a record that it cannot read.
func (Catalogue) DSCStumbles() Mutant {
	return overStore("dsc/stumbles", "nothing is followed any more once a record cannot be read", []string{"DSC-008/bad-etcd"}, func(s discovery.Store) discovery.Store {
		return seen{s, func() func(discovery.Event) []discovery.Event {
			over := false
			return func(e discovery.Event) []discovery.Event {
				if over = over || e.Kind == discovery.Put && bad(e.Entry.Value); over {
					return nil
				}
				return as(e)
			}
		}}
	})
}

// DSCListFails reads all files or none.
func (Catalogue) DSCListFails() Mutant {
	return at("dsc/list-fails", "one file that is no record makes every list fail", []string{"DSC-008/bad-file"}, func(s discovery.Store, where target.StoreAt) discovery.Store {
		return asking{Store: s, waits: true, fails: func() bool {
			files, _ := filepath.Glob(filepath.Join(where.Root, "*"))
			return slices.ContainsFunc(files, func(f string) bool {
				b, _ := os.ReadFile(f)
				return !bytes.HasPrefix(b, []byte(`{"ttl"`))
			})
		}}
	})
}

// DSCDropsBad takes a worker out whose record goes bad.
func (Catalogue) DSCDropsBad() Mutant {
	return sees("dsc/drops-bad", "a worker whose record goes bad is taken for gone", []string{"DSC-009/last-good-etcd"}, func(e discovery.Event) []discovery.Event {
		if e.Kind == discovery.Put && bad(e.Entry.Value) {
			e.Kind, e.Entry.Value = discovery.Delete, nil
		}
		return as(e)
	})
}

// DSCKnowsBetter ignores what a record that it knows says now.
func (Catalogue) DSCKnowsBetter() Mutant {
	return overStore("dsc/knows-better", "a record under a known key is not read again", overBoth("DSC-010/moved"), func(s discovery.Store) discovery.Store {
		return seen{s, func() func(discovery.Event) []discovery.Event {
			known := map[string]bool{}
			return func(e discovery.Event) []discovery.Event {
				for _, x := range e.Entries {
					known[x.Key] = true
				}
				switch {
				case e.Kind == discovery.Delete:
					delete(known, e.Entry.Key)
				case e.Kind == discovery.Put && known[e.Entry.Key]:
					return nil
				case e.Kind == discovery.Put:
					known[e.Entry.Key] = true
				}
				return as(e)
			}
		}}
	})
}

// DSCNewNames takes each look for one at new workers.
func (Catalogue) DSCNewNames() Mutant {
	return overStore("dsc/new-names", "workers are new ones whenever the store is looked at again", overBoth("DSC-001/session"), func(s discovery.Store) discovery.Store {
		return seen{asking{Store: s, waits: true, every: 10 * time.Millisecond}, func() func(discovery.Event) []discovery.Event {
			return func(e discovery.Event) []discovery.Event {
				stamp := []byte(`"incarnation":"` + time.Now().Format("150405.000000000"))
				for i := range e.Entries {
					e.Entries[i].Value = bytes.Replace(e.Entries[i].Value, []byte(`"incarnation":"`), stamp, 1)
				}
				return as(e)
			}
		}}
	})
}

// DSCClaims leaves a record of each session in the store.
func (Catalogue) DSCClaims() Mutant {
	return Mutant{
		ID: "dsc/claims", Fault: "each session is claimed in the store", KilledBy: overBoth("DSC-011/sessions"),
		New: func(c target.LocalConfig) (target.Local, error) {
			var store discovery.Store
			r, err := routerOf(c, func(_ *router.Config, p *router.Parts) {
				inner := p.Sessions
				p.Sessions = sessions(func(r *http.Request) string {
					id := inner.Session(r)
					if id != "" {
						_ = store.Put(r.Context(), "claims/"+id, []byte("claimed"), nil)
					}
					return id
				})
			})
			if err != nil {
				return nil, err
			}
			return target.Following(r, c.Store, func(s discovery.Store) discovery.Store { store = s; return s })
		},
	}
}
