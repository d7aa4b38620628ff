package sessionindex

import (
	"fmt"
	"time"
)

// Defaults.
const (
	DefaultSessions  = 16384
	DefaultRetention = 5 * time.Minute
)

// Config shapes a Core, or an Index.
type Config struct {
	// Sessions is the most sessions held at a time; one more, and the least recently
	// used one goes. 0 means DefaultSessions.
	Sessions int
	// Retention is how long a block stays known that is no frontier and has no child.
	// At exactly this age it may go. 0 means DefaultRetention.
	Retention time.Duration
	// Lane is how many enqueued events of one rank may wait; a Core has no lanes. 0 means
	// DefaultLane.
	Lane int
}

// withDefaults returns the config with zero values filled in, or an error that
// names the bad setting.
func (c Config) withDefaults() (Config, error) {
	if c.Sessions < 0 {
		return c, fmt.Errorf("sessions %d is negative: set the most sessions to hold, or 0 for %d", c.Sessions, DefaultSessions)
	}
	if c.Retention < 0 {
		return c, fmt.Errorf("retention %v is negative: set a duration, or 0 for %v", c.Retention, DefaultRetention)
	}
	if c.Lane < 0 {
		return c, fmt.Errorf("lane %d is negative: set the most events of a rank that may wait, or 0 for %d", c.Lane, DefaultLane)
	}
	if c.Sessions == 0 {
		c.Sessions = DefaultSessions
	}
	if c.Retention == 0 {
		c.Retention = DefaultRetention
	}
	if c.Lane == 0 {
		c.Lane = DefaultLane
	}
	return c, nil
}
