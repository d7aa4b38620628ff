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

func TestAByteOrderMarkIsNoText(t *testing.T) {
	m, err := Parse("good.yaml", []byte("\xef\xbb\xbf"+good), testClaims)
	if err != nil || m.Implementation.Organization != "Example" {
		t.Errorf("%v", err)
	}
}
