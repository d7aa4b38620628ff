package adapter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
)

// server is one conversation.
type server struct {
	ctx    context.Context
	cancel context.CancelFunc
	table  Make
	index  MakeIndex

	writing sync.Mutex // held for a line
	out     io.Writer
	broken  error // of writing

	mu        sync.Mutex
	changed   sync.Cond // an operation was answered, parked or un-parked; or ctx has ended
	ops       map[string]*operation
	running   int // operations neither answered nor parked
	asked     int // operations so far
	instances map[string]*instance
	made      int // instances so far
	leases    leases
	tokens    tokens
	work      sync.WaitGroup
}

// operation is one call of a library, under way.
type operation struct {
	id     json.RawMessage
	number int
	on     *instance // nil if there is none
	ctx    context.Context
	cancel context.CancelFunc
	parked bool
	done   chan struct{} // closed once it is answered
}

func newServer(ctx context.Context, cancel context.CancelFunc, out io.Writer) *server {
	s := &server{ctx: ctx, cancel: cancel, out: out, ops: map[string]*operation{}, instances: map[string]*instance{}}
	s.changed.L = &s.mu
	s.leases.held = map[string]*held{}
	s.tokens.held = map[string]token{}
	return s
}

// failed is what Serve returns: why it ends, unless writing failed before.
func (s *server) failed(why error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.broken != nil {
		return s.broken
	}
	return why
}

// shut lets go of everything that is open.
func (s *server) shut() {
	s.cancel()
	s.work.Wait()
}

// take takes up one line. It returns when the next one may be.
func (s *server) take(line []byte) {
	r, err := parse(line)
	if err != nil {
		s.refuse(nil, err)
		return
	}
	if control, ok := controls()[r.Op]; ok {
		s.write(encode(r.ID, result(control(s, r.Args))))
		return
	}
	call, ok := calls()[r.Op]
	if !ok {
		s.refuse(r.ID, unknown(r.Op))
		return
	}
	o, err := s.begin(r)
	if err != nil {
		s.refuse(r.ID, err)
		return
	}
	s.work.Go(func() {
		do, err := call(s, r.Args)
		if err != nil {
			s.finish(o, result(nil, err))
			return
		}
		s.finish(o, result(do(caller{ctx: o.ctx})))
	})
	if o.on == nil || !o.on.concurrent {
		s.settle()
	}
}

func unknown(op string) error { return failf(unsupported, "there is no operation %q here", op) }

// begin registers an operation of a library.
func (s *server) begin(r request) (*operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := idKey(r.ID)
	if s.ops[key] != nil {
		return nil, failf(invalidArgument, "id %s is under way already", r.ID)
	}
	s.asked++
	o := &operation{id: r.ID, number: s.asked, on: s.subject(r), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(s.ctx)
	o.ctx, o.cancel = context.WithValue(ctx, waitKey{}, func(waits bool) { s.park(o, waits) }), cancel
	s.ops[key] = o
	s.running++
	return o, nil
}

// idKey tells ids apart however a string's is escaped.
func idKey(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return "s" + text
	}
	return "n" + string(bytes.TrimSpace(id))
}

// waitKey finds, in the context of an operation, whom to tell that it begins or ends
// to wait.
type waitKey struct{}

// waiting is what libraries are given to tell of waiting callers. It is called while
// they hold locks.
func waiting(ctx context.Context, waits bool) {
	if tell, ok := ctx.Value(waitKey{}).(func(bool)); ok {
		tell(waits)
	}
}

// park notes that an operation waits, or goes on.
func (s *server) park(o *operation, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.parked == waits {
		return
	}
	o.parked = waits
	if waits {
		s.running--
	} else {
		s.running++
	}
	s.changed.Broadcast()
}

// finish answers an operation.
func (s *server) finish(o *operation, result outcome) {
	s.park(o, false)
	s.write(encode(o.id, result))
	o.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ops, idKey(o.id))
	s.running--
	close(o.done)
	s.changed.Broadcast()
}

// settle waits until every operation is answered or parked.
func (s *server) settle() {
	stop := context.AfterFunc(s.ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.running > 0 && s.ctx.Err() == nil {
		s.changed.Wait()
	}
}

// leave lets the client of an operation leave, and waits until that is answered.
func (s *server) leave(o *operation) {
	s.park(o, false) // from here on it is bound to end
	o.cancel()
	<-o.done
}

// open lists the operations for which the condition holds, in the order of their
// lines. The condition is called under the lock.
func (s *server) open(which func(*operation) bool) []*operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*operation
	for _, o := range s.ops {
		if which(o) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *operation) int { return cmp.Compare(a.number, b.number) })
	return all
}

// refuse answers a line that does not become an operation.
func (s *server) refuse(id json.RawMessage, err error) { s.write(encode(id, result(nil, err))) }

// write writes a line at once. After the end of the conversation nobody wants it.
func (s *server) write(line []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.broken != nil || s.ctx.Err() != nil {
		return
	}
	if _, err := s.out.Write(line); err != nil {
		s.broken = fmt.Errorf("adapter: write: %w", err)
		s.cancel()
	}
}
