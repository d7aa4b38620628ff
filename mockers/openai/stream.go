package openai

// Pace says what an event waits for.
type Pace int

const (
	AtOnce     Pace = iota // follows the event before it without delay
	FirstToken             // waits for the time to first token
	NextToken              // waits for one token interval
)

// Stream makes the server-sent events of one answer: for chat an event with the
// role, then one event a token, the last with the finish reason, then the usage
// if asked for, then [DONE].
type Stream struct {
	q    *Request
	head []byte // what all events of this answer begin with
	buf  []byte
	step int // next token; past the tokens: usage, then [DONE], then the end
}

const (
	stepRole  = -1
	sseOpen   = "data: "
	sseClose  = "\n\n"
	doneEvent = sseOpen + "[DONE]" + sseClose
)

// NewStream prepares the events of an answer.
func (q *Request) NewStream() *Stream {
	s := &Stream{q: q}
	s.head = q.appendHead([]byte(sseOpen), "text_completion", "chat.completion.chunk")
	s.buf = make([]byte, 0, len(s.head)+256)
	if q.Endpoint == Chat {
		s.step = stepRole
	}
	return s
}

// Events is the number of events of the whole stream, [DONE] included.
func (q *Request) Events() int {
	n := q.Tokens + 1
	if q.Endpoint == Chat {
		n++
	}
	if q.IncludeUsage {
		n++
	}
	return n
}

// Next returns the next event as it goes over the wire, from "data: " to the
// blank line, and what it waits for; ok is false after the last. The bytes are
// valid until the next call.
func (s *Stream) Next() (event []byte, pace Pace, ok bool) {
	q := s.q
	b := append(s.buf[:0], s.head...)
	switch {
	case s.step == stepRole:
		b = append(b, `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`...)
		pace = FirstToken
	case s.step < q.Tokens:
		b = s.appendToken(b)
		pace = s.tokenPace()
	case s.step == q.Tokens && q.IncludeUsage:
		b = append(b, `"choices":[],`...)
		b = append(q.appendUsage(b), '}')
	case s.step <= q.Tokens+1:
		s.step = q.Tokens + 2
		return append(b[:0], doneEvent...), AtOnce, true
	default:
		return nil, AtOnce, false
	}
	s.step++
	s.buf = append(b, sseClose...)
	return s.buf, pace, true
}

// tokenPace: the role comes with the first token, which then waits for nothing.
func (s *Stream) tokenPace() Pace {
	switch {
	case s.step > 0:
		return NextToken
	case s.q.Endpoint == Chat:
		return AtOnce
	}
	return FirstToken
}

func (s *Stream) appendToken(b []byte) []byte {
	q := s.q
	chat := q.Endpoint == Chat
	if chat {
		b = append(b, `"choices":[{"index":0,"delta":{"content":"`...)
	} else {
		b = append(b, `"choices":[{"index":0,"text":"`...)
	}
	b = append(q.appendText(b, s.step), '"')
	if chat {
		b = append(b, '}')
	}
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	if s.step == q.Tokens-1 {
		return append(b, `"length"}]}`...)
	}
	return append(b, `null}]}`...)
}
