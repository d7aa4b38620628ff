package ingress

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/routeproof/routeproof/suites/target"
)

// workers are a fleet that nobody will be sent to.
func workers(n int) []target.Worker {
	all := []target.Worker{{ID: "w0", Host: "127.0.0.1", Port: 1, URL: "http://127.0.0.1:1", Model: "mock", Role: "aggregated"}, {ID: "w1", Host: "127.0.0.1", Port: 2, URL: "http://127.0.0.1:2", Model: "mock", Role: "aggregated"}}
	return all[:n]
}

func TestAReloadHasHappenedWhenAllFrontendsHaveIt(t *testing.T) {
	for _, d := range []deployment{nginx(), haproxy()} {
		for _, c := range []struct {
			name    string
			changes []string
			taken   bool
		}{
			{"is told to all", nil, true},
			{"is told to all but one", []string{"kill -HUP $frontends", "kill -HUP ${frontends% *}", "convergence: 5s", "convergence: 1s"}, false},
		} {
			t.Run(d.program+" "+c.name, func(t *testing.T) {
				m := d.manifest(t, c.changes...)
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				r, err := target.Start(ctx, m, target.Options{Workers: workers(1), Logf: t.Logf})
				if err != nil {
					t.Fatal(err)
				}
				at, err := look(r.PID())
				if err != nil {
					t.Error(err)
				}
				err = r.Apply(ctx, workers(2))
				var unapplied *target.ApplyError
				if c.taken && err != nil || !c.taken && !errors.As(err, &unapplied) {
					t.Errorf("Apply: %v", err)
				}
				if err := r.Stop(ctx); err != nil {
					t.Error(err)
				}
				pids := []int{at.target, at.ingress}
				for _, p := range at.frontends {
					pids = append(pids, p.pid)
				}
				for _, pid := range pids {
					if pid != 0 && syscall.Kill(pid, 0) == nil {
						t.Errorf("process %d of the deployment has outlived it", pid)
					}
				}
			})
		}
	}
}
