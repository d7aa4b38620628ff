package router

import (
	"net/http"
	"sync/atomic"
	"testing"
)

func TestAttemptsAreBoundedOverBothPhases(t *testing.T) {
	for _, c := range []struct {
		name            string
		fails           func(n int64) bool // the n-th request for prefill; every one for decode does
		prefill, decode int64
	}{
		{"every other prefill", func(n int64) bool { return n%2 == 1 }, 3, 1},
		{"the first prefill", func(n int64) bool { return n == 1 }, 3, 2},
		{"no prefill", func(int64) bool { return false }, 3, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFloor(t, Config{}, one(5), one(5), nil)
			var n atomic.Int64 // the workers' servers count it, each in a goroutine of its own
			for _, id := range []string{"p0", "p1", "p2", "p3", "p4"} {
				f.workers[id].set(func(w http.ResponseWriter, r *http.Request) {
					if c.fails(n.Add(1)) {
						panic(http.ErrAbortHandler)
					}
					f.prefills(id)(w, r)
				})
				f.workers["d"+id[1:]].set(reset)
			}
			f.refused("", 502, "connection_failed")
			if p, d := f.hits("p"), f.hits("d"); p != c.prefill || d != c.decode {
				t.Errorf("%d requests for prefill and %d for decode, want %d and %d", p, d, c.prefill, c.decode)
			}
			f.idle()
		})
	}
}

// A session that is bound in either phase goes elsewhere once over both.
func TestABoundSessionsRequestGoesElsewhereOnceOverBothPhases(t *testing.T) {
	for _, c := range []struct {
		name string
		ends string // whose binding a 500 ends first: a letter of p and d, or none
	}{{"bound in both", ""}, {"in decode", "p"}, {"in prefill", "d"}} {
		t.Run(c.name, func(t *testing.T) {
			f := newFloor(t, Config{}, one(5), one(5), nil)
			every := func(phase string, h func(id string) http.HandlerFunc) {
				for id, w := range f.workers {
					if id[:1] == phase {
						w.set(h(id))
					}
				}
			}
			f.want("s", "d0/- after p0/-")
			if c.ends != "" {
				every(c.ends, func(string) http.HandlerFunc { return status(500) })
				if p := f.send("s"); p.status != 500 {
					t.Fatalf("got %+v", p)
				}
				every(c.ends, f.good)
			}
			var n atomic.Int64
			every("p", func(id string) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) {
					if n.Add(1) == 1 {
						panic(http.ErrAbortHandler)
					}
					f.prefills(id)(w, r)
				}
			})
			every("d", func(string) http.HandlerFunc { return reset })
			prefill, decode := f.hits("p"), f.hits("d")
			f.refused("s", 502, "connection_failed")
			if p, d := f.hits("p")-prefill, f.hits("d")-decode; p != 2 || d != 1 {
				t.Errorf("%d requests for prefill and %d for decode, want 2 and 1", p, d)
			}
			f.idle()
			every("d", f.good)
			if p := f.send("s"); p.status != 200 {
				t.Errorf("its next turn got %+v", p)
			}
		})
	}
}
