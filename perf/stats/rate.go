package stats

import (
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// Rate is how often something happened in independent trials.
type Rate struct{ Hits, Trials int }

// AtLeast is the exact lower bound (Clopper-Pearson, one-sided) on the true rate: it is
// at least this with the given confidence, such as 0.95.
func (r Rate) AtLeast(confidence float64) float64 {
	if r.Hits <= 0 {
		return 0
	}
	return mathext.InvRegIncBeta(float64(r.Hits), float64(r.Trials-r.Hits+1), 1-confidence)
}

// AtMost is the exact upper bound.
func (r Rate) AtMost(confidence float64) float64 {
	if r.Hits >= r.Trials {
		return 1
	}
	return mathext.InvRegIncBeta(float64(r.Hits+1), float64(r.Trials-r.Hits), confidence)
}

// String names the rate with both bounds, each at 95 %.
func (r Rate) String() string {
	return fmt.Sprintf("%d of %d (with 95 %% confidence at least %.2f %%, at most %.2f %%)",
		r.Hits, r.Trials, 100*r.AtLeast(0.95), 100*r.AtMost(0.95))
}
