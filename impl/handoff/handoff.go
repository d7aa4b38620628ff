// Package handoff makes the two requests of disaggregated serving out of a client's
// one: what the prefill worker is asked to compute, and what the decode worker is
// told of it. It changes bytes and sends nothing.
package handoff

import (
	"fmt"

	"github.com/routeproof/routeproof/impl/rawjson"
)

// KVTransfer speaks vLLM's protocol over HTTP, in which the workers pass the KV
// blocks among themselves and the router carries only their description, from the
// kv_transfer_params of the prefill worker's answer to those of the decode worker's
// request. The fields are those that vLLM's proxy for the NixlConnector sends.
type KVTransfer struct{}

const params = "kv_transfer_params"

// wanted asks a prefill worker to keep the blocks of the prompt and to describe
// them; there is nothing for it to fetch.
const wanted = `{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}`

// Splits says whether requests to the path can run in two phases: those that
// generate from a prompt, and whose limits on tokens are known.
func (KVTransfer) Splits(path string) bool {
	return path == "/v1/completions" || path == "/v1/chat/completions"
}

// Prefill returns the prefill worker's request: the client's, but for one token
// and unstreamed. A least number of tokens is dropped, because it could contradict
// the one. It fails if the body is not a JSON object.
func (KVTransfer) Prefill(body []byte) ([]byte, error) {
	out, err := rawjson.Apply(body,
		rawjson.Edit{Name: "max_tokens", Value: "1", Add: true},
		rawjson.Edit{Name: "max_completion_tokens", Value: "1"},
		rawjson.Edit{Name: "min_tokens"},
		rawjson.Edit{Name: "min_completion_tokens"},
		rawjson.Edit{Name: "stream", Value: "false", Add: true},
		rawjson.Edit{Name: "stream_options"},
		rawjson.Edit{Name: params, Value: wanted, Add: true},
	)
	if err != nil {
		return nil, fmt.Errorf("the request body: %w", err)
	}
	return out, nil
}

// Decode returns the decode worker's request: the client's, with the prefill
// worker's parameters. What the client itself sent as parameters is dropped:
// they name hosts to fetch from, which is not for clients to choose. A prefill
// worker that has nothing to hand over, as for a prompt of less than a block,
// sends no parameters or null; the decode worker then computes everything itself.
// It fails if the answer is not a JSON object, or its parameters are not.
func (KVTransfer) Decode(body, answer []byte) ([]byte, error) {
	got, err := rawjson.Apply(answer)
	if err != nil {
		return nil, fmt.Errorf("the prefill worker's answer: %w", err)
	}
	e := rawjson.Edit{Name: params}
	if value, ok := rawjson.Member(got, params); ok && string(value) != "null" {
		if value[0] != '{' {
			return nil, fmt.Errorf("the prefill worker's answer: %s is %.40s, not an object", params, value)
		}
		e.Value, e.Add = string(value), true
	}
	out, err := rawjson.Apply(body, e)
	if err != nil {
		return nil, fmt.Errorf("the request body: %w", err)
	}
	return out, nil
}
