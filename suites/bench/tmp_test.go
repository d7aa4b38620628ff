package bench_test

import (
	"reflect"
	"testing"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/report"
	"github.com/routeproof/routeproof/suites/sessionindex"
	"github.com/routeproof/routeproof/suites/target"
)

func TestTmp(t *testing.T) {
	m := target.Reference([]string{bench.SessionIndexClaim})
	pool := bench.NewPool(bench.Env{Manifest: m})
	v := reflect.ValueOf(sessionindex.Cases{})
	n := 0
	run := func(c bench.Case) {
		n++
		out := pool.Exec(t.Context(), c.Normal(), 1, nil)
		if out.Verdict != report.Pass {
			t.Errorf("%s: %s %s %+v", c.ID, out.Verdict, out.Detail, out.Finding)
		}
	}
	for i := range v.NumMethod() {
		switch f := v.Method(i).Interface().(type) {
		case func() bench.Case:
			run(f())
		case func() []bench.Case:
			for _, c := range f() {
				run(c)
			}
		}
	}
	t.Log(n)
	pool.Close()
}
