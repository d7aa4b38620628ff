package fleet

import (
	"cmp"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/discovery"
)

// avoidFor is how long fresh picks avoid a worker after a connection to it
// failed or it let a request time out. Bound sessions and pins still go to it, so
// one failure moves nobody else, and when every worker is avoided none is. Any
// response, whatever its status, ends it.
const avoidFor = time.Second

// member is one incarnation of a worker.
type member struct {
	id, address string
	incarnation string
	role        discovery.Role // never ""
	key         string         // what sessions are bound to: no two incarnations share one
	url         *url.URL
	load        []atomic.Int64 // in flight, by rank; at least one
	avoidUntil  atomic.Int64   // Unix nanoseconds
}

func newMember(w discovery.Worker, u *url.URL, birth int) *member {
	return &member{
		id: w.ID, address: w.URL, incarnation: w.Incarnation, role: cmp.Or(w.Role, discovery.Aggregated),
		key: fmt.Sprintf("%s#%d", w.ID, birth), url: u, load: make([]atomic.Int64, max(w.Ranks, 1)),
	}
}

// is says whether the entry means this incarnation.
func (m *member) is(w discovery.Worker) bool {
	return m.id == w.ID && m.address == w.URL && m.incarnation == w.Incarnation &&
		m.role == cmp.Or(w.Role, discovery.Aggregated) && len(m.load) == max(w.Ranks, 1)
}

func (m *member) total() (n int64) {
	for r := range m.load {
		n += m.load[r].Load()
	}
	return n
}

// Place is a worker and, where it has several or one was asked for, a rank.
type Place struct {
	*member
	rank affinity.Rank
}

// ID returns the worker's id as discovery gives it.
func (p Place) ID() string { return p.id }

// URL returns where the worker is; it is not to be changed.
func (p Place) URL() *url.URL { return p.url }

// Role returns the worker's role, which is never "".
func (p Place) Role() discovery.Role { return p.role }

// Rank returns the rank, or none.
func (p Place) Rank() affinity.Rank { return p.rank }

// Target returns the place as sessions are bound to it. The worker's name in it
// is that of its incarnation.
func (p Place) Target() affinity.Target { return affinity.Target{Worker: p.key, Rank: p.rank} }

// In says whether the worker is fit for what the pool is for.
func (p Place) In(pool Pool) bool { return pool.has(p.role) }

// count adds to what the rank has in flight.
func (p Place) count(by int64) {
	r, _ := p.rank.Value() // without one, all is rank 0's
	p.load[r].Add(by)
}

// Ticket is one request's share of a worker's load.
type Ticket struct {
	Place
	released atomic.Bool
}

// Release takes the request off the load; only the first call counts.
func (t *Ticket) Release() {
	if !t.released.Swap(true) {
		t.count(-1)
	}
}

// Failed notes that the worker could not be reached, or let the request time out.
func (t *Ticket) Failed() { t.avoidUntil.Store(time.Now().Add(avoidFor).UnixNano()) }

// Responded notes that the worker has answered.
func (t *Ticket) Responded() { t.avoidUntil.Store(0) }
