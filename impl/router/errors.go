package router

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Kind names an error for programs; it is the "code" of the error object.
type Kind string

// The kinds and the statuses they come with.
const (
	InvalidArgument   Kind = "invalid_argument"   // 400
	NotFound          Kind = "not_found"          // 404
	ModelNotFound     Kind = "model_not_found"    // 404
	MethodNotAllowed  Kind = "method_not_allowed" // 405
	BodyTimeout       Kind = "request_timeout"    // 408
	BodyTooLarge      Kind = "request_too_large"  // 413
	ConnectionFailed  Kind = "connection_failed"  // 502
	HandoffFailed     Kind = "handoff_failed"     // 502, a prefill worker's answer is of no use
	Unavailable       Kind = "unavailable"        // 503, no worker
	ResourceExhausted Kind = "resource_exhausted" // 503, session table full
	InitWaitExceeded  Kind = "init_wait_exceeded" // 503
	HeaderTimeout     Kind = "header_timeout"     // 504
	Internal          Kind = "internal"           // 500
)

// Error is an answer that the router itself gives.
type Error struct {
	Kind    Kind
	Message string
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

func errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Status returns the HTTP status of the kind.
func (k Kind) Status() int {
	switch k {
	case InvalidArgument:
		return http.StatusBadRequest
	case NotFound, ModelNotFound:
		return http.StatusNotFound
	case MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case BodyTimeout:
		return http.StatusRequestTimeout
	case BodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case ConnectionFailed, HandoffFailed:
		return http.StatusBadGateway
	case Unavailable, ResourceExhausted, InitWaitExceeded:
		return http.StatusServiceUnavailable
	case HeaderTimeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// write answers with an OpenAI error object.
func (e *Error) write(w http.ResponseWriter) {
	status := e.Kind.Status()
	class := "invalid_request_error"
	if status >= 500 {
		class = "server_error"
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": e.Message, "type": class, "code": string(e.Kind),
	}})
	if err != nil { // cannot happen with strings
		body = []byte(`{"error":{"message":"internal error","type":"server_error","code":"internal"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has left needs no answer
}
