package handoff

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestThePrefillRequestAsksForOneTokenAndTheBlocks(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"everything", `{"model":"m", "max_tokens": 500 ,"max_completion_tokens":400,"min_tokens":10,"min_completion_tokens":9,"stream":true,"stream_options":{"include_usage":true},"x":1.0}`,
			`{"model":"m", "max_tokens": 1 ,"max_completion_tokens":1,"stream":false,"x":1.0,"kv_transfer_params":` + wanted + `}`},
		{"nothing", `{"model":"m","prompt":"p"}`, `{"model":"m","prompt":"p","max_tokens":1,"stream":false,"kv_transfer_params":` + wanted + `}`},
		{"a client's own parameters", `{"kv_transfer_params":{"do_remote_prefill":true,"remote_host":"evil"},"max_tokens":null,"stream":false}`,
			`{"kv_transfer_params":` + wanted + `,"max_tokens":1,"stream":false}`},
		{"an inner limit", `{"messages":[{"max_tokens":5}],"max_tokens":5,"stream":null}`, `{"messages":[{"max_tokens":5}],"max_tokens":1,"stream":false,"kv_transfer_params":` + wanted + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := KVTransfer{}.Prefill([]byte(c.body))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
	if !json.Valid([]byte(wanted)) {
		t.Error("what is asked for is not JSON")
	}
}

func TestTheDecodeRequestIsTheClientsWithTheWorkersParameters(t *testing.T) {
	given := `{ "remote_engine_id":"e","remote_block_ids":[[1,2]],"remote_port":5600,"new_field":1e400 }`
	body := `{ "model":"m","temperature":0.70,"seed":12345678901234567890,"stream":true , "unknown":{"a":[]} }`
	for _, c := range []struct{ name, body, answer, want string }{
		{"parameters", body, `{"id":"x","choices":[],"kv_transfer_params":` + given + `}`, strings.TrimSuffix(body, " }") + `,"kv_transfer_params":` + given + ` }`},
		{"parameters instead of the client's", `{"kv_transfer_params":{"remote_host":"evil"},"a":1}`, `{"kv_transfer_params":` + given + `}`, `{"kv_transfer_params":` + given + `,"a":1}`},
		{"none", body, `{"id":"x"}`, body},
		{"null", body, `{"kv_transfer_params":null}`, body},
		{"none instead of the client's", `{"kv_transfer_params":{"remote_host":"evil"},"a":1}`, `{}`, `{"a":1}`},
		{"only those of the answer itself", `{"a":1}`, `{"choices":[{"kv_transfer_params":{"x":1}}]}`, `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := KVTransfer{}.Decode([]byte(c.body), []byte(c.answer))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestWhatCannotBeHandedOverIsAnError(t *testing.T) {
	for _, answer := range []string{"", "null", "[]", `"x"`, "data: {}\n\n", `{"kv_transfer_params":1}`, `{"kv_transfer_params":[]}`, `{"kv_transfer_params":"x"}`, `{"kv_transfer_params":{}`} {
		if got, err := (KVTransfer{}).Decode([]byte(`{"a":1}`), []byte(answer)); err == nil || !strings.Contains(err.Error(), "answer") {
			t.Errorf("%q: got %s, %v", answer, got, err)
		}
	}
	for _, body := range []string{"", "[]", "{"} {
		if got, err := (KVTransfer{}).Prefill([]byte(body)); err == nil {
			t.Errorf("%q: got %s", body, got)
		}
		if got, err := (KVTransfer{}).Decode([]byte(body), []byte(`{}`)); err == nil {
			t.Errorf("%q: got %s", body, got)
		}
	}
}

func TestOnlyGenerationFromAPromptSplits(t *testing.T) {
	for path, want := range map[string]bool{"/v1/completions": true, "/v1/chat/completions": true, "/v1/embeddings": false, "/v1/chat/completions/": false, "/v1/responses": false} {
		if got := (KVTransfer{}).Splits(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
