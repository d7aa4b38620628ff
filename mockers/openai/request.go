// Package openai is the wire of a mock worker: it reads OpenAI completion
// requests and writes the answers, whole or as server-sent events, the way
// vLLM's server does. It opens no connection and knows neither workers nor
// faults. Answers are functions of the request alone.
package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Endpoint is one of the two inference calls.
type Endpoint string

const (
	Chat        Endpoint = "chat"        // POST /v1/chat/completions
	Completions Endpoint = "completions" // POST /v1/completions
)

const (
	// MaxBody is the largest request body in bytes that a worker reads.
	MaxBody = 64 << 20
	// MaxTokens is the most tokens one answer may have.
	MaxTokens = 1 << 20
)

// Request is what a worker needs to know of a request.
type Request struct {
	Endpoint     Endpoint
	Model        string // as requested; the served one if the request named none
	Key          string // first word of the answer; set by the caller
	User         string
	Marker       string // key of the marker in the prompt or the last message
	Stream       bool
	IncludeUsage bool        // a stream ends with a usage event
	Tokens       int         // length of the answer, at least 1
	Limit        int         // the request's own limit on it; 0 for none
	PromptTokens int         // words of the prompt, or its token ids
	Transfer     *KVTransfer // nil if the request has none

	seed uint64
}

type wireRequest struct {
	Model               *string         `json:"model"`
	Messages            []wireMessage   `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	User                string          `json:"user"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	N                   *int            `json:"n"`
	KVTransferParams    json.RawMessage `json:"kv_transfer_params"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// Parse reads a request body. models are the names served, the first of them by
// default; tokens is the length of an answer that the request does not limit.
//
// On an error the Request still holds what could be read, so that a refused
// request can be joined to its client. Fields that a mock has no use for
// (temperature, tools, ...) are accepted, whatever they hold.
func Parse(endpoint Endpoint, body []byte, models []string, tokens int) (*Request, *Error) {
	q := &Request{Endpoint: endpoint}
	var w wireRequest
	more, err := first(body, &w)
	if err != nil {
		return q, bad("", "the body is not a valid %s request: %v", endpoint, err)
	}
	q.User, q.Stream = w.User, w.Stream
	if w.Model != nil {
		q.Model = *w.Model
	} else if len(models) > 0 {
		q.Model = models[0]
	}
	q.IncludeUsage = w.StreamOptions != nil && w.StreamOptions.IncludeUsage
	// The prompt comes before every other check: it carries the join key.
	if e := q.readPrompt(&w); e != nil {
		return q, e
	}
	if e := q.readTransfer(w.KVTransferParams); e != nil {
		return q, e
	}
	if more {
		return q, bad("", "the body holds more than one JSON value; send exactly one object")
	}
	if e := q.check(&w, models, tokens); e != nil {
		return q, e
	}
	return q, nil
}

// first reads the first JSON value of a body and says whether more comes after it.
func first(body []byte, w *wireRequest) (more bool, err error) {
	if json.Unmarshal(body, w) == nil {
		return false, nil // nearly always, and half the cost of a Decoder
	}
	*w = wireRequest{}
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(w); err != nil {
		return false, err
	}
	_, err = dec.Token()
	return err != io.EOF, nil
}

func (q *Request) check(w *wireRequest, models []string, tokens int) *Error {
	served := false
	for _, m := range models {
		served = served || m == q.Model
	}
	if !served {
		return &Error{Status: http.StatusNotFound, Param: "model",
			Message: fmt.Sprintf("The model `%s` does not exist; this worker serves %s", q.Model, strings.Join(models, ", "))}
	}
	if w.N != nil && *w.N != 1 {
		return bad("n", "n is %d; a mock worker answers one choice, so n must be 1", *w.N)
	}
	if w.StreamOptions != nil && !w.Stream {
		return bad("stream_options", "stream_options needs stream to be true")
	}
	q.Tokens = max(tokens, 1)
	limit, name := w.MaxTokens, "max_tokens"
	if w.MaxCompletionTokens != nil && q.Endpoint == Chat {
		limit, name = w.MaxCompletionTokens, "max_completion_tokens"
	}
	if limit != nil {
		q.Tokens, q.Limit = *limit, *limit
	}
	if q.Tokens < 1 || q.Tokens > MaxTokens {
		return bad(name, "%s is %d; it must be between 1 and %d", name, q.Tokens, MaxTokens)
	}
	return nil
}

// SetTokens overrides the length of the answer, bringing it into 1..MaxTokens.
func (q *Request) SetTokens(n int) { q.Tokens = min(max(n, 1), MaxTokens) }

func bad(param, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Param: param, Message: fmt.Sprintf(format, args...)}
}
