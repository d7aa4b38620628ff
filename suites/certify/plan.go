package certify

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/target"
)

// How many shards there are unless somebody says otherwise. Most cases wait most of the
// time, so that more shards than cores pay; but each brings the processes of a target of
// its own, whose waits for a core would look like the target's own.
const (
	defaultShards     = 12
	defaultShardsExec = 8
)

// maxShards bounds what --shards may ask for: every shard holds a target and a fleet.
const maxShards = 64

// aloneCost is what a case costs beyond its own time where it gets a target of its own.
const aloneCost = 60 * time.Millisecond

// AllJobs is everything that certify must run: every case, or those of one
// profile's clauses.
func AllJobs(cat *suites.Catalogue, profile string) ([]suites.Job, error) {
	if profile != "" && !slices.Contains(cat.Spec.ProfileNames(), profile) {
		return nil, usagef("unknown profile %q; write one of %s", profile, strings.Join(cat.Spec.ProfileNames(), ", "))
	}
	var jobs []suites.Job
	for _, c := range cat.Cases {
		if cl, _ := cat.Spec.Clause(c.Clause()); profile == "" || cl.Profile == profile {
			jobs = append(jobs, suites.Job{Case: c.ID})
		}
	}
	return jobs, nil
}

// SelfTestJobs is every case on the reference, and every mutant under every case
// that must kill it.
func SelfTestJobs(cat *suites.Catalogue) []suites.Job {
	var jobs []suites.Job
	for _, c := range cat.Cases {
		jobs = append(jobs, suites.Job{Case: c.ID})
		for _, m := range cat.Killers(c.ID) {
			jobs = append(jobs, suites.Job{Case: c.ID, Mutant: m})
		}
	}
	return jobs
}

// Complete fills the options in and checks them, as Run does; a caller that wants
// to know what will run may do so before. Errors: *UsageError, *target.ManifestError.
func (o *Options) Complete() error {
	all, err := AllJobs(o.Catalogue, o.Profile)
	if err != nil {
		return err
	}
	if o.Manifest == nil {
		o.Manifest = target.Reference(o.Catalogue.Spec.ClaimNames())
	}
	switch {
	case o.Jobs == nil && o.Mode == report.SelfTest:
		o.Jobs = SelfTestJobs(o.Catalogue)
	case o.Jobs == nil:
		o.Jobs = all
	case len(o.Jobs) == 0:
		return usagef("no case is selected; name at least one (see `routeproof list`)")
	}
	seen := map[string]bool{}
	for _, j := range o.Jobs {
		if seen[j.Name()] {
			return usagef("case %s is selected twice; name it once", j.Name())
		}
		seen[j.Name()] = true
		if _, ok := o.Catalogue.Case(j.Case); !ok {
			return usagef("unknown case %q; see `routeproof list`", j.Case)
		}
		if _, ok := o.Catalogue.Mutant(j.Mutant); j.Mutant != "" && !ok {
			return usagef("unknown mutant %q; see `routeproof list --matrix`", j.Mutant)
		}
		if j.Mutant != "" && o.Manifest.Launch.InProcess == "" {
			return usagef("mutant %q stands in for the built-in reference; leave the manifest out", j.Mutant)
		}
	}
	if err := o.Catalogue.Fits(o.Manifest, o.Jobs); err != nil {
		return err
	}
	return o.completeShards()
}

func (o *Options) completeShards() error {
	why := fixed(o.Manifest)
	switch {
	case o.Shards < 0 || o.Shards > maxShards:
		return usagef("shards is %d; write 1 to %d, or leave it out", o.Shards, maxShards)
	case o.Shards > 1 && why != "":
		return usagef("shards is %d, but %s, so that two shards would share it; leave --shards out", o.Shards, why)
	case o.Shards == 0 && why != "":
		o.Shards = 1
	case o.Shards == 0 && o.Manifest.Launch.Exec != nil:
		o.Shards = defaultShardsExec
	case o.Shards == 0:
		o.Shards = defaultShards
	}
	o.Shards = min(o.Shards, len(o.Jobs))
	return nil
}

var literalPort = regexp.MustCompile(`^http://[^/{}]+:\d+(/|$)`)

// fixed says why there can be only one of a target at a time, or "".
func fixed(m *target.Manifest) string {
	switch {
	case m.Launch.External:
		return "the target is external"
	case len(m.Wiring.Ports) > 0:
		return "wiring.ports fixes the workers' ports"
	case literalPort.MatchString(m.Endpoint.String()):
		return "endpoint.openai fixes the target's port"
	}
	return ""
}

// split deals the jobs to n shards, the longest first, each to the one with the
// least to do, and shuffles each shard's with the seed.
func split(cat *suites.Catalogue, jobs []suites.Job, n int, seed uint64) [][]suites.Job {
	cost := func(j suites.Job) time.Duration {
		c, _ := cat.Case(j.Case)
		if c.Alone {
			return c.Cost + aloneCost
		}
		return c.Cost
	}
	sorted := slices.Clone(jobs)
	slices.SortStableFunc(sorted, func(a, b suites.Job) int {
		if d := cost(b) - cost(a); d != 0 {
			return int(max(min(d, 1), -1))
		}
		return strings.Compare(a.Name(), b.Name())
	})
	shards, load := make([][]suites.Job, n), make([]time.Duration, n)
	for _, j := range sorted {
		least := 0
		for i := range load {
			if load[i] < load[least] {
				least = i
			}
		}
		shards[least] = append(shards[least], j)
		load[least] += cost(j)
	}
	for i, s := range shards {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		rnd.Shuffle(len(s), func(a, b int) { s[a], s[b] = s[b], s[a] })
	}
	return shards
}
