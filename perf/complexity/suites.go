package complexity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/perf/stats"
)

// The suites.
const (
	SuiteComplexity = "complexity" // every ladder to its top
	SuiteShort      = "short"      // every ladder to a middle rung
	SuiteSpeed      = "speed"      // every ladder at one or two rungs, often enough to compare
)

// SuiteNames lists the suites.
func SuiteNames() []string { return []string{SuiteComplexity, SuiteShort, SuiteSpeed} }

// What the speed suite does: conversations, and rounds in each. Several conversations,
// because where an index happens to lie in memory is worth a few percent: a sitting, not
// a round, is what two measurements are compared by.
const (
	speedSittings = 24
	speedRounds   = 2 // even: in pairs each is as often first as second
)

// SpeedSeed is the seed with which speed is measured where none is given: two
// measurements that are to be compared meet the same blocks.
const SpeedSeed = 1

// Suite returns what a suite measures, of the ladders whose names begin with one of
// the prefixes, or of all where there is none. The error names what is unknown.
func Suite(name string, only ...string) (plan []Climb, looks stats.Looks, err error) {
	looks = stats.DefaultLooks
	if !slices.Contains(SuiteNames(), name) {
		return nil, looks, fmt.Errorf("suite %q is unknown; there are %s", name, strings.Join(SuiteNames(), ", "))
	}
	all := Ladders()
	for _, o := range only {
		if !slices.ContainsFunc(all, func(l *Ladder) bool { return strings.HasPrefix(l.Name, o) }) {
			return nil, looks, fmt.Errorf("no ladder begins with %q; there are %s", o, strings.Join(LadderNames(), ", "))
		}
	}
	for _, l := range all {
		if len(only) > 0 && !slices.ContainsFunc(only, func(o string) bool { return strings.HasPrefix(l.Name, o) }) {
			continue
		}
		c := Climb{Ladder: l}
		switch name {
		case SuiteComplexity:
			c.Sizes = l.Sizes(l.To)
		case SuiteShort:
			c.Sizes = l.Sizes(l.Short)
		case SuiteSpeed:
			c.Sittings, c.Rounds = speedSittings, speedRounds
			c.Sizes = l.Speed
		}
		plan = append(plan, c)
	}
	return plan, looks, nil
}

// LadderNames lists all ladders.
func LadderNames() (names []string) {
	for _, l := range Ladders() {
		names = append(names, l.Name)
	}
	return names
}
