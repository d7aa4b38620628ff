package judge

import (
	"fmt"
	"slices"

	"github.com/routeproof/routeproof/mockers/ledger"
	"github.com/routeproof/routeproof/suites/history"
	"github.com/routeproof/routeproof/suites/judge/stats"
)

// Only lets a judge see the attempts at workers of one role alone: what is true of
// aggregated serving shall be true of each phase. Of the workers wired at the start it
// sees those of the role.
func Only(role string, j Judge) Judge {
	return func(h *history.History) Finding {
		part := *h
		part.Attempts = nil
		for _, a := range h.Attempts {
			if a.Role == role {
				part.Attempts = append(part.Attempts, a)
			}
		}
		part.Workers = nil
		for _, w := range h.Fleet {
			if w.Role == role && slices.Contains(h.Workers, w.ID) {
				part.Workers = append(part.Workers, w.ID)
			}
		}
		f := j(&part)
		f.Violations = slices.Clone(f.Violations) // they may be the judge's own
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
// prefilled and then decoded, and nothing else, with the blocks that its own prefill
// handed over, and its client to have the decode worker's answer. What broke before
// its headers, and was tried again, does not count; where that was a decode, prefill
// may have run once more for the next try. At least min requests must have gone that
// way.
func Handed(min int, phases ...string) Judge { return handedWith(1, min, phases) }

// HandedAtLast is Handed for requests some of whose decodes leave no trace, because
// the worker refuses the connection: prefill may have run for each of them, up to the
// five tries of clause RES-001.
func HandedAtLast(min int, phases ...string) Judge { return handedWith(maxTries, min, phases) }

// maxTries is how often a request may be tried in one phase (clause RES-001).
const maxTries = 5

// handedWith allows for so many prefills of one request without a decode that broke.
func handedWith(prefills, min int, phases []string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		whole := 0
		for _, r := range In(h, phases...) {
			if !r.OK() {
				continue
			}
			if want, observed := handed(r, at[r.Key], prefills); want != "" {
				g.add(fmt.Sprintf("%s (%s)", want, how(r)), observed, r.Key)
				continue
			}
			whole++
		}
		return g.orDoubt(whole >= min, "only %d of %d requests were prefilled and decoded", whole, min)
	}
}

// handed says what is wrong with the way that a request went, or nothing. Each
// sending of it is a request of its own.
func handed(r *history.Request, as []*ledger.Attempt, prefills int) (want, observed string) {
	var prefill, decode []*ledger.Attempt
	issued, others, broken := map[int]bool{}, 0, 0
	for _, a := range as {
		switch {
		case a.HeadersAt == ledger.Unset && a.Role == history.Decode:
			broken++
		case a.HeadersAt == ledger.Unset:
		case a.Role == history.Prefill:
			prefill = append(prefill, a)
			issued[a.Seq] = true
		case a.Role == history.Decode:
			decode = append(decode, a)
		default:
			others++
		}
	}
	n := sends(r)
	if len(prefill) < 1 || len(prefill) > n*prefills+broken || len(decode) < 1 || len(decode) > n || others > 0 {
		return "one prefill and one decode of a request", fmt.Sprintf("%d and %d, and %d at workers that do both", len(prefill), len(decode), others)
	}
	for _, a := range prefill {
		if a.MaxTokens != 1 || a.Stream {
			return "a prefill of one token and no stream", fmt.Sprintf("%d tokens, stream %t", a.MaxTokens, a.Stream)
		}
	}
	for _, a := range decode {
		switch {
		case a.Handoff == nil || a.Handoff.Outcome != ledger.Consumed:
			return "a decode with the blocks of its prefill", "a hand-off that is " + handedOver(a)
		case !issued[a.Handoff.Issuer]:
			return "a decode with the blocks of its own prefill", "another request's blocks"
		}
	}
	for _, p := range prefill {
		if p.SentSHA256 != "" && p.SentSHA256 == r.BodySHA256 {
			return "the decode worker's answer", "the prefill worker's"
		}
	}
	return "", ""
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

// leakAlpha is the rate at which chance alone may look like a leaking rank.
const leakAlpha = 1e-6

// RankFree requires that the ranks which the router names at workers of the role are
// not those that their requests' pins name for another phase: not so many of them that
// chance would do it at a rate of leakAlpha or less, with a half for each, as of two
// ranks. Where the engine chose, nothing has leaked. At least min attempts must have a
// rank.
func RankFree(role string, min int, phases ...string) Judge {
	return func(h *history.History) Finding {
		var g group
		at := attempts(h)
		n, named := 0, 0
		var same []string
		for _, r := range In(h, phases...) {
			other, own := r.Pin, r.PrefillPin
			if role != history.Prefill {
				other, own = own, other
			}
			if other == nil || other.Rank == nil || own != nil && own.Rank != nil {
				continue
			}
			for _, a := range at[r.Key] {
				if a.Role != role || a.Rank == ledger.NoRank {
					continue
				}
				n++
				if a.RankChoice != ledger.RankRequested {
					continue
				}
				named++
				if a.Rank == *other.Rank {
					same = append(same, r.Key)
				}
			}
		}
		if stats.UpperTail(named, len(same), Chance) <= leakAlpha {
			g.add(fmt.Sprintf("a rank pinned for another phase to say nothing of %s", role),
				fmt.Sprintf("%d of %d requests that name a rank name the one that was pinned for the other", len(same), named), same...)
		}
		if named > 0 && len(same) == named {
			return g.orDoubt(false, "all %d requests that name a rank at a %s worker name the one that was pinned for the other; so few may do so by chance", named, role)
		}
		return g.orDoubt(n >= min, "only %d of %d requests came to a rank of a %s worker", n, min, role)
	}
}
