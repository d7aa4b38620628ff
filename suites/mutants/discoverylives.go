package mutants

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
	"github.com/routeproof/routeproof/suites/target"
)

// DSCByAddress has one entry for each address.
func (Catalogue) DSCByAddress() Mutant {
	return overStore("dsc/by-address", "when a record goes, so does every worker at its address", overBoth("DSC-013/two-lives"), func(s discovery.Store) discovery.Store {
		return seen{s, func() func(discovery.Event) []discovery.Event {
			at := map[string]string{} // by key
			return func(e discovery.Event) (told []discovery.Event) {
				for _, x := range append(e.Entries, e.Entry) {
					if w, err := discovery.DecodeRecord(x.Value); err == nil {
						at[x.Key] = w.URL
					}
				}
				if e.Kind != discovery.Delete {
					return as(e)
				}
				for key, url := range at {
					if url == at[e.Entry.Key] {
						told = append(told, discovery.Event{Kind: discovery.Delete, Entry: discovery.Entry{Key: key}})
					}
				}
				return told
			}
		}}
	})
}

// DSCKeepsAddress compares what is listed after an interruption by its keys.
func (Catalogue) DSCKeepsAddress() Mutant {
	return overStore("dsc/keeps-address", "what is listed after an interruption is compared by its keys, and a record under a known one not read", []string{"DSC-007/moved-etcd"}, func(s discovery.Store) discovery.Store {
		return seen{s, func() func(discovery.Event) []discovery.Event {
			known := map[string]discovery.Entry{}
			return func(e discovery.Event) []discovery.Event {
				for i, x := range e.Entries {
					if old, ok := known[x.Key]; ok {
						e.Entries[i] = old
					} else {
						known[x.Key] = x
					}
				}
				if e.Kind == discovery.Put {
					known[e.Entry.Key] = e.Entry
				}
				return as(e)
			}
		}}
	})
}

// DSCGivesUp follows nothing if its first look fails.
func (Catalogue) DSCGivesUp() Mutant {
	return overStore("dsc/gives-up", "when the store cannot be reached at the start it is not asked again", []string{"DSC-012/start-etcd"}, func(s discovery.Store) discovery.Store {
		return gives{s}
	})
}

// gives is up when the first look fails.
type gives struct{ discovery.Store }

func (g gives) Watch(ctx context.Context, prefix string) (<-chan discovery.Event, error) {
	limited, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	if _, err := g.List(limited, prefix); err == nil {
		return g.Store.Watch(ctx, prefix)
	}
	never := make(chan discovery.Event)
	context.AfterFunc(ctx, func() { close(never) })
	return never, nil
}

// page is how many records a mutant reads that reads one page of them.
const page = 250

// DSCFirstPage reads no further.
func (Catalogue) DSCFirstPage() Mutant {
	return at("dsc/first-page", "of more than 250 records the first 250 are read, in the order of their keys", overBoth("DSC-008/flood"), func(s discovery.Store, where target.StoreAt) discovery.Store {
		return seen{asking{Store: s, waits: true}, func() func(discovery.Event) []discovery.Event {
			return func(e discovery.Event) []discovery.Event {
				if where.Kind == target.StoreFile { // whose lists hold no record that cannot be read
					first := names(where.Root)
					first = first[:min(page, len(first))]
					e.Entries = slices.DeleteFunc(e.Entries, func(x discovery.Entry) bool { return !slices.Contains(first, x.Key) })
					return as(e)
				}
				slices.SortFunc(e.Entries, func(a, b discovery.Entry) int { return strings.Compare(a.Key, b.Key) })
				e.Entries = e.Entries[:min(page, len(e.Entries))]
				return as(e)
			}
		}}
	})
}
