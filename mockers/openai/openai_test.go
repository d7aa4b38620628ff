package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

var models = []string{"mock", "other"}

func parse(t *testing.T, e Endpoint, body string) *Request {
	t.Helper()
	q, err := Parse(e, []byte(body), models, 8)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return q
}

func TestParseReadsWhatAWorkerNeeds(t *testing.T) {
	for _, c := range []struct {
		name     string
		endpoint Endpoint
		body     string
		want     Request
	}{
		{"a chat in one string", Chat, `{"model":"mock","user":"u","stream":true,"messages":[{"role":"user","content":"two words"}]}`,
			Request{Model: "mock", User: "u", Stream: true, Tokens: 8, PromptTokens: 2}},
		{"the last message's marker, not an earlier one's", Chat, `{"model":"mock","messages":[{"role":"user","content":"[[rp:old]]"},{"role":"user","content":"hi [[rp:new]] x"}]}`,
			Request{Model: "mock", Marker: "new", Tokens: 8, PromptTokens: 4}},
		{"text parts, and others that carry none", Chat, `{"messages":[{"content":[{"type":"text","text":"a b"},{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"[[rp:k]]"}]}]}`,
			Request{Model: "mock", Marker: "k", Tokens: 8, PromptTokens: 3}},
		{"a null content", Chat, `{"messages":[{"role":"assistant","content":null},{"content":"a"}]}`,
			Request{Model: "mock", Tokens: 8, PromptTokens: 1}},
		{"max_completion_tokens before max_tokens", Chat, `{"max_tokens":3,"max_completion_tokens":5,"messages":[{"content":"a"}]}`,
			Request{Model: "mock", Tokens: 5, Limit: 5, PromptTokens: 1}},
		{"unknown fields of any type", Chat, `{"temperature":"warm","tools":[1],"messages":[{"content":"a","name":4}]}`,
			Request{Model: "mock", Tokens: 8, PromptTokens: 1}},
		{"usage in a stream", Completions, `{"model":"other","prompt":"[[rp:k]] a","stream":true,"stream_options":{"include_usage":true},"max_tokens":1}`,
			Request{Model: "other", Marker: "k", Stream: true, IncludeUsage: true, Tokens: 1, Limit: 1, PromptTokens: 2}},
		{"an array of one prompt", Completions, `{"prompt":["a [[rp:k]]"]}`,
			Request{Model: "mock", Marker: "k", Tokens: 8, PromptTokens: 2}},
		{"token ids", Completions, `{"prompt":[5,6,7]}`,
			Request{Model: "mock", Tokens: 8, PromptTokens: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := *parse(t, c.endpoint, c.body)
			c.want.Endpoint, c.want.seed = c.endpoint, q.seed
			if q != c.want {
				t.Errorf("got  %+v\nwant %+v", q, c.want)
			}
		})
	}
}

func TestParseRefusesWithAnErrorThatNamesTheField(t *testing.T) {
	for _, c := range []struct {
		endpoint Endpoint
		body     string
		status   int
		says     string
	}{
		{Chat, `{`, 400, "not a valid chat request"},
		{Chat, `[]`, 400, "not a valid chat request"},
		{Chat, `null`, 400, "messages"},
		{Chat, `{}`, 400, "messages"},
		{Chat, `{"messages":[]}`, 400, "messages"},
		{Chat, `{"messages":[{"content":7}]}`, 400, "messages[0].content"},
		{Chat, `{"messages":[{"content":"a"}]} {}`, 400, "more than one JSON value"},
		{Chat, `{"messages":[{"content":"a"}],"n":2}`, 400, "n is 2"},
		{Chat, `{"messages":[{"content":"a"}],"max_tokens":0}`, 400, "max_tokens is 0"},
		{Chat, `{"messages":[{"content":"a"}],"max_completion_tokens":99999999}`, 400, "max_completion_tokens is 99999999"},
		{Chat, `{"messages":[{"content":"a"}],"stream_options":{}}`, 400, "stream_options"},
		{Chat, `{"messages":[{"content":"a"}],"stream":"yes"}`, 400, "stream"},
		{Chat, `{"messages":[{"content":"a"}],"model":"none"}`, 404, "`none`"},
		{Completions, `{}`, 400, "prompt"},
		{Completions, `{"prompt":null}`, 400, "prompt"},
		{Completions, `{"prompt":[]}`, 400, "prompt has 0 entries"},
		{Completions, `{"prompt":["a","b"]}`, 400, "prompt has 2 entries"},
		{Completions, `{"prompt":{}}`, 400, "prompt"},
	} {
		_, err := Parse(c.endpoint, []byte(c.body), models, 8)
		if err == nil {
			t.Errorf("%s %s was accepted", c.endpoint, c.body)
			continue
		}
		if err.Status != c.status || !strings.Contains(err.Message, c.says) {
			t.Errorf("%s %s: %d %q; want %d with %q", c.endpoint, c.body, err.Status, err.Message, c.status, c.says)
		}
	}
}

