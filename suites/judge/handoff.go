package judge

import (
	"fmt"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
)

// Only lets a judge see the attempts at workers of one role alone: what is true of
// aggregated serving shall be true of each phase.
func Only(role string, j Judge) Judge {
	return func(h *history.History) Finding {
		part := *h
		part.Attempts = nil
		for _, a := range h.Attempts {
			if a.Role == role {
				part.Attempts = append(part.Attempts, a)
			}
		}
		f := j(&part)
		for i := range f.Violations {
			f.Violations[i].Expected = fmt.Sprintf("at %s workers: %s", role, f.Violations[i].Expected)
		}
		if f.Inconclusive != "" {
			f.Inconclusive = fmt.Sprintf("at %s workers: %s", role, f.Inconclusive)
		}
		return f
	}
}

// Handed requires each request of the phases that was answered with 2xx to have been
// prefilled and then decoded, with the blocks that its own prefill handed over. What
// broke before its headers, and was tried again, does not count. At least min
// requests must have gone that way.
func Handed(min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		whole := 0
		for _, r := range In(h, phases...) {
			if !r.OK() {
				continue
			}
			var prefill, decode []*ledger.Attempt
			for _, a := range at[r.Key] {
				switch {
				case a.HeadersAt == ledger.Unset:
				case a.Role == history.Prefill:
					prefill = append(prefill, a)
				case a.Role == history.Decode:
					decode = append(decode, a)
				}
			}
			want := fmt.Sprintf("one prefill and one decode of a request (%s)", how(r))
			switch {
			case len(prefill) != 1 || len(decode) != 1:
				g.add(want, fmt.Sprintf("%d and %d", len(prefill), len(decode)), r.Key)
			case prefill[0].MaxTokens != 1 || prefill[0].Stream:
				g.add(fmt.Sprintf("a prefill of one token and no stream (%s)", how(r)), fmt.Sprintf("%d tokens, stream %t", prefill[0].MaxTokens, prefill[0].Stream), r.Key)
			case decode[0].Handoff == nil || decode[0].Handoff.Outcome != ledger.Consumed:
				g.add(fmt.Sprintf("a decode with the blocks of its prefill (%s)", how(r)), "a hand-off that is "+handedOver(decode[0]), r.Key)
			case decode[0].Handoff.Issuer != prefill[0].Seq:
				g.add(fmt.Sprintf("a decode with the blocks of its own prefill (%s)", how(r)), "another request's blocks", r.Key)
			default:
				whole++
			}
		}
		return g.orDoubt(whole >= min, "only %d of %d requests were prefilled and decoded", whole, min)
	}
}

func handedOver(a *ledger.Attempt) string {
	if a.Handoff == nil {
		return "absent"
	}
	return string(a.Handoff.Outcome)
}

// Untouched requires that no request of the phases reached a worker of the role. At
// least min of them must have reached another.
func Untouched(role string, min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		seen := 0
		for _, r := range In(h, phases...) {
			elsewhere := false
			for _, a := range at[r.Key] {
				if a.Role == role {
					g.add(fmt.Sprintf("nothing at %s workers (%s, %s)", role, phaseName(r), how(r)), "a request there", r.Key)
				} else {
					elsewhere = true
				}
			}
			if elsewhere {
				seen++
			}
		}
		return g.orDoubt(seen >= min, "only %d of %d requests reached a worker at all", seen, min)
	}
}

// RankFree requires that the attempts at workers of the role are not all at the one
// rank that their requests' pins name for another phase. At least min attempts must
// have a rank; with so many, chance alone does not put them all there.
func RankFree(role string, min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		at := attempts(h)
		n, same := 0, 0
		for _, r := range In(h, phases...) {
			if r.Pin == nil || r.Pin.Rank == nil {
				continue
			}
			for _, a := range at[r.Key] {
				if a.Role == role && a.Rank != ledger.NoRank {
					n++
					if a.Rank == *r.Pin.Rank {
						same++
					}
				}
			}
		}
		switch {
		case n < min:
			return Finding{Inconclusive: fmt.Sprintf("only %d of %d requests came to a rank of a %s worker", n, min, role)}
		case same == n:
			return Finding{Violations: []Violation{{Expected: fmt.Sprintf("a rank pinned for another phase to say nothing of %s", role),
				Observed: fmt.Sprintf("all %d requests at the rank that was pinned for the other", n)}}}
		}
		return Finding{}
	}
}

// AtNamed requires each request of a phase called "WORKER rank N" at that worker's
// rank: for pins that the history does not hold otherwise. At least min must be.
func AtNamed(min int) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		n := 0
		for _, r := range In(h) {
			for _, a := range at[r.Key] {
				if is := fmt.Sprintf("%s rank %d", a.Worker, a.Rank); is != r.Phase {
					g.add(fmt.Sprintf("a request where its pin says (%s)", how(r)), "at another worker or rank", r.Key)
					continue
				}
				n++
			}
		}
		return g.orDoubt(n >= min, "only %d of %d requests came where their pins say", n, min)
	}
}
