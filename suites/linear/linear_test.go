package linear

import (
	"testing"
	"time"
)

// order makes a sequential history; overlap stretches some operations over all of it.
func order(ops ...Op) []Op {
	for i := range ops {
		if ops[i].Session == "" && ops[i].Kind != Workers {
			ops[i].Session = "s"
		}
		if ops[i].Return == 0 {
			ops[i].Call, ops[i].Return = int64(10*i), int64(10*i+5)
		}
	}
	return ops
}

func got(kind Kind, lease string, r Result, target string) Op {
	return Op{Kind: kind, Lease: lease, Result: r, Target: target}
}

func pinned(o Op, to string) Op { o.Pin = to; return o }

func leaving(o Op) Op { o.Leaves = true; return o }

func across(o Op, from, to int64) Op { o.Call, o.Return = from, to; return o }

func TestCheckTellsHistoriesThatAnOrderExplains(t *testing.T) {
	first := []Op{got(Acquire, "a", Initializer, ""), got(Commit, "a", OK, "w1")}
	for name, c := range map[string]struct {
		ops  []Op
		good bool
	}{
		"a turn":                  {order(append(first, got(Release, "a", OK, ""))...), true},
		"a second turn":           {order(append(first, got(Acquire, "b", Bound, "w1"))...), true},
		"a second turn elsewhere": {order(append(first, got(Acquire, "b", Bound, "w2"))...), false},
		"a second initializer of a bound session":   {order(append(first, got(Acquire, "b", Initializer, ""))...), false},
		"two initializers":                          {order(got(Acquire, "a", Initializer, ""), got(Acquire, "b", Initializer, "")), false},
		"an initializer after one that gave up":     {order(got(Acquire, "a", Initializer, ""), got(Release, "a", OK, ""), got(Acquire, "b", Initializer, "")), true},
		"one that waited":                           {order(across(got(Acquire, "b", Bound, "w1"), 1, 99), first[0], first[1]), true},
		"one that was bound before the commit":      {order(got(Acquire, "a", Initializer, ""), got(Acquire, "b", Bound, "w1"), got(Commit, "a", OK, "w1")), false},
		"two heirs":                                 {order(across(got(Acquire, "b", Initializer, ""), 1, 99), across(got(Acquire, "c", Initializer, ""), 1, 99), got(Acquire, "a", Initializer, ""), got(Release, "a", OK, "")), false},
		"one heir and one that leaves":              {order(across(got(Acquire, "b", Initializer, ""), 1, 99), leaving(across(got(Acquire, "c", Cancelled, ""), 1, 99)), got(Acquire, "a", Initializer, ""), got(Release, "a", OK, "")), true},
		"a question":                                {order(append(first, got(Query, "", Bound, "w1"))...), true},
		"a question that finds nothing":             {order(append(first, got(Query, "", Unbound, ""))...), false},
		"a question before the first turn":          {order(got(Query, "", Unbound, ""), first[0], first[1]), true},
		"an end of the binding":                     {order(append(first, got(Invalidate, "a", OK, ""), got(Query, "", Unbound, ""))...), true},
		"an end that ends nothing":                  {order(append(first, got(Invalidate, "a", OK, ""), got(Query, "", Bound, "w1"))...), false},
		"an end by a lease that is over":            {order(append(first, got(Release, "a", OK, ""), got(Invalidate, "a", OK, ""), got(Query, "", Bound, "w1"))...), true},
		"one that hits the newer binding":           {order(append(first, got(Release, "a", OK, ""), got(Invalidate, "a", OK, ""), got(Query, "", Unbound, ""))...), false},
		"a stale commit that binds":                 {order(got(Acquire, "a", Initializer, ""), got(Release, "a", OK, ""), got(Commit, "a", OK, "w1"), got(Query, "", Bound, "w1")), false},
		"a stale commit that does not":              {order(got(Acquire, "a", Initializer, ""), got(Release, "a", OK, ""), got(Commit, "a", Stale, "w1"), got(Query, "", Unbound, "")), true},
		"a commit by the initializer that is stale": {order(got(Acquire, "a", Initializer, ""), got(Commit, "a", Stale, "w1")), false},
		"a commit elsewhere that is refused":        {order(append(first, got(Commit, "a", Refused, "w2"), got(Query, "", Bound, "w1"))...), true},
		"a commit elsewhere that passes":            {order(append(first, got(Commit, "a", OK, "w2"))...), false},
		"a dead worker's session":                   {order(append(first, Op{Kind: Workers, Live: []string{"w2"}, Result: OK}, got(Query, "", Unbound, ""), got(Acquire, "b", Initializer, ""))...), true},
		"one that is followed":                      {order(append(first, Op{Kind: Workers, Live: []string{"w2"}, Result: OK}, got(Acquire, "b", Bound, "w1"))...), false},
		"a pin that contradicts":                    {order(append(first, pinned(got(Acquire, "", Refused, ""), "w2"))...), true},
		"one that is followed all the same":         {order(append(first, pinned(got(Acquire, "b", Bound, "w1"), "w2"))...), false},
		"a pin that is refused for nothing":         {order(append(first, pinned(got(Acquire, "", Refused, ""), "w1"))...), false},
		"a cancelled acquire whose caller stayed":   {order(got(Acquire, "", Cancelled, "")), false},
		"one that leaves and is bound all the same": {order(append(first, leaving(got(Acquire, "b", Bound, "w1")))...), true},
		"a second end that is stale":                {order(append(first, got(Release, "a", OK, ""), got(Release, "a", Stale, ""))...), true},
		"a second end that fails":                   {order(append(first, got(Release, "a", OK, ""), got(Release, "a", "internal", ""))...), false},
		"a second end of the binding that fails":    {order(append(first, got(Invalidate, "a", OK, ""), got(Invalidate, "a", Refused, ""))...), false},
		"a stale commit that fails":                 {order(append(first, got(Release, "a", OK, ""), got(Commit, "a", "internal", "w1"))...), false},
		"workers that are not taken":                {order(append(first, Op{Kind: Workers, Live: []string{"w1"}, Result: "internal"})...), false},
		"a question that fails":                     {order(append(first, got(Query, "", "internal", ""))...), false},
		"another session":                           {order(append(first, Op{Kind: Acquire, Session: "t", Lease: "b", Result: Initializer})...), true},
		"an operation that there is not":            {order(Op{Kind: "other", Result: OK}), false},
	} {
		t.Run(name, func(t *testing.T) {
			v := Check(c.ops, []string{"w1", "w2"}, time.Minute)
			if (v.Bad == "") != c.good || v.Unknown > 0 || c.good && v.Checked < len(c.ops) {
				t.Errorf("%+v", v)
			}
		})
	}
}

