package router

import (
	"encoding/json"
	"slices"

	"github.com/routeproof/routeproof/impl/rawjson"
)

// BodyModels reads the model from the "model" member of a JSON object.
type BodyModels struct {
	Aliases map[string]string // other names -> those that workers serve; nil: none
}

// Model implements Models.
func (b BodyModels) Model(body []byte, known []string) (string, error) {
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
	asked := model
	if own, ok := b.Aliases[model]; ok {
		model = own
	}
	if _, ok := slices.BinarySearch(known, model); !ok {
		return "", errorf(ModelNotFound, "the model %q does not exist: GET /v1/models lists those that do", asked)
	}
	return model, nil
}

// underOwnName returns the body with an alias replaced by the name of the model that it
// means, and else as it is.
func underOwnName(body []byte, aliases map[string]string) ([]byte, error) {
	raw, ok := rawjson.Member(body, "model")
	var name string
	if !ok || len(aliases) == 0 || json.Unmarshal(raw, &name) != nil || aliases[name] == "" {
		return body, nil
	}
	own, err := json.Marshal(aliases[name])
	if err != nil {
		return nil, err
	}
	return rawjson.Apply(body, rawjson.Edit{Name: "model", Value: string(own)})
}
