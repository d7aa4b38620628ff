package certify

import (
	"fmt"
	"sync"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
)

// collector gathers what the shards report.
type collector struct {
	progress Progress // may be nil

	mu       sync.Mutex
	results  map[string]report.CaseResult // by name
	why      map[string]string            // why a job has no result, by name
	problems []report.Problem
}

func newCollector(p Progress) *collector {
	return &collector{progress: p, results: map[string]report.CaseResult{}, why: map[string]string{}}
}

func (c *collector) started(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.progress != nil {
		c.progress.Started(name)
	}
}

// finished keeps a result of one of the jobs. It says what is wrong with one
// that nobody asked for, or that came before.
func (c *collector) finished(jobs []suites.Job, r report.CaseResult) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := r.Name()
	asked := false
	for _, j := range jobs {
		asked = asked || j.Name() == name
	}
	_, twice := c.results[name]
	switch {
	case !asked:
		return fmt.Sprintf("it reports case %s, which it was not given", name)
	case twice:
		return fmt.Sprintf("it reports case %s twice", name)
	}
	c.results[name] = r
	if c.progress != nil {
		c.progress.Finished(r)
	}
	return ""
}

// problem keeps a problem, once for each kind and subject unless it is the harness's.
func (c *collector) problem(p report.Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.problems {
		if q == p || p.Kind == report.ProblemTarget && q.Kind == p.Kind && q.Subject == p.Subject {
			return
		}
	}
	c.problems = append(c.problems, p)
}

// missing lists the jobs without a result.
func (c *collector) missing(jobs []suites.Job) (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range jobs {
		if _, ok := c.results[j.Name()]; !ok {
			names = append(names, j.Name())
		}
	}
	return names
}

// explain notes why jobs have no result.
func (c *collector) explain(names []string, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range names {
		c.why[n] = why
	}
}