// Who asks while the worker is dead and is cancelled may have replaced the binding, or not.
func TestACancelledAcquireMayEndADeadWorkersBinding(t *testing.T) {
	live := func(workers ...string) Op { return Op{Kind: Workers, Live: workers, Result: OK} }
	left := leaving(got(Acquire, "", Cancelled, ""))
	ops := func(more ...Op) []Op {
		return order(append([]Op{got(Acquire, "a", Initializer, ""), got(Commit, "a", OK, "w1")}, more...)...)
	}
	back := func(more ...Op) []Op { return ops(append([]Op{live("w2"), left, live("w1", "w2")}, more...)...) }
	for name, c := range map[string]struct {
		ops  []Op
		good bool
	}{
		"it did":                       {back(got(Acquire, "b", Initializer, "")), true},
		"it did not":                   {back(got(Acquire, "b", Bound, "w1")), true},
		"nobody was cancelled":         {ops(live("w2"), live("w1", "w2"), got(Acquire, "b", Initializer, "")), false},
		"the worker lived":             {ops(left, got(Acquire, "b", Initializer, "")), false},
		"a question finds nothing":     {back(got(Query, "", Unbound, ""), got(Acquire, "b", Initializer, "")), true},
		"and then it is there":         {back(got(Query, "", Unbound, ""), got(Acquire, "b", Bound, "w1")), false},
		"a question finds it":          {back(got(Query, "", Bound, "w1"), got(Acquire, "b", Bound, "w1")), true},
		"and then it is not":           {back(got(Query, "", Bound, "w1"), got(Query, "", Unbound, "")), false},
		"a pin finds it":               {back(pinned(got(Acquire, "", Refused, ""), "w2"), got(Query, "", Unbound, "")), false},
		"an acquire finds it":          {back(got(Acquire, "b", Bound, "w1"), got(Query, "", Unbound, "")), false},
		"it is bound elsewhere":        {back(got(Acquire, "b", Bound, "w2")), false},
		"a lease of it is stale":       {back(got(Commit, "a", Stale, "w1"), got(Acquire, "b", Initializer, "")), true},
		"and then it is there after":   {back(got(Commit, "a", Stale, "w1"), got(Acquire, "b", Bound, "w1")), false},
		"a lease of it ends as one":    {back(got(Release, "a", Stale, ""), got(Acquire, "b", Initializer, "")), true},
		"and its binding is there":     {back(got(Release, "a", Stale, ""), got(Acquire, "b", Bound, "w1")), false},
		"its end ends it":              {back(got(Invalidate, "a", Stale, ""), got(Acquire, "b", Bound, "w1")), false},
		"its end finds nothing":        {back(got(Invalidate, "a", Stale, ""), got(Acquire, "b", Initializer, "")), true},
		"its end fails":                {back(got(Invalidate, "a", "internal", "")), false},
		"a release says nothing of it": {back(got(Release, "a", OK, ""), got(Acquire, "b", Bound, "w1")), true},
	} {
		t.Run(name, func(t *testing.T) {
			if v := Check(c.ops, []string{"w1", "w2"}, time.Minute); (v.Bad == "") != c.good || v.Unknown > 0 {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestLeasesOfABindingAreASet(t *testing.T) {
	s := state{bound: true}.with("l2").with("l10").with("l1")
	if s.leases != "l1,l10,l2," || !s.has("l1") || !s.has("l10") || s.has("l") || s.has("0") {
		t.Errorf("%+v", s)
	}
	if s = s.without("l1"); s.leases != "l10,l2," || s.has("l1") {
		t.Errorf("%+v", s)
	}
	if s = s.without("l10").without("l2").without("l2"); s.leases != "" || s.has("") {
		t.Errorf("%+v", s)
	}
}
