package sessionindex

import (
	"strings"
	"testing"
)

// The defaults of decisions 31 and 32, in numbers of their own.
func TestWithoutASettingTheLimitsAreThoseOfTheDecisions(t *testing.T) {
	const room = 16_384
	c := newCore(t, Config{})
	for n := range room {
		c.Match(0, Match{Session: "session " + Hash(n).String(), At: w0, Block: 1})
	}
	equal(t, "sessions", c.Counts().Sessions, room)
	equal(t, "frontiers of the first", len(c.Frontiers("session "+Hash(0).String())), 1)
	c.Match(0, Match{Session: "one more", At: w0, Block: 1})
	equal(t, "sessions", c.Counts().Sessions, room)
	equal(t, "frontiers of the first", len(c.Frontiers("session "+Hash(0).String())), 0)
	equal(t, "frontiers of the second", len(c.Frontiers("session "+Hash(1).String())), 1)
	set, err := Config{}.withDefaults()
	if err != nil || set.Retention.Minutes() != 5 || set.Lane != DefaultLane {
		t.Errorf("the defaults are %+v, %v", set, err)
	}
}

func TestASettingThatCannotBeIsNamed(t *testing.T) {
	for name, c := range map[string]Config{"sessions -1": {Sessions: -1}, "retention -1ns": {Retention: -1}, "lane -1": {Lane: -1}} {
		if _, err := NewIndex(c, &stopped{}, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v, want it to name %s", c, err, name)
		}
	}
}
