package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// kind is what an error means, in the protocol's words.
type kind string

const (
	invalidArgument   kind = "invalid_argument"
	resourceExhausted kind = "resource_exhausted"
	unavailable       kind = "unavailable"
	cancelled         kind = "cancelled"
	stale             kind = "stale"
	unsupported       kind = "unsupported"
	internal          kind = "internal"

	cyclicParent      kind = "cyclic_parent"
	conflictingParent kind = "conflicting_parent"
	unknownParent     kind = "unknown_parent"
	unknownAnchor     kind = "unknown_anchor"
)

// failure is an operation that did not succeed.
type failure struct {
	Kind    kind   `json:"kind"`
	Message string `json:"message"`
	Block   string `json:"block,omitempty"` // at fault, in a chain of blocks
}

func (f *failure) Error() string { return string(f.Kind) + ": " + f.Message }

func failf(k kind, format string, args ...any) *failure {
	return &failure{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// outcome is how an operation ended: exactly one of the two is set.
type outcome struct {
	OK    any      `json:"ok,omitempty"`
	Error *failure `json:"error,omitempty"`
}

// nothing is an empty result.
type nothing struct{}

// result makes an outcome of what an operation returns.
func result(ok any, err error) outcome {
	if err != nil {
		return outcome{Error: asFailure(err)}
	}
	return outcome{OK: ok}
}

// request is one line that asks.
type request struct {
	ID   json.RawMessage `json:"id"` // goes back as it came
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

// parse reads a request. Its id is set as far as it could be read.
func parse(line []byte) (r request, err error) {
	if !utf8.Valid(line) {
		return r, failf(invalidArgument, "the line is not UTF-8")
	}
	if err := strictly(line, &r); err != nil {
		return request{}, failf(invalidArgument, "the line is no request: %v", err)
	}
	if c := bytes.TrimSpace(r.ID); len(c) == 0 || c[0] != '"' && (c[0] < '0' || c[0] > '9') {
		return request{}, failf(invalidArgument, "id is %q; want a string or a whole number", c)
	}
	return r, nil
}

// strictly decodes one JSON value and refuses members that the type does not have.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("something follows it")
	}
	return nil
}

// decode reads the args of an operation.
func decode[T any](args json.RawMessage) (into T, err error) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	if err := strictly(args, &into); err != nil {
		return into, failf(invalidArgument, "args: %v", err)
	}
	return into, nil
}

// encode writes an answer as a line.
func encode(id json.RawMessage, o outcome) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if len(id) == 0 {
		id = []byte("null")
	}
	if err := e.Encode(struct {
		ID json.RawMessage `json:"id"`
		outcome
	}{id, o}); err != nil { // cannot happen with what operations return
		b.Reset()
		fmt.Fprintf(&b, `{"id":%s,"error":{"kind":"internal","message":"the answer cannot be encoded"}}`+"\n", id)
	}
	return b.Bytes()
}