func TestARefusedRequestCanStillBeJoined(t *testing.T) {
	for _, body := range []string{
		`{"user":"u","model":"none","prompt":"[[rp:k]]"}`,
		`{"user":"u","max_tokens":-1,"prompt":"[[rp:k]]"}`,
		`{"user":"u","prompt":["[[rp:k]]","b"]}`,
		`{"user":"u","prompt":"[[rp:k]]"} trailing`,
	} {
		q, err := Parse(Completions, []byte(body), models, 8)
		if err == nil || q.Marker != "k" || q.User != "u" {
			t.Errorf("%s: marker %q, user %q, error %v", body, q.Marker, q.User, err)
		}
	}
}

func TestErrorBodiesAreOpenAIErrorObjects(t *testing.T) {
	e := &Error{Status: http.StatusNotFound, Message: `no "x"`, Param: "model"}
	const want = `{"error":{"message":"no \"x\"","type":"NotFoundError","param":"model","code":404}}`
	if got := string(e.Body()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Param = ""
	if got := string(e.Body()); !strings.Contains(got, `"param":null`) {
		t.Errorf("without a param: %s", got)
	}
}

func TestMarkers(t *testing.T) {
	long := strings.Repeat("x", MaxKey+1)
	for text, want := range map[string]string{
		"": "", "[[rp:": "", "[[rp:]]": "", "[[rp:a]]": "a", "x [[rp:a]] [[rp:b]]": "a",
		"[[rp:]] [[rp:b]]": "b", "[[rp:" + long + "]] [[rp:c]]": "c", Marker("k-1") + "]]": "k-1",
	} {
		if got := FindMarker(text); got != want {
			t.Errorf("FindMarker(%q) = %q; want %q", text, got, want)
		}
	}
}

type answer struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Text    string
		Message struct{ Role, Content string }
		Delta   struct{ Role, Content string }
		Finish  *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
}

func decode(t *testing.T, b []byte) (a answer) {
	t.Helper()
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return a
}

// events reads a whole stream and returns its data fields.
func events(t *testing.T, q *Request) (data []string) {
	t.Helper()
	for s := q.NewStream(); ; {
		e, _, ok := s.Next()
		if !ok {
			return data
		}
		d, isData := strings.CutPrefix(string(e), "data: ")
		d, ends := strings.CutSuffix(d, "\n\n")
		if !isData || !ends || strings.ContainsAny(d, "\r\n") {
			t.Fatalf("not one event: %q", e)
		}
		data = append(data, d)
	}
}

func TestAnAnswerHoldsTheKeyOnceAsItsFirstToken(t *testing.T) {
	for _, key := range []string{"k1", `we"ird\ <key>`, ""} {
		want := key
		if key == "" {
			want = unnamed
		}
		for _, e := range []Endpoint{Chat, Completions} {
			q := parse(t, e, `{"messages":[{"content":"a b"}],"prompt":"a b","max_tokens":5}`)
			q.Key = key
			a := decode(t, q.Body(nil))
			text := a.Choices[0].Text + a.Choices[0].Message.Content
			rest, found := strings.CutPrefix(text, want+" ")
			if !found || strings.Contains(rest, want) || len(strings.Fields(rest)) != 4 {
				t.Errorf("%s with key %q answers %q", e, key, text)
			}
			if u := a.Usage; u == nil || u.Prompt != 2 || u.Completion != 5 || u.Total != 7 {
				t.Errorf("%s: usage %+v", e, u)
			}
			streamed := ""
			for _, d := range events(t, q) {
				if d == "[DONE]" {
					continue
				}
				for _, c := range decode(t, []byte(d)).Choices {
					streamed += c.Text + c.Delta.Content
				}
			}
			if streamed != text {
				t.Errorf("%s: streamed %q, whole %q", e, streamed, text)
			}
		}
	}
}

