package component

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ID names an operation in a conversation: a string, or a whole number. The zero
// value is no id.
type ID struct {
	text   string
	number bool
}

// StringID makes an id of 1 to 64 characters.
func StringID(s string) ID { return ID{text: s} }

// NumberID makes an id from 0 to 2^53-1.
func NumberID(n uint64) ID { return ID{text: strconv.FormatUint(n, 10), number: true} }

// String is the id as it stands in JSON.
func (id ID) String() string {
	if id.number {
		return id.text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(id.text) != nil {
		return strconv.Quote(id.text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// alike says whether two ids that differ are easily taken for each other: a number and
// a string, or two spellings of a number.
func (id ID) alike(other ID) bool {
	a, errA := strconv.ParseFloat(id.text, 64)
	b, errB := strconv.ParseFloat(other.text, 64)
	return id != other && (id.text == other.text || errA == nil && errB == nil && a == b)
}

// MarshalJSON implements json.Marshaler.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.number {
		return []byte(id.text), nil
	}
	return json.Marshal(id.text)
}

// UnmarshalJSON implements json.Unmarshaler. A number keeps its spelling: 7 and 7.0
// are different ids.
func (id *ID) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*id = ID{}
		return json.Unmarshal(text, &id.text)
	}
	if len(text) == 0 || text[0] < '0' || text[0] > '9' {
		return fmt.Errorf("%s is no id: want a string or a whole number", shorten(text))
	}
	*id = ID{text: string(text), number: true}
	return nil
}

// Kind says what an error means; component.md has the table.
type Kind string

// The kinds of errors.
const (
	InvalidArgument   Kind = "invalid_argument"
	ResourceExhausted Kind = "resource_exhausted"
	Unavailable       Kind = "unavailable"
	Cancelled         Kind = "cancelled"
	Stale             Kind = "stale"
	Unsupported       Kind = "unsupported"
	Internal          Kind = "internal"

	// Of the session index; these name a block.
	CyclicParent      Kind = "cyclic_parent"
	ConflictingParent Kind = "conflicting_parent"
	UnknownParent     Kind = "unknown_parent"
	UnknownAnchor     Kind = "unknown_anchor"
)

// Error is an operation that did not succeed, as the adapter reports it.
type Error struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	Block   string `json:"block,omitempty"` // the block at fault, of kinds that name one
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// Outcome is how an operation ended: exactly one of the two is set.
type Outcome struct {
	OK  json.RawMessage `json:"ok,omitempty"`
	Err *Error          `json:"error,omitempty"`
}

// Into decodes the result into v, or returns the *Error that came instead.
func (o Outcome) Into(v any) error {
	if o.Err != nil {
		return o.Err
	}
	if err := json.Unmarshal(o.OK, v); err != nil {
		return fmt.Errorf("component: result %s: %w", shorten(o.OK), err)
	}
	return nil
}

// Answer is the outcome of one operation, and where in the transcript it stands.
type Answer struct {
	ID ID
	Outcome
	Asked, Arrived int // indices of the two lines in Transcript
}

// request is a line that we send.
type request struct {
	ID   ID     `json:"id"`
	Op   string `json:"op"`
	Args any    `json:"args,omitempty"`
}

// replaced finds what encoding/json puts in the place of a byte that is not UTF-8: an
// escape which it uses for nothing else.
var replaced = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\\ufffd`)

// encode writes the line, without its line feed. What breaks the protocol on our side is
// our error, not the adapter's; checked holds the line against the schema as well.
func (r request) encode(checked bool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("component: %s: %w", r.Op, err)
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(line) > MaxLine {
		return nil, fmt.Errorf("component: %s: the request has %d bytes, a line holds %d; split it", r.Op, len(line), MaxLine)
	}
	if bytes.Contains(line, []byte(`\ufffd`)) && replaced.Match(line) { // long lines: look for what is rare first
		return nil, fmt.Errorf("component: %s: a string of the request is not UTF-8, which the protocol cannot carry", r.Op)
	}
	if !checked {
		return line, nil
	}
	if err := checkRequest(line); err != nil {
		return nil, fmt.Errorf("component: %s: the request breaks the protocol: %w", r.Op, err)
	}
	return line, nil
}
