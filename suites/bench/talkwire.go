package bench

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target/component"
)

// usualModel is what scripts mean where they name no model.
const usualModel = "m"

func configOf(c script.Config) component.AffinityConfig {
	return component.AffinityConfig{IdleTTL: ms(c.IdleTTL), Capacity: c.Capacity, AtCapacity: c.AtCapacity, InitWait: ms(c.InitWait)}
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

// args are a step's in the protocol, as part of b; left is why it cannot be asked.
func (t *talker) args(st *script.Step, b *batch) (args any, left string) {
	instance := t.instance
	if st.Instance != "" {
		if instance = t.others[st.Instance]; instance == "" {
			return nil, fmt.Sprintf("there is no instance %s", st.Instance)
		}
	}
	switch st.Op {
	case script.Acquire, script.Query:
		ask := component.Ask{Instance: instance, Model: usualModel, Session: st.Ask.Session, Phase: component.Phase(st.Ask.Phase)}
		if st.Ask.Model != "" {
			ask.Model = st.Ask.Model
		}
		if st.Ask.Tenant != "" {
			ask.Tenant = &st.Ask.Tenant
		}
		if st.Ask.Pin != nil {
			ask.Pin = targetOf(*st.Ask.Pin)
		}
		return ask, ""
	case script.Cancel:
		id, ok := t.ids[st.Ref]
		if !ok {
			return nil, fmt.Sprintf("%s was never asked", st.Ref)
		}
		return map[string]any{"id": id}, ""
	case script.Advance:
		return component.AdvanceArgs{Instance: instance, By: ms(st.By)}, ""
	case script.SetWorkers:
		workers := make([]component.Worker, len(st.Workers))
		for i, w := range st.Workers {
			workers[i] = component.Worker{ID: w.ID, Ranks: max(1, w.Ranks)}
		}
		return component.WorkersArgs{Instance: instance, Workers: workers}, ""
	case script.Close:
		delete(t.others, st.Instance)
		return component.Instance{Instance: instance}, ""
	case script.Count:
		return component.Instance{Instance: instance}, ""
	case script.Create:
		return component.NewArgs{Component: component.AffinityComponent, Config: configOf(*st.Config)}, ""
	}
	lease, left := t.lease(st.Ref, b)
	if left != "" {
		return nil, left
	}
	if st.Op == script.Commit {
		return component.CommitArgs{Lease: lease, Target: targetOf(*st.At)}, ""
	}
	return component.LeaseArgs{Lease: lease}, ""
}

// lease is how a lease is called: by its id, or by the place in the batch of the
// operation that is to give it.
func (t *talker) lease(name string, b *batch) (lease any, left string) {
	if i := b.index(name, true); i >= 0 {
		return i, ""
	}
	if id, ok := t.leases[name]; ok {
		return id, ""
	}
	if i := b.index(name, false); i >= 0 {
		return i, ""
	}
	return nil, fmt.Sprintf("%s has no lease", name)
}

func targetOf(w script.Where) *component.Target {
	t := component.On(w.Worker)
	if w.Rank != nil {
		t = component.OnRank(w.Worker, uint32(*w.Rank))
	}
	return t
}

func whereOf(t *component.Target) script.Where {
	if t == nil {
		return script.Where{}
	}
	w := script.At(t.Worker)
	if t.Rank != nil {
		w = script.On(t.Worker, int(*t.Rank))
	}
	return w
}

// answered is an answer in the script's terms.
func (t *talker) answered(a asked, answer component.Outcome) (script.Answer, error) {
	got := script.Answer{Name: a.name, Outcome: script.Done}
	if answer.Err != nil {
		got.Outcome, got.Text = script.Fails(string(answer.Err.Kind)), answer.Err.Message
		return got, nil
	}
	switch a.op {
	case script.Acquire:
		var x component.Acquired
		if err := answer.Into(&x); err != nil {
			return got, err
		}
		if x.Lease != "" {
			t.leases[a.name] = x.Lease
		}
		switch x.State {
		case component.Initializer:
			got.Outcome = script.Initializes
		case component.Bound:
			got.Outcome = script.Bound(whereOf(x.Target))
		default:
			got.Outcome = script.Unpinned
		}
	case script.Create:
		var x component.Instance
		if err := answer.Into(&x); err != nil {
			return got, err
		}
		t.others[a.name] = x.Instance
	case script.Query:
		var x component.Queried
		if err := answer.Into(&x); err != nil {
			return got, err
		}
		got.Outcome = script.Unbound
		if x.Bound {
			got.Outcome = script.Bound(whereOf(x.Target))
		}
	case script.Count:
		var x component.Counted
		if err := answer.Into(&x); err != nil {
			return got, err
		}
		got.Outcome = script.Holds(x.Sessions, x.Leases)
	}
	return got, nil
}
