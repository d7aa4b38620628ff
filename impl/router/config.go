package router

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/selection"
)

// AtCapacity says what a new session gets when the session table is full and
// nothing in it has expired.
type AtCapacity string

// What to do at capacity.
const (
	Refuse   AtCapacity = "refuse"   // 503 with Retry-After
	Unpinned AtCapacity = "unpinned" // routed as if it had no session
	Evict    AtCapacity = "evict"    // the binding idle for longest ends
)

// Defaults of Config.
const (
	DefaultHeaderTimeout = 30 * time.Second
	DefaultMaxAttempts   = 3
	DefaultMaxBody       = 64 << 20
)

// Config shapes a Router. Zero values mean the defaults.
type Config struct {
	Policy string // a name that selection.ByName knows; default round-robin
	Seed   uint64 // of every random choice

	IdleTTL    time.Duration // of a session's binding; 0 turns affinity off
	Capacity   int           // most sessions held; default affinity.DefaultCapacity
	AtCapacity AtCapacity    // default Refuse
	InitWait   time.Duration // longest wait behind a session's first request; default affinity.DefaultInitWait

	// SessionHeaders are the headers that may carry a session id; the first that
	// holds a usable one wins. Default: DefaultSessionHeaders.
	SessionHeaders []string

	// TenantHeader is the header whose first value, without outer blanks, is part of
	// a session's key: the same id under two tenants is two sessions. A request
	// without it belongs to the tenant without a name. Default: "", no tenants.
	TenantHeader string

	// Aliases are other names of models: alias -> the name that workers serve it under.
	// A request that names a model by its alias is one for that model in every way, and
	// is sent on with the model's own name, for a worker knows no names but those that
	// it lists. An alias counts before a model of the same name. Default: none.
	Aliases map[string]string

	HeaderTimeout time.Duration // longest wait for a worker's response headers; default 30 s
	MaxBody       int64         // largest request body, in bytes; default 64 MiB

	// MaxAttempts is how many workers of a phase may be tried for one request, at least
	// 1; default 3. DefaultFailover tries two at most where a header timeout passes, and
	// goes elsewhere once, over both phases, for a request whose session was bound.
	MaxAttempts int
}

// withDefaults fills zero values in.
func (c Config) withDefaults() Config {
	if c.Policy == "" {
		c.Policy = selection.NameRoundRobin
	}
	if c.AtCapacity == "" {
		c.AtCapacity = Refuse
	}
	if c.SessionHeaders == nil {
		c.SessionHeaders = DefaultSessionHeaders()
	}
	if c.HeaderTimeout == 0 {
		c.HeaderTimeout = DefaultHeaderTimeout
	}
	if c.MaxAttempts == 0 {
		c.MaxAttempts = DefaultMaxAttempts
	}
	if c.MaxBody == 0 {
		c.MaxBody = DefaultMaxBody
	}
	return c
}

// Validate returns nil, or an error that names the setting, its value and what
// to write instead.
func (c Config) Validate() error {
	c = c.withDefaults()
	if _, err := selection.ByName(c.Policy, c.Seed); err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	switch c.AtCapacity {
	case Refuse, Unpinned, Evict:
	default:
		return fmt.Errorf("atCapacity %q is unknown: use one of %s, %s, %s", c.AtCapacity, Refuse, Unpinned, Evict)
	}
	if c.IdleTTL != 0 {
		if _, err := affinity.New(c.affinity(), affinity.SystemClock{}); err != nil {
			return err
		}
	}
	for i, h := range c.SessionHeaders {
		if !validHeaderName(h) {
			return fmt.Errorf("sessionHeaders[%d] %q is not a header name: use letters, digits and hyphens", i, h)
		}
		if slices.ContainsFunc(c.SessionHeaders[:i], func(earlier string) bool { return strings.EqualFold(earlier, h) }) {
			return fmt.Errorf("sessionHeaders[%d] %q is listed twice: list each header once", i, h)
		}
	}
	if c.TenantHeader != "" && !validHeaderName(c.TenantHeader) {
		return fmt.Errorf("tenantHeader %q is not a header name: use letters, digits and hyphens, or leave it out for no tenants", c.TenantHeader)
	}
	for alias, model := range c.Aliases {
		switch {
		case alias == "" || model == "":
			return fmt.Errorf("aliases: %q means %q: write ALIAS: MODEL, neither of them empty", alias, model)
		case c.Aliases[model] != "":
			return fmt.Errorf("aliases: %q means %q, which is an alias itself: name the model", alias, model)
		}
	}
	switch {
	case c.Capacity < 0:
		return fmt.Errorf("capacity %d is negative: set the most sessions to hold, or 0 for %d", c.Capacity, affinity.DefaultCapacity)
	case c.InitWait < 0:
		return fmt.Errorf("initWait %v is negative: set a duration, or 0 for %v", c.InitWait, affinity.DefaultInitWait)
	case c.HeaderTimeout < 0:
		return fmt.Errorf("headerTimeout %v is negative: set a duration, or 0 for %v", c.HeaderTimeout, DefaultHeaderTimeout)
	case c.MaxAttempts < 0:
		return fmt.Errorf("maxAttempts %d is negative: set at least 1, or 0 for %d", c.MaxAttempts, DefaultMaxAttempts)
	case c.MaxBody < 0:
		return fmt.Errorf("maxBody %d is negative: set a number of bytes, or 0 for %d", c.MaxBody, DefaultMaxBody)
	}
	return nil
}

func (c Config) affinity() affinity.Config {
	return affinity.Config{
		IdleTTL:  c.IdleTTL,
		Capacity: c.Capacity,
		InitWait: c.InitWait,
		Evict:    c.AtCapacity == Evict,
	}
}
