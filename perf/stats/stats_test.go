package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func doubling(from, to int, f func(n float64) float64) (all []Point) {
	for e := from; e <= to; e++ {
		n := math.Exp2(float64(e))
		all = append(all, Point{n, f(n)})
	}
	return all
}

func TestStepExponentSeesThroughConstants(t *testing.T) {
	for _, c := range []struct {
		name     string
		expected float64
		steps    func(n float64) float64
		passes   bool
	}{
		{"linear", 1, func(n float64) float64 { return n }, true},
		{"linear with a large constant", 1, func(n float64) float64 { return 5000 + 3*n }, true},
		{"linear with a negative constant", 1, func(n float64) float64 { return 2*n - 15 }, true},
		{"constant where linear is allowed", 1, func(float64) float64 { return 7 }, true},
		{"logarithmic where linear is allowed", 1, math.Log2, true},
		{"n log n", 1, func(n float64) float64 { return n * math.Log2(n) }, false},
		{"n log n beside a large linear part", 1, func(n float64) float64 { return 20*n + n*math.Log2(n) }, false},
		{"n^1.2", 1, func(n float64) float64 { return math.Round(math.Pow(n, 1.2)) }, false},
		{"n^1.02", 1, func(n float64) float64 { return math.Round(math.Pow(n, 1.02)) }, false},
		{"quadratic", 1, func(n float64) float64 { return n * n }, false},
		{"a small quadratic part", 1, func(n float64) float64 { return 100*n + n*n/100 }, false},
		{"constant", 0, func(float64) float64 { return 12 }, true},
		{"logarithmic", 0, func(n float64) float64 { return 5 + math.Log2(n) }, false},
		{"a small linear part", 0, func(n float64) float64 { return 1000 + n/100 }, false},
		{"falling", 0, func(n float64) float64 { return 10 + 100/n }, true},
	} {
		got := StepExponent(doubling(4, 16, c.steps), c.expected)
		if passes := got <= c.expected+StepTolerance; passes != c.passes {
			t.Errorf("%s: exponent %.3f of %v, passes: %t, want %t", c.name, got, c.expected, passes, c.passes)
		}
	}
	if got := StepExponent(doubling(1, MinRungs-1, math.Sqrt), 1); !math.IsNaN(got) {
		t.Errorf("of too few sizes an exponent of %v is told", got)
	}
}

// noise is what a busy machine does to a time: a factor that is mostly near 1, and
// sometimes far above.
func noise(rng *rand.Rand) float64 {
	f := math.Exp(0.05 * rng.NormFloat64())
	if rng.Float64() < 0.1 {
		f *= 1 + rng.ExpFloat64()*3
	}
	return f
}

func TestSlopeIsRobust(t *testing.T) {
	for _, c := range []struct {
		name  string
		slope float64
		ratio func(rng *rand.Rand, n float64) float64
	}{
		{"flat", 0, func(rng *rand.Rand, n float64) float64 { return 2 * noise(rng) }},
		{"n^0.2", 0.2, func(rng *rand.Rand, n float64) float64 { return math.Pow(n, 0.2) * noise(rng) }},
		{"a cache ends for one a size earlier than for the other", 0, func(rng *rand.Rand, n float64) float64 {
			if n == 1<<10 {
				return 3 * noise(rng)
			}
			return 2 * noise(rng)
		}},
		{"a constant at the small sizes", 0, func(rng *rand.Rand, n float64) float64 { return (2 + 8/n) * noise(rng) }},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var slopes []float64
		for range 22 {
			slopes = append(slopes, Slope(doubling(4, 16, func(n float64) float64 { return c.ratio(rng, n) })))
		}
		v := MedianInterval(slopes, DefaultLooks.Each())
		if math.Abs(v.Value-c.slope) > 0.03 || v.Hi-v.Lo > 0.1 {
			t.Errorf("%s: slope %.3f in [%.3f, %.3f], want %v", c.name, v.Value, v.Lo, v.Hi, c.slope)
		}
	}
}

func TestAMedianIntervalCoversAsOftenAsItSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const trials = 20000
	for _, n := range []int{8, 14, 22} {
		low, high := 0, 0
		for range trials {
			values := make([]float64, n)
			for i := range values {
				values[i] = math.Exp(2 * rng.NormFloat64()) // median 1
			}
			v := MedianInterval(values, 0.02)
			if v.Lo > 1 {
				low++
			}
			if v.Hi < 1 {
				high++
			}
		}
		for side, miss := range map[string]int{"low": low, "high": high} {
			if r := (Rate{miss, trials}); r.AtLeast(0.999) > 0.02 {
				t.Errorf("of %d values the interval misses at the %s side in %v, want at most 2 %%", n, side, r)
			}
		}
	}
	if v := MedianInterval([]float64{1, 2, 3}, 0.01); !math.IsInf(v.Hi, 1) || v.Decide(100) != Inconclusive {
		t.Errorf("three values give %+v: no interval of theirs has a risk of 1 %%", v)
	}
}

// The looks together, not each, keep the risk: at the very limit, where the true slope
// is neither within nor beyond, at most Risk of all measurements end on either side.
func TestLookingAgainDoesNotRaiseTheRisk(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const trials, limit = 20000, 0.1
	wrong := 0
	for range trials {
		var slopes []float64
		for round := 1; round <= DefaultLooks.Last(); round++ {
			slopes = append(slopes, limit+0.1*rng.NormFloat64())
			if DefaultLooks.Due(round) {
				if d := MedianInterval(slopes, DefaultLooks.Each()).Decide(limit); d != Inconclusive {
					if d == Beyond {
						wrong++
					}
					break
				}
			}
		}
	}
	if r := (Rate{wrong, trials}); r.AtLeast(0.999) > DefaultLooks.Risk {
		t.Errorf("at the limit %v are called beyond it, want at most %.2f %%", r, 100*DefaultLooks.Risk)
	}
}

func TestRateBounds(t *testing.T) {
	for _, c := range []struct {
		r        Rate
		lo, hi   float64
		decimals float64
	}{ // Clopper-Pearson, from tables
		{Rate{149, 149}, 0.9801, 1, 1e-4},
		{Rate{200, 200}, 0.9851, 1, 1e-4},
		{Rate{199, 200}, 0.9765, 0.9997, 1e-4},
		{Rate{0, 200}, 0, 0.0149, 1e-4},
		{Rate{5, 10}, 0.2224, 0.7776, 1e-4},
	} {
		if lo, hi := c.r.AtLeast(0.95), c.r.AtMost(0.95); math.Abs(lo-c.lo) > c.decimals || math.Abs(hi-c.hi) > c.decimals {
			t.Errorf("%d of %d: at least %.4f and at most %.4f, want %.4f and %.4f", c.r.Hits, c.r.Trials, lo, hi, c.lo, c.hi)
		}
	}
}

func TestCompareCallsWhatIsSignificantAndLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	sample := func(n int, factor float64) (all []float64) {
		for range n {
			all = append(all, factor*noise(rng))
		}
		return all
	}
	count := func(n int, factor float64, want Change) Rate {
		r := Rate{0, 400}
		for range r.Trials {
			if Compare(sample(n, 1), sample(n, factor), 0.001, 0.07).Change == want {
				r.Hits++
			}
		}
		return r
	}
	if r := count(30, 1.15, Slower); r.AtLeast(0.95) < 0.98 {
		t.Errorf("15 %% slower is called in %v", r)
	}
	if r := count(30, 1/1.15, Faster); r.AtLeast(0.95) < 0.98 {
		t.Errorf("15 %% faster is called in %v", r)
	}
	if r := count(30, 1, Same); r.AtLeast(0.95) < 0.98 {
		t.Errorf("the same is called the same in %v", r)
	}
	if r := count(200, 1.03, Slower); r.AtMost(0.95) > 0.02 {
		t.Errorf("3 %% slower, which is less than the least effect, is called in %v", r)
	}
	if c := Compare(sample(30, 1), sample(1, 1), 0.05, 0.07); c.Change != TooFew || math.Abs(leastP(30, 1)-2./31) > 1e-12 {
		t.Errorf("one value beside thirty: %+v", c)
	}
	if c := Compare(sample(3, 1), sample(3, 2), 0.001, 0.07); c.Change != TooFew {
		t.Errorf("of three values each, %q is told", c.Change)
	}
}

func TestComparePairsIgnoresWhatBothShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	pairs := func(factor float64) (old, new []float64) {
		for i := range 40 {
			drift := 1 + float64(i)/10
			old, new = append(old, drift*noise(rng)), append(new, factor*drift*noise(rng))
		}
		return old, new
	}
	for factor, want := range map[float64]Change{1: Same, 1.1: Slower, 1 / 1.1: Faster, 1.02: Same} {
		old, new := pairs(factor)
		if c := ComparePairs(old, new, 0.001, 0.05); c.Change != want {
			t.Errorf("a factor of %v is called %q: %v", factor, c.Change, c)
		}
	}
}

// Where values lie on two levels, neither the medians nor their quotient are near the truth.
func TestTwoLevelsAreToldApartFromASlowdown(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	levels := func(factor, apart float64) (all []float64) {
		for range 24 {
			v := factor * math.Exp(0.02*rng.NormFloat64())
			if rng.Float64() < 0.4 {
				v *= apart
			}
			all = append(all, v)
		}
		return all
	}
	wolf, called := Rate{0, 1000}, Rate{0, 1000}
	for range wolf.Trials {
		base := levels(1, 1.12)
		if Compare(base, levels(1, 1.12), 0.05, 0.07).Change != Same {
			wolf.Hits++
		}
		if Compare(base, levels(1.15, 1.12), 0.05, 0.07).Change == Slower {
			called.Hits++
		}
		if ComparePairs(levels(1, 1.08), levels(1, 1.08), 0.002, 0.05).Change != Same {
			wolf.Hits++
		}
		if ComparePairs(levels(1, 1.08), levels(1.10, 1.08), 0.002, 0.05).Change == Slower {
			called.Hits++
		}
	}
	wolf.Trials, called.Trials = 2000, 2000
	t.Logf("called: %v; wolf: %v", called, wolf)
	if wolf.AtMost(0.95) > 0.02 || called.AtLeast(0.95) < 0.98 {
		t.Errorf("called: %v; wolf: %v", called, wolf)
	}
}

func TestSigns(t *testing.T) {
	for _, c := range []struct {
		differences []float64
		want        float64
	}{
		{nil, 1},
		{[]float64{0, 7, 7, 7, 7, 7}, 2. / 32},
		{[]float64{-1, -1, -1, -1, 100}, 12. / 32},
		{[]float64{-1, 1}, 1},
	} {
		if got := signs(c.differences); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.differences, got, c.want)
		}
	}
}

func TestSignedRanks(t *testing.T) {
	for _, c := range []struct {
		differences []float64
		want        float64
	}{
		{nil, 1},
		{[]float64{0, 0}, 1},
		{[]float64{1}, 1},
		{[]float64{1, 2, 3, 4, 5}, 2. / 32},
		{[]float64{-1, -2, -3, -4, -5}, 2. / 32},
		{[]float64{-1, 2, 3, 4, 5}, 4. / 32},   // sums of 0 and 1
		{[]float64{1, -2, 3, 4, 5}, 6. / 32},   // 0, 1 and 2
		{[]float64{1, 2, -3, 4, 5}, 10. / 32},  // 3 is both {3} and {1, 2}
		{[]float64{1, 1, 1, 1, -1}, 12. / 32},  // all of rank 3: of five, at most one negative
		{[]float64{0, 1, 2, 3, 4, 5}, 2. / 32}, // what is equal says nothing
		{[]float64{1, -1, 2, -2, 3, -3}, 1},    // even
		{[]float64{5, -4, 3, 2, -1}, 20. / 32}, // sums up to 5, which there are 1, 1, 1, 2, 2 and 3 ways to
	} {
		if got := signedRanks(c.differences); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.differences, got, c.want)
		}
	}
}
