package ledger

import "encoding/json"

// NoRank is the Rank of an attempt that no data-parallel rank served.
const NoRank = -1

// RankChoice says how an attempt came to its data-parallel rank, or to none.
type RankChoice string

// How an attempt came to its rank.
const (
	RankNone      RankChoice = ""          // no header and no ranks, or refused for another reason
	RankRequested RankChoice = "requested" // the header named it
	RankEngine    RankChoice = "engine"    // no header: the engine took the next in turn
	RankIgnored   RankChoice = "ignored"   // there is a header, but this engine knows no ranks
	RankRefused   RankChoice = "refused"   // the header names none of its ranks: answered 400
)

// UnmarshalJSON reads an attempt. One that was written before ranks were
// recorded has none, which is not rank 0.
func (a *Attempt) UnmarshalJSON(b []byte) error {
	type plain Attempt
	p := plain{Rank: NoRank}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*a = Attempt(p)
	return nil
}
