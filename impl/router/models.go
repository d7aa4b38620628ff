package router

import (
	"encoding/json"
	"slices"
)

// BodyModels reads the model from the "model" member of a JSON object.
type BodyModels struct{}

// Model implements Models.
func (BodyModels) Model(body []byte, known []string) (string, error) {
	if !json.Valid(body) {
		return "", errorf(InvalidArgument, "the request body is not valid JSON")
	}
	raw, ok := property(body, "model")
	if !ok {
		return "", errorf(InvalidArgument, `the request body names no model: send a JSON object with a "model"`)
	}
	var model string
	if raw[0] != '"' || json.Unmarshal(raw, &model) != nil {
		return "", errorf(InvalidArgument, `"model" must be a string`)
	}
	if _, ok := slices.BinarySearch(known, model); !ok {
		return "", errorf(ModelNotFound, "the model %q does not exist: GET /v1/models lists those that do", model)
	}
	return model, nil
}

// property returns the raw value of the named property of a valid JSON document, if
// that is an object. Names are case-sensitive, and of a repeated one the last
// counts, as for most workers. encoding/json alone would ignore case, and
// copy the whole body on the way.
func property(doc []byte, name string) (value []byte, ok bool) {
	i := blank(doc, 0)
	if doc[i] != '{' {
		return nil, false
	}
	i = blank(doc, i+1)
	for doc[i] != '}' {
		end := skipString(doc, i)
		key := doc[i:end]
		start := blank(doc, blank(doc, end)+1) // over the colon
		i = skipValue(doc, start)
		if isName(key, name) {
			value, ok = doc[start:i], true
		}
		if i = blank(doc, i); doc[i] == ',' {
			i = blank(doc, i+1)
		}
	}
	return value, ok
}

func isName(key []byte, name string) bool {
	if string(key[1:len(key)-1]) == name {
		return true
	}
	if !slices.Contains(key, '\\') {
		return false
	}
	var s string
	return json.Unmarshal(key, &s) == nil && s == name
}

func blank(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\t' || doc[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the string that begins at i.
func skipString(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// skipValue returns the index behind the value that begins at i.
func skipValue(doc []byte, i int) int {
	depth := 0
	for i < len(doc) {
		switch doc[i] {
		case '"':
			i = skipString(doc, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // behind a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
