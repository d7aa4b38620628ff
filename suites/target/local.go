package target

import (
	"context"
	"net"
	"time"
)

// Worker is one worker as a target is told about it.
type Worker struct {
	ID    string // unique in the fleet, stable over restarts; letters, digits, - and _
	Host  string // literal address
	Port  int
	URL   string // http://Host:Port
	Model string // the model it serves
	Role  string // aggregated, prefill or decode
	Ranks int    // data-parallel ranks, addressed by the header X-data-parallel-rank; 0 if it knows none
}

// Local is a router inside this process.
type Local interface {
	// SetWorkers replaces the workers; what runs on removed ones may finish.
	SetWorkers([]Worker) error
	// Serve serves until Shutdown, then returns nil or http.ErrServerClosed.
	Serve(net.Listener) error
	// Shutdown lets running requests finish until ctx ends, then cuts them.
	Shutdown(context.Context) error
}

// LocalConfig is what a router inside this process must be made with.
type LocalConfig struct {
	Seed          uint64
	Session       Session
	Models        []string
	Aliases       map[string]string // other names -> those of Models
	HeaderTimeout time.Duration     // how long a worker may take to answer with headers
	Policy        string            // name of the selection policy
	Store         StoreAt           // where it looks for workers; with none, SetWorkers says which there are
}

// LocalFactory makes a router inside this process.
type LocalFactory func(LocalConfig) (Local, error)

// What routers inside this process run with.
const (
	localHeaderTimeout = 10 * time.Second
	localPolicy        = "round-robin"
)
