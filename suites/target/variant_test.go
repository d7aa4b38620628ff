package target

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestVariantsTogether(t *testing.T) {
	source := strings.Replace(good, "variants:\n", "variants:\n  small: {session: {capacity: 8}, env: {CAPACITY: eight}}\n  twin: {session: {capacity: 8}, files: {extra.cfg: other}}\n", 1)
	m, err := Parse("good.yaml", []byte(source), testClaims)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shortTTL+small", "small+shortTTL"} {
		v, err := m.resolve(name)
		if err != nil || v.Session.IdleTTL != time.Second || v.Session.Capacity != 8 || len(v.Files) != 2 || v.Session.AtCapacity != CapacityEvict {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	_, err = m.resolve("shortTTL+twin")
	var bad *ManifestError
	if !errors.As(err, &bad) || bad.Line != lineOf(t, source, "twin:") || !strings.Contains(err.Error(), "extra.cfg") || !strings.Contains(err.Error(), "shortTTL") {
		t.Errorf("two variants that replace one file: %v", err)
	}
	if _, err := m.resolve("shortTTL+tiny"); err == nil || !strings.Contains(err.Error(), `"tiny"`) {
		t.Errorf("unknown part: %v", err)
	}
}

func TestAVariantMayShortenTheWaitForHeaders(t *testing.T) {
	source := strings.Replace(good, "  convergence: 4s\nvariants:\n", "  convergence: 4s\n  headers: 10s\nvariants:\n  brief: {timeouts: {headers: 500ms}}\n", 1)
	m, err := Parse("good.yaml", []byte(source), testClaims)
	if err != nil {
		t.Fatal(err)
	}
	for variant, want := range map[string]time.Duration{"": 10 * time.Second, "shortTTL": 10 * time.Second, "brief": 500 * time.Millisecond, "brief+shortTTL": 500 * time.Millisecond} {
		v, err := m.resolve(variant)
		if got := m.timeouts(v); err != nil || got.Headers != want || got.Convergence != 4*time.Second {
			t.Errorf("variant %q: %+v, %v", variant, got, err)
		}
	}
	for _, bad := range []string{"headers: 0s", "headers: 2h", "convergence: 1s"} {
		if _, err := Parse("good.yaml", []byte(strings.Replace(source, "headers: 500ms", bad, 1)), testClaims); err == nil || !strings.Contains(err.Error(), "variants.brief.timeouts.") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestAByteOrderMarkIsNoText(t *testing.T) {
	m, err := Parse("good.yaml", []byte("\xef\xbb\xbf"+good), testClaims)
	if err != nil || m.Implementation.Organization != "Example" {
		t.Errorf("%v", err)
	}
}
