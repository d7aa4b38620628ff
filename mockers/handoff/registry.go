// Package handoff is a fleet's record of hand-offs: KV blocks that a prefill
// worker keeps for one decode worker to fetch. Each can be used once, and only
// while the incarnation that issued it lives. The package opens no connection
// and knows no HTTP; workers tell it what happens.
package handoff

import (
	"strconv"
	"strings"
	"sync"

	"github.com/routeproof/routeproof/mockers/ledger"
)

// Limit is how many hand-offs the registry of a fleet remembers.
const Limit = 1 << 16

// Party is one side of a hand-off.
type Party struct {
	Worker      string `json:"worker"`
	Incarnation int    `json:"incarnation"`
	Rank        int    `json:"rank"`    // data-parallel rank, ledger.NoRank for none
	Attempt     int    `json:"attempt"` // Seq in the ledger
}

// Ticket is what the parameters of an answer, and then of a request, say of a
// hand-off.
type Ticket struct {
	ID     string // unique in a fleet
	Engine string
	Host   string
	Port   int
	Blocks []int
	Tokens int   // of the prompt
	Lease  int64 // odd and above 2^53, so that no float64 holds it
}

// Record is one hand-off.
type Record struct {
	ID       string         `json:"id"`
	Engine   string         `json:"engine"`
	Model    string         `json:"model"`
	Issued   Party          `json:"issued"`
	Consumed *Party         `json:"consumed"` // null while nobody has fetched the blocks
	Refused  int            `json:"refused"`  // uses that came to nothing; which, the attempts say
	Outcome  ledger.Outcome `json:"outcome"`  // consumed, issuer-gone or never-consumed
}

// entry is a record and what it is checked against.
type entry struct {
	Record
	host         string
	port, tokens int
	lease        int64
	first, count int // block ids are consecutive
}

// Registry remembers the youngest hand-offs of a fleet, up to its limit. What it
// forgets it counts, and a use of it is told from a use of what never was. All
// methods are safe for concurrent use.
type Registry struct {
	limit int

	mu      sync.Mutex
	kept    []*entry // ring: hand-off number n lies at n % limit
	byID    map[string]*entry
	issued  int            // how many there were; the number of the next
	blocks  int            // next block id
	retired map[string]int // worker -> its youngest incarnation that is gone
}

// New makes an empty registry that remembers limit hand-offs, at least 1.
func New(limit int) *Registry {
	return &Registry{limit: max(limit, 1), byID: map[string]*entry{}, retired: map[string]int{}}
}

// maxBlockID bounds block ids, as the size of a GPU's memory does.
const maxBlockID = 1 << 20

// firstLease is the first odd number that no float64 holds.
const firstLease = 1<<53 + 1

// Issue records a new hand-off of that many blocks and completes its ticket with
// ID, Blocks and Lease. The ID is the name of the request with the hand-off's number.
func (r *Registry) Issue(t Ticket, request, model string, by Party, blocks int) Ticket {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.ID = request + "-" + strconv.Itoa(r.issued)
	e := &entry{
		Record: Record{ID: t.ID, Engine: t.Engine, Model: model, Issued: by},
		host:   t.Host, port: t.Port, tokens: t.Tokens, lease: firstLease + 2*int64(r.issued), first: r.blocks, count: max(blocks, 1),
	}
	t.Lease = e.lease
	if r.blocks += e.count; r.blocks >= maxBlockID {
		r.blocks = 0
	}
	if len(r.kept) < r.limit {
		r.kept = append(r.kept, e)
	} else {
		at := r.issued % r.limit
		delete(r.byID, r.kept[at].ID)
		r.kept[at] = e
	}
	r.byID[e.ID] = e
	r.issued++
	t.Blocks = make([]int, e.count)
	for i := range t.Blocks {
		t.Blocks[i] = e.first + i
	}
	return t
}

// Use tries to fetch the blocks that a ticket names, for a request for model. It
// returns Consumed, Unknown, Forgotten, Altered, WrongModel, Reused or
// IssuerGone, and the Seq of the attempt that issued the hand-off or
// ledger.NoIssuer. Only Consumed uses the hand-off up.
func (r *Registry) Use(t Ticket, model string, by Party) (outcome ledger.Outcome, issuer int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byID[t.ID]
	if e == nil {
		if r.number(t.ID) < r.forgotten() {
			return ledger.Forgotten, ledger.NoIssuer
		}
		return ledger.Unknown, ledger.NoIssuer
	}
	switch {
	case t.Engine != e.Engine || t.Host != e.host || t.Port != e.port || t.Tokens != e.tokens || t.Lease != e.lease || !e.holds(t.Blocks):
		outcome = ledger.Altered
	case model != e.Model:
		outcome = ledger.WrongModel
	case e.Consumed != nil:
		outcome = ledger.Reused
	case r.gone(e):
		outcome = ledger.IssuerGone
	default:
		e.Consumed = &by
		return ledger.Consumed, e.Issued.Attempt
	}
	e.Refused++
	return outcome, e.Issued.Attempt
}

// Gone records that an incarnation of a worker has ended, and its memory with
// it. What it issued, before or in its last moment, can no longer be used.
func (r *Registry) Gone(worker string, incarnation int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retired[worker] = max(r.retired[worker], incarnation)
}

// Len is how many hand-offs have been issued, forgotten ones included.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.issued
}

// Snapshot returns the hand-offs from number from on, oldest first, and how many
// of those asked for have been forgotten.
func (r *Registry) Snapshot(from int) (all []Record, forgotten int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from = min(max(from, 0), r.issued)
	begin := max(from, r.forgotten())
	all = make([]Record, 0, r.issued-begin)
	for n := begin; n < r.issued; n++ {
		e := r.kept[n%r.limit]
		c := e.Record
		switch {
		case e.Consumed != nil:
			by := *e.Consumed
			c.Consumed, c.Outcome = &by, ledger.Consumed
		case r.gone(e):
			c.Outcome = ledger.IssuerGone
		default:
			c.Outcome = ledger.NeverConsumed
		}
		all = append(all, c)
	}
	return all, begin - from
}

func (r *Registry) gone(e *entry) bool { return r.retired[e.Issued.Worker] >= e.Issued.Incarnation }

// forgotten is the number of the oldest hand-off that is remembered.
func (r *Registry) forgotten() int { return r.issued - len(r.kept) }

// number reads the number off an ID; what has none gets one that is not issued.
func (r *Registry) number(id string) int {
	n, err := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:])
	if err != nil || n < 0 {
		return r.issued
	}
	return n
}

func (e *entry) holds(blocks []int) bool {
	for i, b := range blocks {
		if b != e.first+i {
			return false
		}
	}
	return len(blocks) == e.count
}
