package openai

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
)

// readPrompt takes marker, prompt tokens and the answer's seed from the prompt.
func (q *Request) readPrompt(w *wireRequest) *Error {
	seed := fnv.New64a()
	io.WriteString(seed, q.Model)
	var e *Error
	if q.Endpoint == Chat {
		e = q.readMessages(w, seed)
	} else {
		e = q.readCompletionPrompt(w, seed)
	}
	q.seed = seed.Sum64()
	return e
}

func (q *Request) readMessages(w *wireRequest, seed io.Writer) *Error {
	if len(w.Messages) == 0 {
		return bad("messages", "messages is missing or empty; send at least one message")
	}
	for i, m := range w.Messages {
		text, err := contentText(m.Content)
		if err != nil {
			return bad("messages", "messages[%d].content: %v", i, err)
		}
		if i == len(w.Messages)-1 {
			q.Marker = FindMarker(text)
		}
		q.PromptTokens += len(strings.Fields(text))
		fmt.Fprintf(seed, "\x00%s\x01%s", m.Role, text)
	}
	return nil
}

// contentText is the text of a message: a string, or the text parts of an
// array; nothing for null, which is what an assistant's tool call carries.
func contentText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("want a string or an array of parts like {\"type\":\"text\",\"text\":\"...\"}: %w", err)
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

func (q *Request) readCompletionPrompt(w *wireRequest, seed io.Writer) *Error {
	if len(w.Prompt) == 0 || string(w.Prompt) == "null" {
		return bad("prompt", "prompt is missing; send a string, an array with one string, or an array of token ids")
	}
	var text string
	if json.Unmarshal(w.Prompt, &text) == nil {
		return q.takePrompt(text, seed)
	}
	var ids []uint32
	if json.Unmarshal(w.Prompt, &ids) == nil && len(ids) > 0 {
		q.PromptTokens = len(ids)
		fmt.Fprintf(seed, "\x00%v", ids)
		return nil
	}
	var texts []string
	if err := json.Unmarshal(w.Prompt, &texts); err != nil {
		return bad("prompt", "prompt: want a string, an array with one string, or an array of token ids: %v", err)
	}
	// The key is read even from an array that is refused below.
	e := q.takePrompt(strings.Join(texts, "\n"), seed)
	if len(texts) != 1 {
		return bad("prompt", "prompt has %d entries; a mock worker answers one choice, so send exactly one", len(texts))
	}
	return e
}

func (q *Request) takePrompt(text string, seed io.Writer) *Error {
	q.Marker = FindMarker(text)
	q.PromptTokens = len(strings.Fields(text))
	fmt.Fprintf(seed, "\x00%s", text)
	return nil
}
