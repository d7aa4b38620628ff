package component

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// write carries requests to the adapter, so that one which does not read stops
// nobody but itself.
func (c *Client) write() {
	defer close(c.writing)
	for {
		select {
		case line := <-c.lines:
			if _, err := c.in.Write(line); err != nil {
				<-c.leaving // the reader learns why, or Close was called
				return
			}
		case <-c.leaving:
			return
		}
	}
}

// read takes lines until the first fault, or the end.
func (c *Client) read() {
	defer close(c.reading)
	from := bufio.NewReaderSize(io.TeeReader(c.out, &c.half), 64<<10)
	for {
		line, err := readLine(from)
		var f *Fault
		switch {
		case errors.Is(err, errTooLong):
			f = &Fault{Kind: TooLong, Problem: fmt.Sprintf("a line holds at most %d bytes", MaxLine), Line: shorten(line)}
		case err != nil:
			f = c.endOfOutput(line, err)
		default:
			f = c.receive(line)
		}
		if f != nil {
			c.end(c.fault(f))
			return
		}
	}
}

// half knows what has come of a line that has not ended, so that an adapter which
// forgets its line feeds can be told so.
type half struct {
	mu   sync.Mutex
	text []byte // the beginning
}

// Write implements io.Writer.
func (h *half) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	rest := p
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 {
		h.text, rest = h.text[:0], p[end+1:]
	}
	h.text = append(h.text, rest[:min(len(rest), shownHead-min(shownHead, len(h.text)))]...)
	return len(p), nil
}

func (h *half) line() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.text)
}

var errTooLong = errors.New("line too long")

// readLine reads up to a line feed and returns what is before it, a carriage return
// excepted.
func readLine(from *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		part, err := from.ReadSlice('\n')
		if len(all)+len(part) > MaxLine+1 {
			return append(all, part...), errTooLong
		}
		all = append(all, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return all, err
		}
		return bytes.TrimSuffix(all[:len(all)-1], []byte("\r")), nil
	}
}

// endOfOutput is the fault of an output that has ended. It is one even if nothing is
// open: the adapter has to stay until its input ends.
func (c *Client) endOfOutput(rest []byte, err error) *Fault {
	c.awaitExit()
	switch {
	case !errors.Is(err, io.EOF):
		return &Fault{Kind: Ended, Problem: "its output cannot be read: " + err.Error(), Request: c.oldest()}
	case len(rest) > 0:
		return &Fault{Kind: Malformed, Problem: "its output ended in the middle of a line", Line: shorten(rest)}
	}
	return &Fault{Kind: Ended, Problem: "its output ended before its input", Request: c.oldest()}
}

// oldest is the request that has been open for longest, shortened.
func (c *Client) oldest() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range c.open(len(c.transcript)) {
		return c.calls[id].line
	}
	return ""
}

// open lists the unanswered operations that were asked before a place in the
// transcript, in the order of their lines; the lock is held.
func (c *Client) open(before int) (ids []ID) {
	for id, k := range c.calls {
		if !k.arrived && k.asked < before {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b ID) int { return cmp.Compare(c.calls[a].asked, c.calls[b].asked) })
	return ids
}

// frame is an answer that Schema has passed.
type frame struct {
	ID *ID `json:"id"`
	Outcome
	ok any // the result as a document
}

