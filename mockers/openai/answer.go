package openai

import "strconv"

// Body is the whole answer of a request without stream, usage included, and of
// one that issues a hand-off, streamed or not: those pass kv_transfer_params to
// the router, which vLLM does only in whole answers. A nil transfer is none.
func (q *Request) Body(issued *KVTransfer) []byte {
	b := make([]byte, 0, 512+9*q.Tokens)
	b = q.appendHead(b, "text_completion", "chat.completion")
	if q.Endpoint == Chat {
		b = append(b, `"choices":[{"index":0,"message":{"role":"assistant","content":"`...)
	} else {
		b = append(b, `"choices":[{"index":0,"text":"`...)
	}
	for i := range q.Tokens {
		b = q.appendText(b, i)
	}
	b = append(b, '"')
	if q.Endpoint == Chat {
		b = append(b, '}')
	}
	b = append(b, `,"logprobs":null,"finish_reason":"length"}],`...)
	b = q.appendUsage(b)
	if issued != nil {
		b = q.appendTransfer(b, issued)
	}
	return append(b, '}')
}

func (q *Request) appendHead(b []byte, completions, chat string) []byte {
	object := completions
	if q.Endpoint == Chat {
		object = chat
	}
	b = append(append(b, `{"id":"`...), q.ID()...)
	b = append(append(b, `","object":"`...), object...)
	b = strconv.AppendInt(append(b, `","created":`...), q.created(), 10)
	b = append(append(b, `,"model":`...), quote(q.Model)...)
	return append(b, ',')
}

func (q *Request) appendUsage(b []byte) []byte {
	b = strconv.AppendInt(append(b, `"usage":{"prompt_tokens":`...), int64(q.PromptTokens), 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(q.PromptTokens+q.Tokens), 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), int64(q.Tokens), 10)
	return append(b, '}')
}

// Models is the body of GET /v1/models.
func Models(models []string) []byte {
	b := []byte(`{"object":"list","data":[`)
	for i, m := range models {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"id":`...), quote(m)...)
		b = append(b, `,"object":"model","created":1700000000,"owned_by":"routeproof","root":`...)
		b = append(b, quote(m)...)
		b = strconv.AppendInt(append(b, `,"parent":null,"max_model_len":`...), MaxTokens, 10)
		b = append(b, '}')
	}
	return append(b, `]}`...)
}
