package mutants

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/routeproof/routeproof/suites/target"
)

// doc is a line of the protocol, or a part of one.
type doc = map[string]any

// wire is an adapter that does something wrong with what passes: it stands before the
// reference's, as a broken adapter stands before a library that is right.
type wire struct {
	asks    func(w *wire, ask doc)         // before a request goes on; may change it, and call
	answers func(w *wire, ask, answer doc) // before an answer goes back, all before it having gone; may change it

	in   io.Writer     // the adapter's
	over chan struct{} // closed when it has ended

	mu     sync.Mutex
	open   map[string]doc // requests that are not answered, by id
	called map[string]chan doc
	own    int
	notes  map[string]string // of the mutant's own
	later  []doc             // operations of its own that it does before the next request
}

// wired is a mutant whose adapter is wrong.
func wired(id, fault string, asks func(*wire, doc), answers func(w *wire, ask, answer doc), killedBy ...string) Mutant {
	return Mutant{ID: id, Fault: fault, KilledBy: killedBy, Between: func(serve target.Serve) target.Serve {
		return func(ctx context.Context, in io.Reader, out io.Writer) error {
			w := &wire{asks: asks, answers: answers, open: map[string]doc{}, called: map[string]chan doc{}, notes: map[string]string{}, over: make(chan struct{})}
			return w.serve(ctx, serve, in, out)
		}
	}}
}

func (w *wire) serve(ctx context.Context, serve target.Serve, in io.Reader, out io.Writer) error {
	toR, toW := io.Pipe()
	fromR, fromW := io.Pipe()
	w.in = toW
	var both sync.WaitGroup
	both.Go(func() {
		defer toW.Close()
		_ = lines(in, func(ask doc) error { return w.ask(ctx, ask) }) // its end is the adapter's, too
	})
	both.Go(func() {
		if err := lines(fromR, func(answer doc) error { return w.answer(answer, out) }); err != nil {
			_ = fromR.CloseWithError(err) // nobody hears any more
		}
	})
	err := serve(ctx, toR, fromW)
	close(w.over)
	_ = toR.Close()
	_ = fromW.Close()
	both.Wait()
	return err
}

// lines calls f with each line, until they end or f fails.
func lines(from io.Reader, f func(doc) error) error {
	for r := bufio.NewReader(from); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return nil
		}
		var x doc
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if d.Decode(&x) != nil {
			continue
		}
		if err := f(x); err != nil {
			return err
		}
	}
}

func (w *wire) ask(ctx context.Context, ask doc) error {
	w.mu.Lock()
	later := w.later
	w.later = nil
	w.mu.Unlock()
	for _, x := range later {
		if _, err := w.start(x); err != nil {
			return err
		}
	}
	if w.asks != nil {
		w.asks(w, ask)
	}
	w.mu.Lock()
	w.open[key(ask["id"])] = ask
	w.mu.Unlock()
	return w.write(ask)
}

func (w *wire) write(x doc) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = w.in.Write(append(b, '\n'))
	return err
}

// start sends an operation of the mutant's own.
func (w *wire) start(x doc) (chan doc, error) {
	w.mu.Lock()
	w.own++
	x["id"] = fmt.Sprintf("own %d", w.own)
	answered := make(chan doc, 1)
	w.called[key(x["id"])] = answered
	w.mu.Unlock()
	return answered, w.write(x)
}

// call does one and waits until it is answered; nil if it never is.
func (w *wire) call(op string, args any) doc {
	answered, err := w.start(doc{"op": op, "args": args})
	if err != nil {
		return nil
	}
	select {
	case answer := <-answered:
		return answer
	case <-w.over:
		return nil
	}
}

func (w *wire) answer(answer doc, out io.Writer) error {
	id := key(answer["id"])
	w.mu.Lock()
	own, ask := w.called[id], w.open[id]
	delete(w.called, id)
	delete(w.open, id)
	w.mu.Unlock()
	if own != nil {
		own <- answer
		return nil
	}
	if ok, _ := answer["ok"].(doc); ok["parked"] != nil { // what is its own it keeps to itself
		ok["parked"] = slices.DeleteFunc(ok["parked"].([]any), func(id any) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.called[key(id)] != nil
		})
	}
	if w.answers != nil {
		w.answers(w, ask, answer)
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// note remembers something; noted are all that it has.
func (w *wire) note(name, is string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes[name] = is
}

func (w *wire) noted(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notes[name]
}

func key(id any) string { return fmt.Sprintf("%T %v", id, id) }

// args are a request's.
func args(ask doc) doc {
	a, _ := ask["args"].(doc)
	return a
}

// lease is the one that an answer gives, "" if it gives none.
func lease(answer doc) string {
	ok, _ := answer["ok"].(doc)
	s, _ := ok["lease"].(string)
	return s
}

// inBatch calls f with each operation of a batch.
func inBatch(ask doc, f func(args doc)) {
	if ask["op"] != "batch" {
		return
	}
	ops, _ := args(ask)["ops"].([]any)
	for _, p := range ops {
		if part, ok := p.(doc); ok && args(part) != nil {
			f(args(part))
		}
	}
}
