package discovery

import (
	"context"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Changes are gathered for a little while before a new set is handed over, so that
// a fleet that starts at once does not cost a set for each of its workers: at least
// minGather, and four times as long as the last handing over took, up to maxGather.
const (
	minGather = 2 * time.Millisecond
	maxGather = 50 * time.Millisecond
)

// Follower turns the records of a store into a worker set.
type Follower struct {
	store  Store
	prefix string
	sink   func([]Worker) error
	log    *slog.Logger

	records map[string]Worker // by key: the last good value of each
	bad     map[string]uint64 // by key: a hash of the bad value that was counted
	gone    map[string]bool   // ids that lost a record since the last set was handed over
	given   []Worker          // the last set
	primed  bool              // a set was handed over
	seed    maphash.Seed

	mu    sync.Mutex
	stats FollowerStats
}

// FollowerStats counts what a Follower has done.
type FollowerStats struct {
	Records   int    // good records now, of which several may be of one worker
	Workers   int    // workers in the set now
	Skipped   uint64 // bad values met: each counts once, until it changes
	Snapshots uint64 // 1 once the store has answered, and one more for each interruption
	Sets      uint64 // sets handed over
}

// NewFollower makes a follower of what is below the prefix. The sink gets every new
// set: sorted by id, each id once, valid, not to be changed; its error is logged.
// The empty set is handed over too.
func NewFollower(store Store, prefix string, sink func([]Worker) error, log *slog.Logger) *Follower {
	return &Follower{
		store: store, prefix: prefix, sink: sink, log: log, seed: maphash.MakeSeed(),
		records: make(map[string]Worker), bad: make(map[string]uint64), gone: make(map[string]bool),
	}
}

// Stats returns the counts.
func (f *Follower) Stats() FollowerStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stats
}

// Run follows until ctx ends, and then returns nil; it is to be called once. It
// returns an error if the watch ends by itself: for a bad prefix or a closed store.
//
// A record that is corrupt, or of a worker that Validate refuses, is skipped, counted
// and logged once; if it was good before, its last good value stays until the record
// is deleted or expires. While the store is out of reach the last set stays. Of two
// records of one worker the newer one counts. A worker that left and came back is
// never reported as if it had stayed, if the store tells both.
func (f *Follower) Run(ctx context.Context) error {
	events, err := f.store.Watch(ctx, f.prefix)
	if err != nil {
		return err
	}
	gather := time.NewTimer(time.Hour)
	defer gather.Stop()
	gather.Stop()
	waiting, pause := false, minGather
	for {
		select {
		case e, ok := <-events:
			switch {
			case !ok && ctx.Err() != nil:
				return nil
			case !ok:
				return ErrClosed
			}
			if e.Kind == Put && f.returns(e.Entry) || e.Kind == Snapshot && waiting {
				pause = f.hand()
			}
			f.apply(e)
			if e.Kind == Snapshot {
				pause, waiting = f.hand(), false
				gather.Stop()
			} else if !waiting {
				waiting = true
				gather.Reset(pause)
			}
		case <-gather.C:
			waiting = false
			pause = f.hand()
		}
	}
}

// returns says whether a record brings a worker back whose leaving has not been
// handed over yet.
func (f *Follower) returns(e Entry) bool {
	if len(f.gone) == 0 {
		return false
	}
	w, err := DecodeRecord(e.Value)
	return err == nil && f.gone[w.ID]
}

func (f *Follower) apply(e Event) {
	switch e.Kind {
	case Snapshot:
		old := f.records
		f.records = make(map[string]Worker, len(e.Entries))
		bad := make(map[string]uint64)
		for _, entry := range e.Entries {
			if w, ok := old[entry.Key]; ok {
				f.records[entry.Key] = w // what it stays if its value is bad now
			}
			if h, ok := f.bad[entry.Key]; ok {
				bad[entry.Key] = h
			}
		}
		f.bad = bad
		for _, entry := range e.Entries {
			f.read(entry)
		}
		f.count(func(s *FollowerStats) { s.Snapshots++ })
	case Put:
		f.read(e.Entry)
	case Delete:
		if w, ok := f.records[e.Entry.Key]; ok {
			f.gone[w.ID] = true
		}
		delete(f.records, e.Entry.Key)
		delete(f.bad, e.Entry.Key)
	}
}

// read takes one record in.
func (f *Follower) read(e Entry) {
	w, err := DecodeRecord(e.Value)
	if err == nil {
		f.records[e.Key] = w
		delete(f.bad, e.Key)
		return
	}
	h := maphash.Bytes(f.seed, e.Value)
	if known, ok := f.bad[e.Key]; ok && known == h {
		return
	}
	f.bad[e.Key] = h
	f.count(func(s *FollowerStats) { s.Skipped++ })
	_, kept := f.records[e.Key]
	f.log.Warn("bad record of a worker; fix or delete it", "key", e.Key, "error", err.Error(), "last good value kept", kept)
}

// hand hands the set over if it is new, and returns how long to gather before the
// next one.
func (f *Follower) hand() time.Duration {
	clear(f.gone)
	set := f.set()
	f.count(func(s *FollowerStats) { s.Records, s.Workers = len(f.records), len(set) })
	if f.primed && slices.EqualFunc(set, f.given, same) {
		return minGather
	}
	f.given, f.primed = set, true
	began := time.Now()
	err := f.sink(set)
	took := time.Since(began)
	f.count(func(s *FollowerStats) { s.Sets++ })
	if err != nil {
		f.log.Error("worker set refused", "workers", len(set), "error", err.Error())
	}
	return min(max(4*took, minGather), maxGather)
}

// set returns the newest record of each worker, sorted by id.
func (f *Follower) set() []Worker {
	newest := make(map[string]string, len(f.records)) // key by id
	for key, w := range f.records {
		if other, ok := newest[w.ID]; !ok || f.newer(key, other) {
			newest[w.ID] = key
		}
	}
	set := make([]Worker, 0, len(newest))
	for _, id := range slices.Sorted(maps.Keys(newest)) {
		set = append(set, f.records[newest[id]])
	}
	return set
}

// newer says whether the record under one key is newer than that under another.
func (f *Follower) newer(key, other string) bool {
	c := compareIncarnations(f.records[key].Incarnation, f.records[other].Incarnation)
	return c > 0 || c == 0 && strings.Compare(key, other) > 0
}

func (f *Follower) count(change func(*FollowerStats)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.stats)
}

func same(a, b Worker) bool {
	return a.ID == b.ID && a.URL == b.URL && a.Incarnation == b.Incarnation && a.Role == b.Role && a.Ranks == b.Ranks &&
		slices.Equal(a.Models, b.Models)
}
