package sessionindex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// happening is an entry of a diary: what a sequential world would have seen.
type happening struct {
	kind   string // admit, evict, clear, retire, open
	member Member
	name   string // of the incarnation
}

func (h happening) covers(at WorkerRank) bool {
	return h.member.Worker == at.Worker && (h.member.Rank == nil || *h.member.Rank == at.Rank)
}

// diary says by looking back what an event is worth; it keeps no state but the list.
type diary []happening

// open is the rank's open incarnation after the first n entries.
func (d diary) open(n int, at WorkerRank) (name string) {
	for _, h := range d[:n] {
		switch {
		case !h.covers(at):
		case h.kind == "open":
			name = h.name
		case h.kind == "retire":
			name = ""
		}
	}
	return name
}

// since says whether something of these kinds has happened to the rank after entry n.
func (d diary) since(n int, at WorkerRank, kinds ...string) bool {
	return slices.ContainsFunc(d[n:], func(h happening) bool { return h.covers(at) && slices.Contains(kinds, h.kind) })
}

// pending is an admitted event.
type pending struct {
	ticket      Ticket
	session     int
	rank        int
	match       bool
	block       Hash
	incarnation string
	admitted    int // entries of the diary before it
}

// TestRandomSchedules lets stores, matches, evictions, clears, removals and
// registrations of three ranks interleave at random, split where a router may be
// interrupted, and compares each answer and the frontiers with the diary's.
func TestRandomSchedules(t *testing.T) {
	runs, seed := 3000, rand.Uint64()
	if raceDetector || testing.Short() {
		runs = 300
	}
	for nth := range uint64(runs) {
		if err := schedule(t, rand.New(rand.NewPCG(seed, nth))); err != nil {
			t.Fatalf("seed %d, schedule %d: %v", seed, nth, err)
		}
	}
}

func schedule(t *testing.T, dice *rand.Rand) error {
	const sessions, blocks = 2, 6
	r := newRig(t, Config{Sessions: sessions})
	model := &bitModel{limit: sessions, retention: DefaultRetention}
	var d diary
	var waiting []pending
	var removals []Removal
	var dropped []int
	names := []string{"zeroth"}
	discarded := uint64(0)
	held := [bitRanks]set{}
	retire := func(m Member) (lost int) {
		for rank, at := range smallRanks {
			if (happening{member: m}).covers(at) {
				lost += model.clear(0, rank)
			}
		}
		d = append(d, happening{kind: "retire", member: m})
		return lost
	}
	member := func() Member {
		at := smallRanks[dice.IntN(bitRanks)]
		if dice.IntN(2) == 0 {
			return whole(at.Worker)
		}
		return part(at)
	}
	r.register(whole("w"), "zeroth") // so that there is a lifecycle
	d = append(d, happening{"open", whole("w"), "zeroth"})
	for n := range 60 {
		rank := dice.IntN(bitRanks)
		at, b := smallRanks[rank], Hash(dice.IntN(blocks))
		switch dice.IntN(12) {
		default:
			p := pending{session: 1 + dice.IntN(sessions), rank: rank, match: dice.IntN(3) == 0, block: b, admitted: len(d)}
			if p.incarnation = d.open(len(d), at); p.incarnation == "" || dice.IntN(6) == 0 {
				p.incarnation = names[dice.IntN(len(names))]
			}
			if p.match {
				p.ticket = r.admitMatch(smallSessions[p.session], at, p.incarnation, b)
			} else {
				p.ticket = r.admit(smallSessions[p.session], at, p.incarnation, b)
			}
			waiting = append(waiting, p)
		case 4, 5, 6:
			if len(waiting) == 0 {
				continue
			}
			i := dice.IntN(len(waiting))
			p := waiting[i]
			waiting = slices.Delete(waiting, i, i+1)
			at := smallRanks[p.rank]
			counts := d.open(p.admitted, at) == p.incarnation && !d.since(p.admitted, at, "retire", "open")
			if p.match {
				counts = counts && (!d.since(p.admitted, at, "evict", "clear") || held[p.rank].holds(p.block))
			} else {
				counts = counts && !d.since(p.admitted, at, "clear")
			}
			want := Result{Discarded: !counts}
			switch {
			case !counts:
				discarded++
			case p.match:
				want.Changed = model.match(0, p.session, p.rank, p.block)
			default:
				want.Changed, _ = model.store(0, p.session, p.rank, Parent{}, []Hash{p.block})
			}
			if got, err := p.ticket.Apply(t.Context()); got != want || err != nil {
				return fmt.Errorf("operation %d, %+v: %+v, %v; want %+v; before it: %v", n, p, got, err, want, d)
			}
		case 7:
			d = append(d, happening{kind: "evict", member: part(at)})
			r.evict(at, model.remove(0, rank, []Hash{b}), b)
		case 8:
			d = append(d, happening{kind: "clear", member: part(at)})
			r.clear(at, model.clear(0, rank))
		case 9:
			m := member()
			dropped = append(dropped, retire(m))
			removals = append(removals, r.BeginRemoval(m))
		case 10:
			m, name := member(), fmt.Sprint("name ", len(names))
			for _, at := range smallRanks {
				if (happening{member: m}).covers(at) && d.open(len(d), at) != "" {
					retire(m)
					break
				}
			}
			names = append(names, name)
			d = append(d, happening{"open", m, name})
			r.register(m, name)
		case 11:
			if len(removals) > 0 {
				last := len(removals) - 1
				r.await(removals[last], dropped[last])
				removals, dropped = removals[:last], dropped[:last]
			}
			held[rank] ^= one(b)
			r.physical.holds(at, slices.Collect(held[rank].all())...)
		}
		for session := range sessions {
			var want []Frontier
			for _, rank := range []int{2, 0, 1} {
				for h := range model.deepest(model.has[1+session][rank]).all() {
					want = append(want, Frontier{smallRanks[rank], h})
				}
			}
			r.has(smallSessions[1+session], want...)
		}
		if got := r.Discarded(); got != discarded || t.Failed() {
			return fmt.Errorf("operation %d: %d discarded, want %d; the diary: %v", n, got, discarded, d)
		}
	}
	return nil
}
