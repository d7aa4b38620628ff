package stats

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

const exactBits = 200

// exactTails is the pair P[X >= k], P[X <= k] summed term by term with 200 bits.
func exactTails(n, k int, p float64) (upper, lower float64) {
	num := func() *big.Float { return new(big.Float).SetPrec(exactBits) }
	q := num().Sub(num().SetInt64(1), num().SetFloat64(p))
	ratio := num().Quo(num().SetFloat64(p), q)
	term := num().SetInt64(1)
	for range n {
		term.Mul(term, q)
	}
	up, low := num(), num()
	for i := 0; i <= n; i++ {
		if i >= k {
			up.Add(up, term)
		}
		if i <= k {
			low.Add(low, term)
		}
		term.Mul(term, ratio)
		term.Mul(term, num().SetInt64(int64(n-i)))
		term.Quo(term, num().SetInt64(int64(i+1)))
	}
	upper, _ = up.Float64()
	lower, _ = low.Float64()
	return upper, lower
}

func relative(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / want
}

func TestTailsMatchExactArithmeticAlsoFarOut(t *testing.T) {
	far := 0 // grid points beyond 1e-12, to know that the extreme was looked at
	for _, n := range []int{1, 2, 3, 10, 64, 300, 1500} {
		for _, p := range []float64{1e-6, 0.001, 0.02, 0.1, 0.2, 1.0 / 3, 0.5, 0.7, 0.99, 0.9999} {
			for k := 0; k <= n; k += 1 + n/24 {
				up, low := exactTails(n, k, p)
				for _, c := range []struct {
					side      string
					got, want float64
				}{{"upper", UpperTail(n, k, p), up}, {"lower", LowerTail(n, k, p), low}} {
					if c.want < 1e-280 {
						continue // no case asks for more; near the smallest float digits go
					}
					if c.want < 1e-12 {
						far++
					}
					if r := relative(c.got, c.want); !(r < 1e-10) {
						t.Errorf("%s tail n=%d k=%d p=%v: got %v, exact %v, relative error %.1e", c.side, n, k, p, c.got, c.want, r)
					}
				}
			}
		}
	}
	if far < 300 {
		t.Errorf("only %d grid points lie beyond 1e-12", far)
	}
}

func TestTailsAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"at least none is certain", UpperTail(5, 0, 0.3), 1},
		{"at least a negative count is certain", UpperTail(5, -2, 0.3), 1},
		{"more than n is impossible", UpperTail(5, 6, 0.3), 0},
		{"at most n is certain", LowerTail(5, 5, 0.3), 1},
		{"at most a negative count is impossible", LowerTail(5, -1, 0.3), 0},
		{"p 0 never hits", UpperTail(5, 1, 0), 0},
		{"p 0 is always at most none", LowerTail(5, 0, 0), 1},
		{"p 1 always hits", UpperTail(5, 5, 1), 1},
		{"p 1 never misses", LowerTail(5, 4, 1), 0},
		{"no trial, at least none", UpperTail(0, 0, 0.3), 1},
		{"no trial, at least one", UpperTail(0, 1, 0.3), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, bad := range []struct {
		n int
		p float64
	}{{-1, 0.5}, {5, -0.1}, {5, 1.1}, {5, math.NaN()}} {
		if u, l := UpperTail(bad.n, 1, bad.p), LowerTail(bad.n, 1, bad.p); !math.IsNaN(u) || !math.IsNaN(l) {
			t.Errorf("n=%d p=%v: got %v and %v, want NaN", bad.n, bad.p, u, l)
		}
	}
}

func TestTailsAreMonotone(t *testing.T) {
	ps := []float64{0.01, 0.1, 0.25, 0.5, 0.8, 0.97}
	for _, n := range []int{1, 7, 50, 400} {
		for k := 1; k <= n; k++ {
			for i, p := range ps {
				if UpperTail(n, k, p) > UpperTail(n, k-1, p) {
					t.Errorf("upper tail rises with k at n=%d k=%d p=%v", n, k, p)
				}
				if LowerTail(n, k, p) < LowerTail(n, k-1, p) {
					t.Errorf("lower tail falls with k at n=%d k=%d p=%v", n, k, p)
				}
				if UpperTail(n+1, k, p) < UpperTail(n, k, p)*(1-1e-12) {
					t.Errorf("upper tail falls with n at n=%d k=%d p=%v", n, k, p)
				}
				if i > 0 && UpperTail(n, k, p) < UpperTail(n, k, ps[i-1])*(1-1e-12) {
					t.Errorf("upper tail falls with p at n=%d k=%d p=%v", n, k, p)
				}
				if s := UpperTail(n, k, p) + LowerTail(n, k-1, p); math.Abs(s-1) > 1e-12 {
					t.Errorf("tails do not add up to one at n=%d k=%d p=%v: %v", n, k, p, s)
				}
			}
		}
	}
}

func BenchmarkUpperTail(b *testing.B) {
	for _, n := range []int{100, 10_000, MaxTrials} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				UpperTail(n, n/3, 0.25)
			}
		})
	}
}

func TestTailsStayAccurateAtTheLargestSample(t *testing.T) {
	up, low := exactTails(MaxTrials, 33_500, 0.25)
	for _, r := range []float64{relative(UpperTail(MaxTrials, 33_500, 0.25), up), relative(LowerTail(MaxTrials, 33_500, 0.25), low)} {
		if !(r < 1e-9) {
			t.Errorf("relative error %.1e", r)
		}
	}
}
