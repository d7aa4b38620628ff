package complexity

import (
	"testing"

	"github.com/routeproof/routeproof/perf/record"
)

// Memory that must not grow may differ by a span of the runtime's; memory for each block
// of a chain is found by the size that the short suite reaches.
func TestMemoryIsJudgedBeyondTheRuntimesGrain(t *testing.T) {
	flat := &Ladder{Memory: exponent(0)}
	for name, tc := range map[string]struct {
		bytes func(n int) uint64
		want  record.Verdict
	}{
		"constant":                  {func(int) uint64 { return 6 << 10 }, record.Pass},
		"a span more in large ones": {func(n int) uint64 { return 3<<10 + 8<<10*uint64(min(n/(1<<9), 1)) }, record.Pass},
		"sixteen bytes a block":     {func(n int) uint64 { return 3<<10 + 16*uint64(n) }, record.Fail},
	} {
		var samples []record.Sample
		for n := 1; n <= 1<<12; n *= 2 {
			b := tc.bytes(n)
			samples = append(samples, record.Sample{N: n, Bytes: &b})
		}
		if f := flat.judgeMemory(samples); f.Verdict != tc.want {
			t.Errorf("%s: %s, exponent %.3f of at most %.3f; want %s", name, f.Verdict, f.Exponent, f.Limit, tc.want)
		}
	}
}