// receive takes one line.
func (c *Client) receive(line []byte) *Fault {
	a, f := parse(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.record(false, line)
	if f != nil {
		f.Line = shorten(line)
		return f
	}
	if f := c.deliver(a, at); f != nil {
		f.Line = shorten(line)
		return f
	}
	return nil
}

// parse reads an answer as far as that goes without its request.
func parse(line []byte) (frame, *Fault) {
	var a frame
	var doc any
	s, err := compiled()
	if err == nil {
		doc, err = strictJSON(line)
	}
	if err == nil {
		err = check(s.answer, doc)
	}
	if err == nil {
		a.ok = doc.(map[string]any)["ok"]
		err = json.Unmarshal(line, &a)
	}
	switch {
	case err != nil:
		return a, &Fault{Kind: Malformed, Problem: "it is no answer: " + err.Error()}
	case a.ID == nil:
		return a, &Fault{Kind: UnknownID, Problem: fmt.Sprintf("it could not read a request of ours (%v)", a.Err)}
	}
	return a, nil
}

// deliver hands an answer to its call; the lock is held.
func (c *Client) deliver(a frame, at int) *Fault {
	id := *a.ID
	k := c.calls[id]
	_, spent := c.spent[id]
	switch {
	case spent, k != nil && k.arrived:
		f := &Fault{Kind: SecondAnswer, Problem: fmt.Sprintf("operation %s was answered already", id)}
		if k != nil {
			f.Request = k.line
		}
		return f
	case k == nil:
		f := &Fault{Kind: UnknownID, Problem: fmt.Sprintf("no operation with id %s was sent", id)}
		for _, sent := range c.open(at) {
			if id.alike(sent) {
				f.Problem += fmt.Sprintf(", but %s was: answer with the id exactly as it came, a number as a number and a string in quotes", sent)
				f.Request = c.calls[sent].line
				break
			}
		}
		return f
	case k.givenUp:
		return &Fault{Kind: LateAnswer, Problem: fmt.Sprintf("the time for operation %s had passed", id), Request: k.line}
	}
	if f := c.inspect(k, a); f != nil {
		f.Request = k.line
		return f
	}
	k.answer, k.arrived = Answer{ID: id, Outcome: a.Outcome, Asked: k.asked, Arrived: at}, true
	close(k.done)
	return nil
}

// inspect checks a result against its operation; the lock is held.
func (c *Client) inspect(k *call, a frame) *Fault {
	if a.Err != nil {
		return nil
	}
	if err := checkOK(k.op, a.ok); err != nil {
		return &Fault{Kind: Malformed, Problem: fmt.Sprintf("the result of %s: %v", k.op, err)}
	}
	switch k.op {
	case OpSync:
		return c.inspectSync(k, a)
	case OpBatch:
		return c.inspectBatch(k, a)
	}
	return nil
}

// inspectSync holds the list of the parked against what we know: it must be exactly
// the earlier operations without an answer, in order.
func (c *Client) inspectSync(k *call, a frame) *Fault {
	var r Synced
	if err := a.Into(&r); err != nil {
		return &Fault{Kind: Malformed, Problem: err.Error()}
	}
	open := c.open(k.asked)
	for _, id := range r.Parked {
		if !slices.Contains(open, id) {
			return &Fault{Kind: OutOfOrder, Problem: fmt.Sprintf("it lists operation %s as parked, which is answered, later or unknown", id)}
		}
	}
	for _, id := range open {
		if !slices.Contains(r.Parked, id) {
			return &Fault{Kind: OutOfOrder, Problem: fmt.Sprintf("operation %s came earlier and is neither answered nor listed as parked", id)}
		}
	}
	if !slices.Equal(open, r.Parked) {
		return &Fault{Kind: OutOfOrder, Problem: fmt.Sprintf("the parked are not listed in the order of their lines, %v", open)}
	}
	return nil
}

// inspectBatch checks each answer of a batch by its operation.
func (c *Client) inspectBatch(k *call, a frame) *Fault {
	result := a.ok.(map[string]any) // as batch.ok demands
	answers := result["answers"].([]any)
	if len(answers) != len(k.parts) {
		return &Fault{Kind: Malformed, Problem: fmt.Sprintf("%d answers to a batch of %d operations", len(answers), len(k.parts))}
	}
	for i, answer := range answers {
		ok, isOK := answer.(map[string]any)["ok"]
		if !isOK {
			continue
		}
		if err := checkOK(k.parts[i], ok); err != nil {
			return &Fault{Kind: Malformed, Problem: fmt.Sprintf("answer %d of the batch, the result of %s: %v", i, k.parts[i], err)}
		}
	}
	if _, steps := result["steps"]; c.claims != nil && c.claims[ClaimSteps] != steps {
		return &Fault{Kind: Malformed, Problem: "steps must be there if, and only if, the adapter claims them"}
	}
	return nil
}
