package sessionindex

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// The model in bits is there for speed; that it says what the one in maps says is seen
// here, answer by answer and state by state.
func TestTheModelsAgree(t *testing.T) {
	seed := rand.Uint64()
	for nth := range uint64(30) {
		s := newSmall(seed, nth)
		s.blocks = min(s.blocks, 12)
		maps := newModel(Config{Sessions: s.model.limit, Retention: s.model.retention})
		for n := range 300 {
			session, rank := s.IntN(bitSessions), s.IntN(bitRanks)
			id, at := smallSessions[session], smallRanks[rank]
			var got, want any
			switch s.IntN(8) {
			default:
				e := Store{Session: id, At: at, Blocks: s.hashes(4)}
				if s.IntN(4) > 0 {
					e.Parent = Under(s.hash())
				}
				changed, refused := s.model.store(s.now, session, rank, e.Parent, e.Blocks)
				wantChanged, wantRefused := maps.store(s.now, e)
				got, want = []any{changed, refused}, []any{wantChanged, wantRefused}
			case 0:
				b := s.hash()
				got, want = s.model.match(s.now, session, rank, b), maps.match(s.now, Match{Session: id, At: at, Block: b})
			case 1:
				gone := s.hashes(3)
				got, want = s.model.remove(s.now, rank, gone), maps.remove(s.now, at, gone)
			case 2:
				got, want = s.model.clear(s.now, rank), maps.clear(s.now, func(w WorkerRank) bool { return w == at })
			case 3:
				s.now += time.Duration(s.IntN(4))
			}
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(s.model.dump(), maps.dump()) {
				t.Fatalf("seed %d, index %d, operation %d: bits say %v and hold %+v, maps say %v and hold %+v", seed, nth, n, got, s.model.dump(), want, maps.dump())
			}
		}
	}
}

func (m *bitModel) dump() State {
	s := State{Blocks: []BlockState{}, Sessions: []SessionState{}}
	for h := range m.known.all() {
		b := BlockState{Hash: h, Phantom: m.phantom.holds(h)}
		if p := m.parent[h]; p.given {
			b.Parent = &p.hash
		}
		if m.idle.holds(h) {
			since := m.idleSince[h]
			b.IdleSince = &since
		}
		s.Blocks = append(s.Blocks, b)
	}
	for _, session := range m.used {
		var frontiers []Frontier
		for r, have := range m.has[session] {
			for h := range m.deepest(have).all() {
				frontiers = append(frontiers, Frontier{smallRanks[r], h})
			}
		}
		slices.SortFunc(frontiers, func(a, b Frontier) int { return compareRanks(a.At, b.At) })
		s.Sessions = append(s.Sessions, SessionState{smallSessions[session], frontiers})
	}
	return s
}
