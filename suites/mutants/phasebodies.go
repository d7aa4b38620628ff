package mutants

import (
	"encoding/json"

	"github.com/routeproof/routeproof/impl/rawjson"
)

// PDSFloats reads numbers as floats.
func (Catalogue) PDSFloats() Mutant {
	return handing("pds/floats", "what prefill left is decoded and encoded again, with numbers as floats", func(h *passing) {
		inner := h.decode
		h.decode = func(body, answer []byte) ([]byte, error) {
			var v map[string]any
			if err := json.Unmarshal(answer, &v); err != nil {
				return nil, err
			}
			again, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			return inner(body, again)
		}
	}, "PDS-001/hand-off", "PDS-001/whole")
}

// PDSKeepsOptions asks for no stream, with options for one.
func (Catalogue) PDSKeepsOptions() Mutant {
	return handing("pds/keeps-stream-options", "the prefill worker is sent the client's stream_options, and asked for no stream", func(h *passing) {
		inner := h.prefill
		h.prefill = func(body []byte) ([]byte, error) {
			out, err := inner(body)
			options, ok := rawjson.Member(body, "stream_options")
			if err != nil || !ok {
				return out, err
			}
			return rawjson.Apply(out, rawjson.Edit{Name: "stream_options", Value: string(options), Add: true})
		}
	}, "PDS-001/hand-off")
}
