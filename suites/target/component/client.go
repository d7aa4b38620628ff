package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routeproof/routeproof/suites/target/guard"
)

// Options are what a client needs to know of the adapter's holder. All may be left
// out.
type Options struct {
	// End ends the adapter, when Close has waited for Grace and has closed both its
	// input and its output. It returns what could not be ended.
	End func(context.Context) error
	// Log is what it wrote to standard error.
	Log *guard.Log
	// Grace is how long the adapter may take to end when its input has ended. 0 means
	// DefaultGrace.
	Grace time.Duration

	exited <-chan struct{} // closed when the adapter's process has ended; nil if it is none
	exit   func() string   // how it ended
}

// DefaultGrace is how long an adapter may take to end when its input has ended.
const DefaultGrace = 5 * time.Second

// Client is our side of a conversation with one adapter. Its methods may be called
// from any goroutine; each ends with its context at the latest. It must be closed.
type Client struct {
	in  io.WriteCloser
	out io.ReadCloser
	opt Options

	trusted atomic.Bool   // see Trust
	half    half          // of a line
	turn    chan struct{} // held by whoever sends: lines leave in the order of their registration
	lines   chan []byte   // to the writer
	reading chan struct{} // closed when the reader has ended
	writing chan struct{} // closed when the writer has ended
	leaving chan struct{} // closed by Close
	over    chan struct{} // closed when nothing more can be asked: fault, end or Close

	mu         sync.Mutex
	began      time.Time
	next       uint64
	calls      map[ID]*call    // sent, and not yet handed out by Await
	spent      map[ID]struct{} // handed out: nothing more may come for them
	transcript []Line
	claims     map[Claim]bool // nil before Hello
	why        error          // why it is over

	closing  sync.Once
	closeErr error
}

// call is one operation under way.
type call struct {
	op    string
	parts []string // the operations of a batch
	line  string   // the request, shortened
	asked int      // its index in the transcript

	done    chan struct{} // closed when the answer is there
	answer  Answer
	arrived bool
	givenUp bool // nobody waits any more: an answer would be late
}

// errClosed is why a closed client answers nothing.
var errClosed = errors.New("component: the client was closed")

// Open begins a conversation: requests go to in, answers come from out. A Close of
// either must end a Write or Read that is under way, as it does for pipes, be they
// of the system or io.Pipe.
func Open(in io.WriteCloser, out io.ReadCloser, opt Options) *Client {
	if opt.Grace == 0 {
		opt.Grace = DefaultGrace
	}
	c := &Client{
		in: in, out: out, opt: opt,
		turn: make(chan struct{}, 1), lines: make(chan []byte),
		reading: make(chan struct{}), writing: make(chan struct{}), leaving: make(chan struct{}), over: make(chan struct{}),
		began: time.Now(), next: 1, calls: map[ID]*call{}, spent: map[ID]struct{}{},
	}
	go c.write()
	go c.read()
	return c
}

// Trust leaves out the check of what we send from now on against the schema. It is for who
// measures, which sends the same kinds of requests by the million: a test has to hold them
// against the schema instead.
func (c *Client) Trust() { c.trusted.Store(true) }

// Start sends an operation and returns its id at once. args is what becomes the
// request's args, nil for none. The error is a *Fault, ours, or ctx's.
func (c *Client) Start(ctx context.Context, op string, args any) (ID, error) {
	return c.start(ctx, ID{}, op, args)
}

// StartAs is Start under an id of the caller's choice, which must be new.
func (c *Client) StartAs(ctx context.Context, id ID, op string, args any) error {
	_, err := c.start(ctx, id, op, args)
	return err
}

func (c *Client) start(ctx context.Context, id ID, op string, args any) (ID, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-c.over:
		return id, c.reason()
	case <-ctx.Done():
		return id, c.unread(ctx, op)
	}
	if why := c.reason(); why != nil { // the select may have taken the turn all the same
		return id, why
	}
	if id == (ID{}) {
		id = c.freshID()
	}
	line, err := request{ID: id, Op: op, Args: args}.encode(!c.trusted.Load())
	if err != nil {
		return id, err
	}
	k := &call{op: op, parts: partsOf(args), line: shorten(line), done: make(chan struct{})}
	if err := c.register(id, k, line); err != nil {
		return id, err
	}
	select {
	case c.lines <- append(line, '\n'):
		return id, nil
	case <-c.over:
		return id, c.reason()
	case <-ctx.Done():
		c.forget(id)
		return id, c.unread(ctx, k.line)
	}
}

// unread is the error for a request that the adapter did not take.
func (c *Client) unread(ctx context.Context, request string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return c.fault(&Fault{Kind: NoAnswer, Problem: "it does not read its input; the time for a request to be sent has passed", Request: request})
}

func (c *Client) freshID() ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		id := NumberID(c.next)
		c.next++
		if _, used := c.spent[id]; !used && c.calls[id] == nil {
			return id
		}
	}
}

