package worker

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/routeproof/routeproof/mockers/netfault"
)

// life is one incarnation of a worker. A connection belongs to the life that
// accepted it, so a request that was under way at a crash can never count for
// the next incarnation.
type life struct {
	incarnation int
	ctx         context.Context // ends with the life
	end         context.CancelFunc

	mu      sync.Mutex
	dead    bool
	running int
	idle    chan struct{} // closed once dead and nothing runs
	byRank  []int         // requests that each data-parallel rank has
	turn    int           // requests that were spread over the ranks so far
}

func newLife(incarnation, ranks int) *life {
	ctx, cancel := context.WithCancel(context.Background())
	return &life{incarnation: incarnation, ctx: ctx, end: cancel, idle: make(chan struct{}), byRank: make([]int, ranks)}
}

// enter admits a request; false means that the life is over.
func (l *life) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false
	}
	l.running++
	return true
}

func (l *life) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	if l.dead && l.running == 0 {
		close(l.idle)
	}
}

// kill ends the life: nothing enters any more, and everything inside is told.
func (l *life) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return
	}
	l.dead = true
	l.end()
	if l.running == 0 {
		close(l.idle)
	}
}

// nextRank is the engine's own choice of a rank: each in turn.
func (l *life) nextRank() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn++
	return (l.turn - 1) % len(l.byRank)
}

// occupy counts a request at its rank, and vacate counts it off; a negative rank
// is none.
func (l *life) occupy(rank int) { l.count(rank, 1) }
func (l *life) vacate(rank int) { l.count(rank, -1) }

func (l *life) count(rank, by int) {
	if rank < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byRank[rank] += by
}

// loads are the requests at each rank.
func (l *life) loads() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.byRank)
}

func (l *life) load() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running
}

type lifeKey struct{}

func (w *Worker) connContext(ctx context.Context, c net.Conn) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	return context.WithValue(netfault.ConnContext(ctx, c), lifeKey{}, w.life)
}

func lifeOf(r *http.Request) *life {
	l, _ := r.Context().Value(lifeKey{}).(*life)
	return l
}
