package require

import (
	"fmt"
	"strings"
	"testing"
)

// fake records what would have become of a test.
type fake struct{ skipped, failed string }

func (f *fake) Helper()        {}
func (f *fake) Skip(a ...any)  { f.skipped = fmt.Sprint(a...) }
func (f *fake) Fatal(a ...any) { f.failed = fmt.Sprint(a...) }

func TestRequire(t *testing.T) {
	for _, c := range []struct {
		name, env, program string
		skipped, failed    string
	}{
		{"finds what is there", "sh", "sh", "", ""},
		{"skips with a remedy", "", "no-such-router", "install it", ""},
		{"skips what others are demanded for", "haproxy,nginx", "no-such-router", "install it", ""},
		{"fails where it is demanded", "haproxy, no-such-router", "no-such-router", "", "demands it"},
		{"fails where all is demanded", "all", "no-such-router", "", "demands it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(Env, c.env)
			f := &fake{}
			path := Require(haltless{f}, c.program)
			if (f.skipped != "") != (c.skipped != "") || !strings.Contains(f.skipped, c.skipped) {
				t.Errorf("skipped: %q", f.skipped)
			}
			if (f.failed != "") != (c.failed != "") || !strings.Contains(f.failed, c.failed) {
				t.Errorf("failed: %q", f.failed)
			}
			if found := c.skipped == "" && c.failed == ""; found != (path != "") {
				t.Errorf("path %q", path)
			}
		})
	}
}

// haltless lets Fatal return, and keeps the Skip that follows out of the record.
type haltless struct{ *fake }

func (h haltless) Skip(a ...any) {
	if h.failed == "" {
		h.fake.Skip(a...)
	}
}
