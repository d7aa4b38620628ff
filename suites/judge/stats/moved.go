package stats

import (
	"fmt"
	"math"
)

// AllSame is the smallest k with (1/workers)^k <= alpha: the number of
// independent sessions to look at so that a target without affinity, whose
// every repeat lands on the session's first worker only by chance (probability
// 1/workers each), shows all k as sticky with probability at most alpha. It is
// about each session's own worker; for k sessions that must all share one
// worker, whichever it is, the first is free: use AllSame + 1.
//
// It is an error if alpha is out of range (see PlanUpper) or workers < 2.
func AllSame(alpha float64, workers int) (int, error) {
	if err := checkAlpha(alpha); err != nil {
		return 0, err
	}
	if workers < 2 {
		return 0, fmt.Errorf("affinity over %d workers, want at least 2: with one worker every repeat is sticky", workers)
	}
	for k := 1; ; k++ {
		if math.Pow(float64(workers), -float64(k)) <= alpha {
			return k, nil
		}
	}
}

// MovedAtMost is the largest count of moved sessions, out of n, that is still
// no alarm when a worker is added: the smallest m with
//
//	P[X > m] <= alpha,   X ~ Binomial(n, p).
//
// A hash router moves to the new worker what falls in its share of the ring,
// ideally 1/(N+1) when N workers become N+1. Virtual nodes make the real share
// vary; p is the largest share that the clause allows, imbalance included.
// Given the ring, sessions with independent random ids fall in it
// independently, so the count is Binomial(n, share), and stochastically at
// most Binomial(n, p) whenever share <= p: the rate alpha holds for every such
// ring. Session ids must be fresh in each run for that.
//
// It is an error if n < 1, p is not within 0..1 (1 excluded), alpha is out of
// range, or n is so small that even all n moved would be no alarm: such a
// check could never fail.
func MovedAtMost(n int, p, alpha float64) (int, error) {
	if err := checkMoved(n, p, alpha); err != nil {
		return 0, err
	}
	if p == 1 {
		return 0, fmt.Errorf("moved at most: share 1 allows every session to move; state a share below 1")
	}
	// The tail falls as m rises: bisect for the first m that keeps alpha.
	lo, hi := 0, n
	for lo < hi {
		if m := (lo + hi) / 2; UpperTail(n, m+1, p) <= alpha {
			hi = m
		} else {
			lo = m + 1
		}
	}
	if lo == n {
		return 0, fmt.Errorf("moved at most: with %d sessions and a share of %v even all moved is no alarm at a false-alarm rate of %v; use more sessions", n, p, alpha)
	}
	return lo, nil
}

// MovedAtLeast is the smallest count of moved sessions, out of n, that is
// still no alarm: the largest m with
//
//	P[X < m] <= alpha,   X ~ Binomial(n, p),
//
// where p is the smallest share the clause allows the new worker. It catches a
// router to which the new worker is invisible. Errors are as for MovedAtMost,
// with p = 0 refused instead of 1.
func MovedAtLeast(n int, p, alpha float64) (int, error) {
	if err := checkMoved(n, p, alpha); err != nil {
		return 0, err
	}
	if p == 0 {
		return 0, fmt.Errorf("moved at least: share 0 asks for no session to move; state a share above 0")
	}
	lo, hi := 0, n // P[X < 0] = 0 keeps alpha
	for lo < hi {
		if m := (lo + hi + 1) / 2; LowerTail(n, m-1, p) <= alpha {
			lo = m
		} else {
			hi = m - 1
		}
	}
	if lo == 0 {
		return 0, fmt.Errorf("moved at least: with %d sessions and a share of %v even none moved is no alarm at a false-alarm rate of %v; use more sessions", n, p, alpha)
	}
	return lo, nil
}

func checkMoved(n int, p, alpha float64) error {
	if err := checkAlpha(alpha); err != nil {
		return err
	}
	if n < 1 || n > MaxTrials {
		return fmt.Errorf("moved: %d sessions, want 1 to %d", n, MaxTrials)
	}
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("moved: share %v, want 0 to 1", p)
	}
	return nil
}