func (c *Client) register(id ID, k *call, line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.spent[id]; used || c.calls[id] != nil {
		return fmt.Errorf("component: id %s was used already; choose another", id)
	}
	k.asked = c.record(true, line)
	c.calls[id] = k
	return nil
}

// forget takes a request back that was never sent. It stays in the transcript.
func (c *Client) forget(id ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// Await returns the answer to an operation, once. If ctx's deadline passes first, the
// error is a *Fault of kind NoAnswer, and an answer that comes all the same is late.
func (c *Client) Await(ctx context.Context, id ID) (Answer, error) {
	c.mu.Lock()
	k := c.calls[id]
	c.mu.Unlock()
	if k == nil {
		return Answer{}, fmt.Errorf("component: no operation with id %s waits for an answer", id)
	}
	var err error
	select {
	case <-k.done:
	case <-c.over:
		err = c.reason()
	case <-ctx.Done():
		err = context.Cause(ctx)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			f := &Fault{Kind: NoAnswer, Problem: "the time for it has passed", Request: k.line}
			if rest := c.half.line(); len(rest) > 0 {
				f.Problem, f.Line = "the time for it has passed, and a line without line feed has come", shorten(rest)
			}
			err = c.fault(f)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !k.arrived {
		k.givenUp = true
		return Answer{}, err
	}
	delete(c.calls, id)
	c.spent[id] = struct{}{}
	return k.answer, nil
}

// Call is Start and Await. An operation that parks is answered when something else
// un-parks it; use Start and Sync for those.
func (c *Client) Call(ctx context.Context, op string, args any) (Answer, error) {
	id, err := c.Start(ctx, op, args)
	if err != nil {
		return Answer{}, err
	}
	return c.Await(ctx, id)
}

// Do calls an operation and decodes its result. The error is what Call returns, or
// the adapter's *Error.
func Do[T any](ctx context.Context, c *Client, op string, args any) (result T, err error) {
	a, err := c.Call(ctx, op, args)
	if err != nil {
		return result, err
	}
	return result, a.Into(&result)
}

// reason is why the conversation is over.
func (c *Client) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Fault is the *Fault that ended the conversation, nil as long as there is none.
func (c *Client) Fault() *Fault {
	var f *Fault
	_ = errors.As(c.reason(), &f)
	return f
}

// fault adds what is known of the adapter's process to a fault.
func (c *Client) fault(f *Fault) *Fault {
	select {
	case <-c.opt.exited:
		f.Exit = c.opt.exit()
	default:
	}
	f.Log = c.opt.Log.Excerpt()
	return f
}

// exitLimit is how long the end of a process may follow that of its output.
const exitLimit = 2 * time.Second

// awaitExit waits for the end of a process whose output has ended. It says false if
// it runs on.
func (c *Client) awaitExit() bool {
	if c.opt.exited == nil {
		return true
	}
	limit := time.NewTimer(exitLimit)
	defer limit.Stop()
	select {
	case <-c.opt.exited:
		return true
	case <-limit.C:
		return false
	}
}

// end ends the conversation for a reason, the first one.
func (c *Client) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == nil {
		c.why = why
		close(c.over)
	}
}

// Close closes the adapter's input, waits for its end (for Options.Grace, or until
// ctx ends), then ends it by force. It returns when nothing of the conversation is
// left. The error is a *Fault if the adapter did not end well by itself, joined with
// what Options.End says. Later calls return the same.
func (c *Client) Close(ctx context.Context) error {
	c.closing.Do(func() { c.closeErr = c.close(ctx) })
	return c.closeErr
}

func (c *Client) close(ctx context.Context) error {
	faulty := c.Fault() != nil
	c.end(errClosed)
	close(c.leaving)
	_ = c.in.Close() // ends a write that is under way
	var err error
	grace := time.NewTimer(c.opt.Grace)
	defer grace.Stop()
	if !faulty { // what is broken already need not end well
		select {
		case <-c.reading:
			err = c.farewell()
		case <-grace.C:
			err = c.fault(&Fault{Kind: Stays, Problem: fmt.Sprintf("its output is still open %v after the end of its input; it is ended by force", c.opt.Grace)})
		case <-ctx.Done():
		}
	}
	_ = c.out.Close() // ends a read, and a write of the adapter's
	if c.opt.End != nil {
		err = errors.Join(err, c.opt.End(ctx))
	}
	<-c.reading
	<-c.writing
	return err
}

// farewell says whether an adapter whose input and output have ended has ended well.
func (c *Client) farewell() error {
	switch {
	case c.opt.exited == nil:
		return nil
	case !c.awaitExit():
		return c.fault(&Fault{Kind: Stays, Problem: fmt.Sprintf("its process still runs %v after its input and output have ended; it is ended by force", exitLimit)})
	case c.opt.exit() != exitOK:
		return c.fault(&Fault{Kind: Ended, Problem: "not well, when its input had ended"})
	}
	return nil
}
