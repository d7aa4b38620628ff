package affinity

import "strconv"

// Rank is an optional data-parallel rank. The zero value is no rank; rank 0 is a
// rank like any other.
type Rank struct {
	n   uint32
	set bool
}

// RankOf returns the rank with the number.
func RankOf(n uint32) Rank { return Rank{n, true} }

// Value returns the rank's number; ok is false if there is no rank.
func (r Rank) Value() (n uint32, ok bool) { return r.n, r.set }

// String returns the number, or "none".
func (r Rank) String() string {
	if !r.set {
		return "none"
	}
	return strconv.FormatUint(uint64(r.n), 10)
}

// Target is where requests go: a worker and, where it matters, one of its ranks.
// The zero value is no target. A worker's name is opaque, and one incarnation's
// must differ from the next one's.
type Target struct {
	Worker string
	Rank   Rank
}

// String returns a description for messages.
func (t Target) String() string {
	switch {
	case t.Worker == "":
		return "no worker"
	case !t.Rank.set:
		return strconv.Quote(t.Worker)
	}
	return strconv.Quote(t.Worker) + " rank " + t.Rank.String()
}

// meets says whether t is what was wished for: the same worker, and the same
// rank where the wish has one. It is the one rule for a binding under a pin, for
// a first dispatch under a pin, and for a later dispatch under a binding: each
// may add a rank that the other side lacks, none may drop or change one.
func (t Target) meets(wish Target) bool {
	return wish.Worker == "" || t.Worker == wish.Worker && (!wish.Rank.set || t.Rank == wish.Rank)
}
