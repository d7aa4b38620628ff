package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/routeproof/routeproof/mockers/worker"
)

func TestTheHelpOfMockNamesEveryFaultAndGivesAGoodExample(t *testing.T) {
	code, help, errs := ran(t, "mock", "--help")
	if code != 0 || errs != "" {
		t.Fatal(code, errs)
	}
	for _, k := range []worker.Kind{worker.Refuse, worker.Hang, worker.HangRequests, worker.ResetBeforeHeaders, worker.ResetAfterEvents, worker.Status} {
		if !regexp.MustCompile(`(?m)^  ` + string(k) + ` `).MatchString(help) {
			t.Errorf("no line for the fault %s", k)
		}
	}
	for _, path := range []string{"GET    /mock/v1/workers", "POST   /mock/v1/workers ", "PUT    /mock/v1/workers/{id}/fault", "DELETE /mock/v1/workers/{id}/fault",
		"POST   /mock/v1/workers/{id}/crash", "POST   /mock/v1/workers/{id}/restart", "GET    /mock/v1/ledger?since=N", "GET    /mock/v1/handoffs?since=N"} {
		if !strings.Contains(help, path) {
			t.Errorf("lacks %s", path)
		}
	}
	m := regexp.MustCompile(`curl -X PUT \S+/fault -d '([^']+)'`).FindStringSubmatch(help)
	if m == nil {
		t.Fatal("no example")
	}
	var f worker.Fault
	if err := json.Unmarshal([]byte(m[1]), &f); err != nil || f.Validate() != nil {
		t.Errorf("example %s: %v, %v", m[1], err, f.Validate())
	}
}

func TestTheBasePortIsAlsoForWorkersAddedLater(t *testing.T) {
	if p := portsFrom(9000); len(p) != maxMocks || p[0] != 9000 || p[2] != 9002 {
		t.Errorf("%d ports from %d", len(p), p[0])
	}
	if p := portsFrom(65534); !slices.Equal(p, []int{65534, 65535}) {
		t.Errorf("ports %v", p)
	}
}

func TestTheShapesOfMocksComeInAFixedOrder(t *testing.T) {
	got, err := shapes(1, 2, 1, 4)
	want := []worker.Shape{{Role: worker.Aggregated, Ranks: 4}, {Role: worker.Prefill, Ranks: 4}, {Role: worker.Prefill, Ranks: 4}, {Role: worker.Decode, Ranks: 4}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}
