package openai

import (
	"encoding/json"
	"net/http"
)

// Error is an OpenAI error object together with its HTTP status.
type Error struct {
	Status  int    // HTTP status, also the object's code, as vLLM answers it
	Message string // names the field, the value and the remedy
	Param   string // the request field at fault, empty if none
}

func (e *Error) Error() string { return e.Message }

// Body is the JSON error object. It depends on nothing but the error.
func (e *Error) Body() []byte {
	type object struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    int     `json:"code"`
	}
	o := object{Message: e.Message, Type: errorType(e.Status), Code: e.Status}
	if e.Param != "" {
		o.Param = &e.Param
	}
	b, err := json.Marshal(map[string]object{"error": o})
	if err != nil { // strings and an int always marshal
		return []byte(`{"error":{"message":"mock worker cannot encode its error","type":"InternalServerError","param":null,"code":500}}`)
	}
	return b
}

func errorType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "BadRequestError"
	case http.StatusNotFound:
		return "NotFoundError"
	case http.StatusMethodNotAllowed:
		return "MethodNotAllowedError"
	case http.StatusRequestEntityTooLarge:
		return "RequestTooLargeError"
	case http.StatusTooManyRequests:
		return "TooManyRequestsError"
	case http.StatusServiceUnavailable:
		return "ServiceUnavailableError"
	}
	if status < 500 {
		return "BadRequestError"
	}
	return "InternalServerError"
}
