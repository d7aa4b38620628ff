package judge

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// AskedWhole requires the workers of both phases to have been asked what the client
// asked: a body of equal JSON value, but for the hand-off's parameters and, in prefill, but
// for what limits and streams the answer, and there for no more than one token. A prefill request may hold more. At least min
// requests must have been compared at a worker of each phase.
func AskedWhole(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		whole := 0
		for _, r := range In(h, phases...) {
			seen := map[string]bool{}
			for _, a := range at[r.Key] {
				if r.SentBody == nil || a.Body == nil || a.Role != history.Prefill && a.Role != history.Decode {
					continue // a body that was too large to keep cannot be compared by value
				}
				seen[a.Role] = true
				if d := askedOther(r.SentBody, a); d != "" {
					g.add(fmt.Sprintf("what the client asked, at a %s worker (%s)", a.Role, how(r)), d, r.Key)
				}
			}
			if len(seen) == 2 {
				whole++
			}
		}
		return g.orDoubt(whole >= min, "only %d of %d requests could be compared in both phases", whole, min)
	}
}

func askedOther(sent []byte, a *ledger.Attempt) string {
	var want, got map[string]json.RawMessage
	if err := json.Unmarshal(sent, &want); err != nil {
		return "the client's own body is no JSON object: " + err.Error()
	}
	if err := json.Unmarshal(a.Body, &got); err != nil {
		return "no JSON object: " + err.Error()
	}
	own := []string{"kv_transfer_params"}
	if a.Role == history.Prefill {
		for _, name := range []string{"min_tokens", "min_completion_tokens"} {
			if least, err := strconv.Atoi(string(got[name])); err == nil && least > 1 {
				return fmt.Sprintf("at least %d tokens (%s), of one", least, name)
			}
		}
		own = append(own, "max_tokens", "max_completion_tokens", "min_tokens", "min_completion_tokens", "stream", "stream_options")
		for name := range got {
			if _, asked := want[name]; !asked {
				own = append(own, name)
			}
		}
	}
	for _, name := range own {
		delete(want, name)
		delete(got, name)
	}
	w, err := json.Marshal(want)
	if err != nil {
		return err.Error()
	}
	b, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	return jsonDiff(w, b)
}
