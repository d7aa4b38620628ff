package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What a store's calls fail with, besides that the store is out of reach.
var (
	ErrExists    = errors.New("the key exists with another value")
	ErrMissing   = errors.New("the key does not exist")
	ErrChanged   = errors.New("the key holds another value than expected")
	ErrInvalid   = errors.New("cannot be stored")
	ErrLeaseLost = errors.New("the lease has ended")
	ErrClosed    = errors.New("the store is closed")
)

// Store holds small values under keys for processes that cannot see each other.
//
// Keys are slash-separated paths relative to the root that the store was opened
// with; CheckKey says what they may look like. A prefix is such a path too and
// means what lies below it: a/b means a/b/c, but neither a/b nor a/bc. The empty
// prefix means everything. All methods are safe for concurrent use, and end with
// their context. While a store is out of reach they fail; they never answer from
// memory.
type Store interface {
	// Create puts a value where there is none. Where there is one already it
	// returns ErrExists, unless that value is the same: then the record passes to
	// the given lease, which makes it safe to create again when the outcome of the
	// first attempt is not known. A nil lease makes a record that never expires.
	Create(ctx context.Context, key string, value []byte, lease Lease) error

	// Put puts a value, whatever was there before.
	Put(ctx context.Context, key string, value []byte, lease Lease) error

	// Replace puts a value in place of another, under the lease which that had. It
	// returns ErrMissing if there is none and ErrChanged if there is another; it
	// never creates.
	Replace(ctx context.Context, key string, old, value []byte) error

	// Delete removes a key. It is no error if there is none.
	Delete(ctx context.Context, key string) error

	// List returns what is below the prefix and has not expired, sorted by key.
	// What cannot be read is left out, counted, and never fails the list.
	List(ctx context.Context, prefix string) ([]Entry, error)

	// Watch follows what is below the prefix until ctx ends or the store is
	// closed; then the channel is closed. The first event is one Snapshot, which
	// comes once the store has been reached; changes follow it, none of which is
	// lost between the two. After an interruption another Snapshot replaces
	// everything that was said before. A reader who is slow holds the watch up and
	// loses nothing but intermediate values. The error is that of a bad prefix or
	// a closed store.
	Watch(ctx context.Context, prefix string) (<-chan Event, error)

	// Grant returns a lease that keeps itself alive. The time to live is checked
	// with CheckTTL; a store may grant a longer one.
	Grant(ctx context.Context, ttl time.Duration) (Lease, error)

	// Close ends watches and keep-alives, and frees what the store holds. It
	// removes no record: those under leases that are not closed expire. Calling it
	// again does nothing.
	Close() error
}

// Lease is the life of the records that were stored with it.
type Lease interface {
	// TTL is how long records outlive the last keep-alive.
	TTL() time.Duration

	// Lost is closed when the lease has ended without Close: it could not be kept
	// alive in time, or the store forgot it, or one of its records was removed or
	// taken over by somebody else, or the store was closed. It stays open after Close.
	Lost() <-chan struct{}

	// Close removes the records of the lease and ends it. The error says that they
	// could not be removed, in which case they expire. Calling it again does nothing.
	Close(ctx context.Context) error
}

// Entry is one record of a store.
type Entry struct {
	Key   string
	Value []byte // not to be changed
}

// Kind is the kind of an Event.
type Kind uint8

// Kinds.
const (
	Snapshot Kind = iota // all there is
	Put                  // one key has a new value
	Delete               // one key is gone
)

func (k Kind) String() string { return [...]string{"snapshot", "put", "delete"}[k] }

// Event is what a watch tells.
type Event struct {
	Kind
	Entries []Entry // of a Snapshot, sorted by key
	Entry   Entry   // of a Put; of a Delete its key alone
}

// MinTTL and MaxTTL bound a lease.
const (
	MinTTL = 200 * time.Millisecond
	MaxTTL = 24 * time.Hour
)

// CheckTTL returns an ErrInvalid for a time to live that is out of range.
func CheckTTL(ttl time.Duration) error {
	if ttl < MinTTL || ttl > MaxTTL {
		return fmt.Errorf("time to live %v %w: use %v to %v", ttl, ErrInvalid, MinTTL, MaxTTL)
	}
	return nil
}

// maxKey is the longest key, in bytes.
const maxKey = 512

// CheckKey returns an ErrInvalid for what is no key: at most 512 bytes of
// printable UTF-8, slashes between segments of which none is empty, "." or "..".
func CheckKey(key string) error {
	bad := func(problem string) error { return fmt.Errorf("key %.80q %w: %s", key, ErrInvalid, problem) }
	switch {
	case key == "":
		return bad("name one")
	case len(key) > maxKey:
		return bad(fmt.Sprintf("it has %d bytes, use at most %d", len(key), maxKey))
	case !utf8.ValidString(key):
		return bad("it is not UTF-8")
	case strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }):
		return bad("it holds a control character; escape it")
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return bad(fmt.Sprintf("its segment %q is none; write it like a/b", segment))
		}
	}
	return nil
}

// CheckPrefix returns an ErrInvalid for what is no prefix of keys.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return CheckKey(prefix)
}

// Below says whether a key lies below a prefix.
func Below(prefix, key string) bool {
	if prefix == "" {
		return true
	}
	rest, ok := strings.CutPrefix(key, prefix)
	return ok && len(rest) > 1 && rest[0] == '/'
}
