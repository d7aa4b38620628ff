package router

import (
	"encoding/json"
	"slices"

	"github.com/routeproof/routeproof/impl/rawjson"
)

// BodyModels reads the model from the "model" member of a JSON object.
type BodyModels struct{}

// Model implements Models.
func (BodyModels) Model(body []byte, known []string) (string, error) {
	if !json.Valid(body) {
		return "", errorf(InvalidArgument, "the request body is not valid JSON")
	}
	raw, ok := rawjson.Member(body, "model")
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
