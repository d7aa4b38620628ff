package ingress

import (
	"strings"
	"testing"

	"github.com/routeproof/routeproof/suites/report"
)

// mutant is a deployment that is wrong in one way which operators know.
type mutant struct {
	name    string
	of      deployment
	changes []string // pairs of old and new text
	want    string   // words of a violation
}

func mutants() []mutant {
	const moves, stick, share, served = "to stay on their living worker from ", "every turn of a session on one worker", "requests on every worker", "a whole 2xx answer"
	return []mutant{
		{"nginx hashes, but not consistently", nginx(), []string{"hash $key consistent;", "hash $key;"}, moves + "back to taken out"},
		{"nginx takes the frontends in turn", nginx(), []string{"hash $key consistent;", ""}, stick},
		{"nginx hashes the client's address", nginx(), []string{"hash $key consistent;", "hash $remote_addr consistent;"}, share},
		{"nginx reads the canonical header alone", nginx(), []string{"default $key_claude;", "default $request_id;"}, stick},
		{"nginx leaves requests without a session to one frontend", nginx(), []string{"default $request_id;", "default none;"}, share},
		{"nginx tries no other frontend", nginx(), []string{"proxy_next_upstream error non_idempotent;", "proxy_next_upstream off;"}, served},
		{"HAProxy hashes, but not consistently", haproxy(), []string{"hash-type consistent sdbm avalanche", "hash-type map-based sdbm avalanche"}, moves + "placed to settled"},
		{"HAProxy takes the frontends in turn", haproxy(), []string{"balance hash var(txn.key)", "balance roundrobin"}, stick},
		{"HAProxy numbers the frontends by their lines", haproxy(), []string{" id 1 ", " ", " id 2 ", " ", " id 3 ", " "}, moves + "back to taken out"},
		{"HAProxy tries no other frontend", haproxy(), []string{"option redispatch 1", "no option redispatch", "retries 2", "retries 0",
			"inter 200ms fastinter 100ms", "inter 1s fastinter 1s"}, served}, // slow checks, so that requests find out before them
	}
}

func TestAWrongDeploymentIsFound(t *testing.T) {
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			changes := append(m.changes, "convergence: 5s", "convergence: 2s") // some wait in vain
			if m.of.program == "nginx" {
				changes = append(changes, "fail_timeout=3s", "fail_timeout=1s") // the wait for the frontend that comes back
			}
			out := m.of.lose(t, m.of.manifest(t, changes...))
			var found []string
			for _, v := range out.Finding.Violations {
				found = append(found, v.String())
			}
			all := strings.Join(found, "\n")
			if out.Verdict != report.Fail || !strings.Contains(all, m.want) {
				t.Errorf("%s %s, want a violation with %q; found:\n%s", out.Verdict, out.Detail, m.want, all)
			}
		})
	}
}
