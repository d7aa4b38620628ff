package affinity

import (
	"strconv"

	"github.com/routeproof/routeproof/suites/bench"
	"github.com/routeproof/routeproof/suites/script"
)

// homeOf is a wish for the worker that served the request; nil if nobody did, which the
// judge holds against the target.
func homeOf(r *bench.Run, key string) *script.Where {
	id := r.Served(key)
	if id == "" {
		return nil
	}
	at := script.At(id)
	return &at
}

// AFF010Pinned: the worker that blames the request is asked for by name, too.
func (Cases) AFF010Pinned() bench.Case {
	var mishaps []mishap
	for _, code := range []int{400, 401, 403, 404, 409, 413, 422} {
		mishaps = append(mishaps, mishap{name: strconv.Itoa(code), plan: status(code).plan, rare: true, pin: true})
	}
	c := stays("pinned", "is pinned to its worker and answered 400, 401, 403, 404, 409, 413 or 422", mishaps...)
	c.Claims = []string{"pins.worker"}
	return c
}

// AFF008Pinned: the worker that is full is asked for by name, too.
func (Cases) AFF008Pinned() bench.Case {
	c := overload("pinned", " that are pinned to it", true)
	c.Claims = []string{"pins.worker"}
	return c
}

// AFF022Pinned: the worker that is broken is asked for by name, too.
func (Cases) AFF022Pinned() bench.Case {
	c := serverError("pinned", "is pinned to its worker and answered 500 or 502", true, 500, 502)
	c.Claims = []string{"pins.worker"}
	return c
}
