package adapter

import (
	"encoding/json"
	"math"
	"time"
)

// instance is one library under test, with its time.
type instance struct {
	name       string
	concurrent bool
	clock      *clock
	component
}

// component is a library as every operation that is not its own sees it.
type component interface {
	// moved is called when the clock has moved.
	moved()
	// steps counts what the library has visited so far.
	steps() uint64
}

// components make the libraries, by the protocol's name.
func components() map[string]func(*server, json.RawMessage, *clock) (component, error) {
	return map[string]func(*server, json.RawMessage, *clock) (component, error){
		"affinity": func(s *server, config json.RawMessage, c *clock) (component, error) {
			return newPhases(config, c, s.table)
		},
		"sessionindex": func(s *server, config json.RawMessage, c *clock) (component, error) {
			return newPrefixes(config, c, s.index)
		},
	}
}

// of finds an instance by name, which must be of the operation's component.
func of[T component](s *server, name string) (i *instance, c T, err error) {
	if i, err = s.instance(name); err != nil {
		return nil, c, err
	}
	c, ok := i.component.(T)
	if !ok {
		return nil, c, failf(invalidArgument, "instance %q is of another component, which has no such operation", name)
	}
	return i, c, nil
}

// milliseconds makes a duration; one that is too long for that becomes the longest.
func milliseconds(n int64) time.Duration {
	if n > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(max(n, -1)) * time.Millisecond
}
