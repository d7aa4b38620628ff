package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// BlockSize is how many prompt tokens a KV block holds.
const BlockSize = 16

// KVTransfer is the body's kv_transfer_params, by which vLLM's NixlConnector
// passes a prompt's KV blocks from a prefill to a decode engine. A router asks
// the prefill engine with do_remote_decode, gets the parameters for the decode
// engine in the answer, and hands them on as they are. A request for a decode
// engine must have all five remote fields; more fields may be there, and the mock
// sends one that vLLM does not: remote_lease, as connectors number things in 64 bits.
type KVTransfer struct {
	RemoteDecode  bool   // do_remote_decode: keep the blocks and name them in the answer
	RemotePrefill bool   // do_remote_prefill: fetch the blocks that are named here
	ID            string // remote_request_id
	Engine        string // remote_engine_id
	Host          string // remote_host
	Port          int    // remote_port
	Blocks        []int  // remote_block_ids, which is a list of one list: there is one KV cache group
	Tokens        int    // remote_num_tokens, how long the prompt is; 0 where it is not said
	Lease         int64  // remote_lease, which needs more digits than a float has; 0 where it is not said
	Malformed     string // what is wrong with the parameters; empty if nothing is
}

type wireTransfer struct {
	ID     string  `json:"remote_request_id"`
	Engine string  `json:"remote_engine_id"`
	Host   string  `json:"remote_host"`
	Port   int     `json:"remote_port"`
	Blocks [][]int `json:"remote_block_ids"`
	Tokens int     `json:"remote_num_tokens"`
	Lease  int64   `json:"remote_lease"`
}

// readTransfer reads the parameters. Only what is no object at all is an error:
// vLLM's server refuses that, and hands everything else to the connector, which
// does without what it cannot use.
func (q *Request) readTransfer(raw json.RawMessage) *Error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] != '{' {
		return bad("kv_transfer_params", "kv_transfer_params is no object; send the object of a prefill worker's answer, or leave it out")
	}
	var ask struct {
		Decode  bool `json:"do_remote_decode"`
		Prefill bool `json:"do_remote_prefill"`
	}
	t := &KVTransfer{}
	q.Transfer = t
	if err := json.Unmarshal(raw, &ask); err != nil {
		t.Malformed = err.Error()
	}
	t.RemoteDecode, t.RemotePrefill = ask.Decode, ask.Prefill
	switch {
	case t.Malformed != "" || !t.RemotePrefill: // whoever fetches nothing need not say where
	case t.RemoteDecode:
		t.Malformed = "do_remote_decode and do_remote_prefill are both true"
	default:
		t.readPlace(raw)
	}
	return nil
}

func (t *KVTransfer) readPlace(raw json.RawMessage) {
	var w wireTransfer
	if err := json.Unmarshal(raw, &w); err != nil {
		t.Malformed = err.Error()
	}
	t.ID, t.Engine, t.Host, t.Port, t.Tokens, t.Lease = w.ID, w.Engine, w.Host, w.Port, w.Tokens, w.Lease
	if len(w.Blocks) == 1 {
		t.Blocks = w.Blocks[0]
	}
	if t.Malformed == "" && (t.ID == "" || t.Engine == "" || t.Host == "" || t.Port == 0 || len(t.Blocks) == 0) {
		t.Malformed = fmt.Sprintf("incomplete: remote_request_id %q, remote_engine_id %q, remote_host %q, remote_port %d, %d lists of remote_block_ids with %d blocks",
			t.ID, t.Engine, t.Host, t.Port, len(w.Blocks), len(t.Blocks))
	}
}

// PromptBlocks is how many KV blocks the prompt fills, the last one maybe in part.
func (q *Request) PromptBlocks() int { return max((q.PromptTokens+BlockSize-1)/BlockSize, 1) }

// appendTransfer appends the member that names a hand-off, with the comma before it.
func (q *Request) appendTransfer(b []byte, t *KVTransfer) []byte {
	b = append(b, `,"kv_transfer_params":{"do_remote_prefill":true,"do_remote_decode":false,"remote_block_ids":[[`...)
	b = slices.Grow(b, 256+8*len(t.Blocks))
	for i, n := range t.Blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	b = append(append(b, `]],"remote_engine_id":`...), quote(t.Engine)...)
	b = append(append(b, `,"remote_request_id":`...), quote(t.ID)...)
	b = append(append(b, `,"remote_host":`...), quote(t.Host)...)
	b = strconv.AppendInt(append(b, `,"remote_port":`...), int64(t.Port), 10)
	b = strconv.AppendInt(append(b, `,"tp_size":1,"remote_num_tokens":`...), int64(t.Tokens), 10)
	b = strconv.AppendInt(append(b, `,"remote_lease":`...), t.Lease, 10)
	return append(b, '}')
}
