// Package registrar puts records of mock workers into a discovery store, in
// whatever format the router under test reads, keeps them alive as their owners
// would, and breaks them on command. The store is etcd (package etcd) or a
// directory (package dir).
//
// A record's key and value are bytes that the caller chose: nothing here knows a
// format. What was done, and when, stands in a Log: without it nobody could say
// whether a worker that is still listed has been listed for too long.
package registrar

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Entry is one record and how long it lives without its owner.
type Entry struct {
	Key   string // etcd: any bytes, at least one; directory: a path below its root, with slashes
	Value []byte
	TTL   time.Duration // etcd: whole seconds, at least one; directory: at least MinTTL
}

// MinTTL is the shortest life of a record: below it a keep-alive, which comes
// three times as often, is at the mercy of the scheduler.
const MinTTL = 100 * time.Millisecond

// Record is what lies in the store under a key.
type Record struct {
	Key      string
	Value    []byte
	Lease    int64     // etcd: the lease that holds it, 0 for none
	Modified time.Time // directory: the file's modification time
	Link     string    // directory: where a symbolic link points, else empty
}

// Lapse is what a keep-alive found when it went on after a pause.
type Lapse int

const (
	// Kept: the record never ran out.
	Kept Lapse = iota
	// Expired: its time had passed, but nobody had taken it away; it is alive
	// again. Only a directory knows this: in etcd the server takes it away.
	Expired
	// Gone: the lease or the file is no more. The keep-alive has ended, unless
	// the registrar was told to put lapsed records again.
	Gone
)

func (l Lapse) String() string {
	switch l {
	case Kept:
		return "kept"
	case Expired:
		return "expired"
	case Gone:
		return "gone"
	}
	return fmt.Sprintf("Lapse(%d)", int(l))
}

// Errors of a Registrar, behind errors that name the key and the remedy.
var (
	ErrClosed  = errors.New("the registrar is closed")
	ErrOwned   = errors.New("the key is kept alive already; use Update, or Unregister or Abandon it first")
	ErrUnowned = errors.New("no record under this key is kept alive; Register it first")
)

// Registrar owns records in one store. It is safe for concurrent use. Every call
// ends with its context at the latest.
type Registrar interface {
	// Register puts the record and keeps it alive. The error is ErrOwned where
	// this registrar keeps the key alive already.
	Register(ctx context.Context, e Entry) error
	// Update replaces the value of a record that is kept alive, within its lease.
	Update(ctx context.Context, key string, value []byte) error
	// Unregister ends the keep-alive and takes the record away, as an owner that
	// leaves tidily. A record that has gone already is no error.
	Unregister(ctx context.Context, key string) error
	// Abandon ends the keep-alive and does nothing else, as the death of the owner.
	Abandon(key string) error
	// Freeze pauses the keep-alive, as SIGSTOP does its owner. When it returns,
	// no refresh is under way.
	Freeze(ctx context.Context, key string) error
	// Thaw goes on, with a refresh at once, and says what had become of the record.
	Thaw(ctx context.Context, key string) (Lapse, error)

	// PutRaw puts bytes under a key, whoever owns it, and keeps nothing alive. A
	// key that this registrar keeps alive stays in its lease.
	PutRaw(ctx context.Context, key string, value []byte) error
	// DeleteRaw takes a record away behind its owner's back. A missing one is no error.
	DeleteRaw(ctx context.Context, key string) error
	// List reads the records, sorted by key.
	List(ctx context.Context) ([]Record, error)
	// RemoveAll takes every record away behind the owners' backs.
	RemoveAll(ctx context.Context) error

	// Log is what was done so far, in order.
	Log() *Log
	// Close unregisters what is still kept alive, abandoned and frozen records
	// excepted, and always returns within a few seconds, whatever the store does.
	Close() error
}

// Check says what is wrong with an entry, whatever the store.
func Check(e Entry) error {
	switch {
	case e.Key == "":
		return errors.New("registrar: an entry without a key; give it one")
	case e.TTL < MinTTL:
		return fmt.Errorf("registrar: %q: TTL %s is too short; use at least %s", e.Key, e.TTL, MinTTL)
	}
	return nil
}