func TestAStreamHasTheEventsOfItsRequestInOrder(t *testing.T) {
	for _, e := range []Endpoint{Chat, Completions} {
		for _, usage := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, usage %v", e, usage), func(t *testing.T) {
				q := parse(t, e, fmt.Sprintf(`{"messages":[{"content":"a"}],"prompt":"a","stream":true,"max_tokens":3,"stream_options":{"include_usage":%v}}`, usage))
				ev := events(t, q)
				if len(ev) != q.Events() || ev[len(ev)-1] != "[DONE]" {
					t.Fatalf("%d events, the last %s; want %d and [DONE]", len(ev), ev[len(ev)-1], q.Events())
				}
				ev = ev[:len(ev)-1]
				if usage {
					last := decode(t, []byte(ev[len(ev)-1]))
					if last.Usage == nil || last.Usage.Completion != 3 || len(last.Choices) != 0 {
						t.Errorf("usage event %+v", last)
					}
					ev = ev[:len(ev)-1]
				}
				for i, d := range ev {
					a := decode(t, []byte(d))
					if a.Usage != nil || len(a.Choices) != 1 {
						t.Fatalf("event %d: %s", i, d)
					}
					if role := a.Choices[0].Delta.Role; (role == "assistant") != (e == Chat && i == 0) {
						t.Errorf("event %d has role %q", i, role)
					}
					if f := a.Choices[0].Finish; (f != nil) != (i == len(ev)-1) {
						t.Errorf("event %d: finish reason %v", i, f)
					}
				}
			})
		}
	}
}

func TestOnlyTheFirstTokenWaitsForTheTimeToFirstToken(t *testing.T) {
	for e, want := range map[Endpoint][]Pace{
		Chat:        {FirstToken, AtOnce, NextToken, NextToken, AtOnce},
		Completions: {FirstToken, NextToken, NextToken, AtOnce},
	} {
		q := parse(t, e, `{"messages":[{"content":"a"}],"prompt":"a","max_tokens":3}`)
		var got []Pace
		for s := q.NewStream(); ; {
			_, pace, ok := s.Next()
			if !ok {
				break
			}
			got = append(got, pace)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s waits %v; want %v", e, got, want)
		}
	}
}

func TestEqualRequestsGetEqualAnswersAndOthersDoNot(t *testing.T) {
	ask := func(e Endpoint, model, prompt string) []byte {
		q := parse(t, e, fmt.Sprintf(`{"model":%q,"prompt":%q,"messages":[{"content":%q}],"max_tokens":20}`, model, prompt, prompt))
		q.Key = "k"
		return q.Body(nil)
	}
	for _, e := range []Endpoint{Chat, Completions} {
		first := ask(e, "mock", "a")
		if !bytes.Equal(first, ask(e, "mock", "a")) {
			t.Errorf("%s: the same request was answered differently", e)
		}
		a, b, c := decode(t, first), decode(t, ask(e, "other", "a")), decode(t, ask(e, "mock", "b"))
		if a.ID == b.ID || a.ID == c.ID || a.Created == c.Created {
			t.Errorf("%s: different requests share an id or a time: %+v %+v %+v", e, a, b, c)
		}
	}
}

func TestModelsListsEveryName(t *testing.T) {
	var list struct{ Data []struct{ ID, Object string } }
	if err := json.Unmarshal(Models(models), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != 2 || list.Data[0].ID != "mock" || list.Data[1].ID != "other" || list.Data[0].Object != "model" {
		t.Errorf("got %+v", list)
	}
}

func FuzzParseNeverPanicsAndNeverAcceptsWhatItCannotAnswer(f *testing.F) {
	f.Add([]byte(`{"messages":[{"content":[{"type":"text","text":"[[rp:k]]"}]}],"prompt":["x"],"max_tokens":2}`))
	f.Add([]byte(`{"prompt":[1,2],"stream":true}`))
	f.Add([]byte(`{"prompt":"a","kv_transfer_params":{"do_remote_prefill":true,"remote_block_ids":[[1]]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, e := range []Endpoint{Chat, Completions} {
			q, err := Parse(e, body, models, 2)
			if err == nil && q.Tokens > 1000 {
				continue
			}
			if err == nil && !json.Valid(q.Body(nil)) {
				t.Errorf("%q is answered %q", body, q.Body(nil))
			}
		}
	})
}

func BenchmarkParseChat(b *testing.B) {
	body := fmt.Appendf(nil, `{"model":"mock","messages":[{"role":"user","content":%q}]}`, strings.Repeat("word ", 200)+Marker("k"))
	b.ReportAllocs()
	for b.Loop() {
		Parse(Chat, body, models, 8)
	}
}

func BenchmarkStreamEvent(b *testing.B) {
	q, _ := Parse(Chat, []byte(`{"messages":[{"content":"a"}],"max_tokens":1000000}`), models, 8)
	s := q.NewStream()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := s.Next(); !ok {
			s = q.NewStream()
		}
	}
}
