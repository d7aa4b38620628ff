package judge_test

import (
	"testing"

	"github.com/routeproof/routeproof/suites/judge"
)

// bodies are what the client sent, and what its prefill and its decode worker received.
func inPhases(sent, prefill, decode string) opt {
	return func(q *told) {
		q.SentBody = []byte(sent)
		for i, body := range []string{prefill, decode} {
			if i < len(q.tries) {
				if q.tries[i].Body = []byte(body); body == "" {
					q.tries[i].Body = nil
				}
			}
		}
	}
}

func TestAskedWholeComparesWhatBothPhasesAreAsked(t *testing.T) {
	const sent = `{"prompt":"p","max_tokens":8,"stream":true,"seed":9007199254740993}`
	const prefill = `{"prompt":"p","max_tokens":1,"stream":false,"seed":9007199254740993,"kv_transfer_params":{"do_remote_decode":true}}`
	const decode = `{"prompt":"p","max_tokens":8,"stream":true,"seed":9007199254740993,"kv_transfer_params":{"do_remote_prefill":true}}`
	one := func(prefill, decode string) func(h *story) {
		return func(h *story) { h.split("", "p0 d0", inPhases(sent, prefill, decode)) }
	}
	try(t, judge.AskedWhole(1),
		trial{"as it must be", one(prefill, decode), ""},
		trial{"prefill is told more", one(`{"n":1,`+prefill[1:], decode), ""},
		trial{"decode is told more", one(prefill, `{"n":1,`+decode[1:]), violated + "n was added"},
		trial{"two tokens at least in prefill", one(`{"min_tokens":2,`+prefill[1:], decode), violated + "at least 2 tokens"},
		trial{"one token at least in prefill", one(`{"min_tokens":1,`+prefill[1:], decode), ""},
		trial{"another prompt in prefill", one(`{"prompt":"q","seed":9007199254740993}`, decode), violated + "prompt"},
		trial{"a rounded number in decode", one(prefill, `{"prompt":"p","max_tokens":8,"stream":true,"seed":9007199254740992}`), violated + "seed"},
		trial{"another limit in decode", one(prefill, `{"prompt":"p","max_tokens":1,"stream":true,"seed":9007199254740993}`), violated + "max_tokens"},
		trial{"a stream that is lost", one(prefill, `{"prompt":"p","max_tokens":8,"seed":9007199254740993}`), violated + "stream"},
		trial{"no JSON", one(prefill, `{`), violated + "no JSON object"},
		trial{"a body that was not kept", one(prefill, ""), doubt + "0 of 1"},
		trial{"aggregated serving", func(h *story) { h.ask("w0", inPhases(sent, sent, "")) }, doubt + "0 of 1"},
		trial{"nothing sent", nil, doubt + "0 of 1"},
	)
}

func TestSameClassWantsOneDispatchAndItsClass(t *testing.T) {
	saw := func(code int) opt { return func(q *told) { q.Status = code } }
	try(t, judge.SameClass(),
		trial{"passed on", func(h *story) { h.ask("w0", status(429)) }, ""},
		trial{"another status of the class", func(h *story) { h.ask("w0", status(500), saw(502)) }, ""},
		trial{"another class", func(h *story) { h.ask("w0", status(422), saw(502)) }, violated + "status 502"},
		trial{"two dispatches", func(h *story) { h.ask("w0 w1", status(503)) }, violated + "2 dispatches"},
		trial{"none", func(h *story) { h.ask("", saw(503)) }, violated + "0 dispatches"},
		trial{"a success", func(h *story) { h.ask("w0") }, doubt + "only 0"},
		trial{"nothing sent", nil, doubt + "of 0"},
	)
}
