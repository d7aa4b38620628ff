package registrar

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Op is what a registrar did.
type Op string

// What a registrar does. Refresh, Lapsed and Missed come from keep-alives, the
// others from calls.
const (
	Registered   Op = "registered"
	Refreshed    Op = "refreshed" // the record's life began anew
	Lapsed       Op = "lapsed"    // a refresh found the record gone
	Missed       Op = "missed"    // a refresh failed; it is tried again
	Updated      Op = "updated"
	Unregistered Op = "unregistered"
	Abandoned    Op = "abandoned"
	Frozen       Op = "frozen"
	Thawed       Op = "thawed"
	Put          Op = "put"     // raw bytes
	Deleted      Op = "deleted" // raw
	Fault        Op = "fault"   // anything else that was done to the store
)

// Event is one thing done. What it did took effect between Began and Done; both
// carry the monotonic clock.
type Event struct {
	Began, Done time.Time
	Op          Op
	Key         string // empty: the whole store
	Detail      string // the lease, the fault's name
	Err         error  // nil: it was done; else it may have been done or not
}

func (e Event) String() string {
	s := fmt.Sprintf("%s %s", e.Op, e.Key)
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Log is an append-only list of events, safe for concurrent use. The zero value
// is empty.
type Log struct {
	mu     sync.Mutex
	events []Event
}

// Add appends an event that began then and is done now.
func (l *Log) Add(began time.Time, op Op, key, detail string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, Event{Began: began, Done: time.Now(), Op: op, Key: key, Detail: detail, Err: err})
}

// Events is a copy of the events from number `from` on, in the order of their ends.
func (l *Log) Events(from int) []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events[min(max(from, 0), len(l.events)):])
}

// Last is the latest successful event of a key among the given kinds.
func (l *Log) Last(key string, ops ...Op) (Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.events) {
		if e.Key == key && e.Err == nil && slices.Contains(ops, e.Op) {
			return e, true
		}
	}
	return Event{}, false
}

// LastAlive is the event with which the life of a key's record last began anew:
// its owner being dead since, it runs out one TTL after that event at the latest.
func (l *Log) LastAlive(key string) (Event, bool) { return l.Last(key, Registered, Refreshed) }
