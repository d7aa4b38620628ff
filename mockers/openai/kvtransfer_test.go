package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const place = `"remote_request_id":"r-0","remote_engine_id":"w0-1","remote_host":"127.0.0.1","remote_port":9000,"remote_block_ids":[[4,5]]`

func TestTheTransferParametersAreRead(t *testing.T) {
	whole := &KVTransfer{RemotePrefill: true, ID: "r-0", Engine: "w0-1", Host: "127.0.0.1", Port: 9000, Blocks: []int{4, 5}}
	for name, c := range map[string]struct {
		params string
		want   *KVTransfer
	}{
		"none":               {`null`, nil},
		"an empty object":    {`{}`, &KVTransfer{}},
		"nothing asked":      {`{"do_remote_decode":false,"do_remote_prefill":null}`, &KVTransfer{}},
		"a place unasked":    {`{` + place + `}`, &KVTransfer{}},
		"issue":              {`{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}`, &KVTransfer{RemoteDecode: true}},
		"issue, tersely":     {`{"do_remote_decode":true}`, &KVTransfer{RemoteDecode: true}},
		"issue, place wrong": {`{"do_remote_decode":true,"remote_port":"?"}`, &KVTransfer{RemoteDecode: true}},
		"use":                {`{"do_remote_prefill":true,"do_remote_decode":false,` + place + `}`, whole},
		"use, and more":      {`{"do_remote_prefill":true,"tp_size":1,"x":{},` + place + `}`, whole},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range []Endpoint{Chat, Completions} {
				q := parse(t, e, `{"model":"mock","prompt":"a","messages":[{"role":"user","content":"a"}],"kv_transfer_params":`+c.params+`}`)
				if d := cmp.Diff(c.want, q.Transfer); d != "" {
					t.Errorf("%s (-want +got):\n%s", e, d)
				}
			}
		})
	}
}

func TestParametersThatCannotBeUsedAreKnownAsMalformed(t *testing.T) {
	for _, params := range []string{
		`{"do_remote_decode":"yes"}`,
		`{"do_remote_prefill":1,` + place + `}`,
		`{"do_remote_decode":true,"do_remote_prefill":true,` + place + `}`,
		`{"do_remote_prefill":true}`,
		`{"do_remote_prefill":true,` + strings.Replace(place, `"r-0"`, `null`, 1) + `}`,
		`{"do_remote_prefill":true,` + strings.Replace(place, `"w0-1"`, `""`, 1) + `}`,
		`{"do_remote_prefill":true,` + strings.Replace(place, `"127.0.0.1"`, `7`, 1) + `}`,
		`{"do_remote_prefill":true,` + strings.Replace(place, `9000`, `"9000"`, 1) + `}`,
		`{"do_remote_prefill":true,` + strings.Replace(place, `[[4,5]]`, `[4,5]`, 1) + `}`,
		`{"do_remote_prefill":true,` + strings.Replace(place, `[[4,5]]`, `[[4],[5]]`, 1) + `}`,
		`{"do_remote_prefill":true,` + strings.Replace(place, `[[4,5]]`, `[[]]`, 1) + `}`,
		`{"do_remote_prefill":true,` + strings.Replace(place, `[[4,5]]`, `[]`, 1) + `}`,
		`{"do_remote_prefill":true,"remote_lease":9.007199254740993e+15,` + place + `}`, // as who reads floats may write it
	} {
		q := parse(t, Completions, `{"model":"mock","prompt":"a","kv_transfer_params":`+params+`}`)
		if q.Transfer.Malformed == "" {
			t.Errorf("%s: read as %+v", params, q.Transfer)
		}
	}
}

func TestTransferParametersThatAreNoObjectAreRefused(t *testing.T) {
	for _, params := range []string{`[]`, `"x"`, `true`, `7`} {
		q, e := Parse(Completions, []byte(`{"model":"mock","user":"u","prompt":"a","kv_transfer_params":`+params+`}`), models, 8)
		if e == nil || e.Status != 400 || e.Param != "kv_transfer_params" || q.User != "u" {
			t.Errorf("%s: %+v, user %q", params, e, q.User)
		}
	}
}

func TestAnAnswerThatIssuesAHandoffNamesItInAFormThatReadsBack(t *testing.T) {
	for _, e := range []Endpoint{Chat, Completions} {
		q := parse(t, e, `{"model":"mock","max_tokens":1,"prompt":"a b","messages":[{"role":"user","content":"a b"}]}`)
		want := &KVTransfer{RemotePrefill: true, ID: `r"-0`, Engine: "w0-1_dp3", Host: "::1", Port: 9000, Blocks: []int{7, 8, 9}, Tokens: 2, Lease: 1<<53 + 1}
		var a struct {
			Usage  json.RawMessage
			Params json.RawMessage `json:"kv_transfer_params"`
		}
		if err := json.Unmarshal(q.Body(want), &a); err != nil || a.Usage == nil {
			t.Fatalf("%s: %v in %s", e, err, q.Body(want))
		}
		again := parse(t, e, fmt.Sprintf(`{"model":"mock","prompt":"a b","messages":[{"role":"user","content":"a b"}],"kv_transfer_params":%s}`, a.Params))
		if d := cmp.Diff(want, again.Transfer); d != "" {
			t.Errorf("%s: %s reads back differently (-want +got):\n%s", e, a.Params, d)
		}
		var extra map[string]any
		if err := json.Unmarshal(a.Params, &extra); err != nil || extra["remote_num_tokens"] != 2.0 || extra["tp_size"] != 1.0 {
			t.Errorf("%s: %v, %v", e, extra, err)
		}
		if strings.Contains(string(q.Body(nil)), "kv_transfer_params") {
			t.Errorf("%s: an answer without a hand-off names one: %s", e, q.Body(nil))
		}
	}
}

func TestPromptBlocksAndLimitAreCounted(t *testing.T) {
	for words, want := range map[int]int{1: 1, 16: 1, 17: 2, 32: 2, 33: 3} {
		q := parse(t, Completions, `{"model":"mock","prompt":"`+strings.Repeat("a ", words)+`"}`)
		if q.PromptBlocks() != want || q.Limit != 0 {
			t.Errorf("%d tokens fill %d blocks, limit %d; want %d, 0", words, q.PromptBlocks(), q.Limit, want)
		}
	}
	if q := parse(t, Completions, `{"model":"mock","prompt":"","max_tokens":1}`); q.PromptBlocks() != 1 || q.Limit != 1 {
		t.Errorf("an empty prompt fills %d blocks, limit %d", q.PromptBlocks(), q.Limit)
	}
	if q := parse(t, Chat, `{"model":"mock","max_tokens":5,"max_completion_tokens":1,"messages":[{"role":"user","content":"a"}]}`); q.Limit != 1 {
		t.Errorf("limit %d; want that of max_completion_tokens", q.Limit)
	}
}
