package bench

import (
	"encoding/json"

	"github.com/routeproof/routeproof/suites/lineage"
	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target/component"
)

func indexConfig(c lineage.Config) (wire component.SessionIndexConfig) {
	wire.Sessions = c.Sessions
	if c.Retention != nil {
		retention := ms(*c.Retention)
		wire.Retention = &retention
	}
	return wire
}

// rankOf is the rank of a place; of one without a rank, 0.
func rankOf(w script.Where) uint32 {
	if w.Rank == nil {
		return 0
	}
	return uint32(*w.Rank)
}

// args are a step's in the protocol; left is why it cannot be asked.
func (t *indexTalker) args(st *lineage.Step) (args any, left string) {
	var at script.Where
	if st.At != nil {
		at = *st.At
	}
	blocks := st.Blocks
	if blocks == nil {
		blocks = []string{}
	}
	switch st.Op {
	case lineage.Store, lineage.StoreAdmit:
		return component.StoreArgs{Instance: t.instance, Session: st.Session, Worker: at.Worker, Rank: rankOf(at), Incarnation: t.incarnation(st), Parent: st.Parent, Blocks: blocks}, ""
	case lineage.Match, lineage.MatchAdmit:
		return component.MatchArgs{Instance: t.instance, Session: st.Session, Worker: at.Worker, Rank: rankOf(at), Incarnation: t.incarnation(st), Block: st.Block}, ""
	case lineage.Fill:
		parts := make([]component.Part, st.Times)
		for i := range parts {
			parts[i] = component.Part{Op: component.OpMatch, Args: component.MatchArgs{Instance: t.instance, Session: lineage.Numbered(st.From + i), Worker: at.Worker, Rank: rankOf(at), Incarnation: t.incarnation(st), Block: st.Block}}
		}
		return component.BatchArgs{Ops: parts}, ""
	case lineage.Remove, lineage.PhysicalSet:
		return component.RankArgs{Instance: t.instance, Worker: at.Worker, Rank: rankOf(at), Blocks: &blocks}, ""
	case lineage.Clear:
		return component.RankArgs{Instance: t.instance, Worker: at.Worker, Rank: rankOf(at)}, ""
	case lineage.Frontiers:
		return component.FrontiersArgs{Instance: t.instance, Session: st.Session}, ""
	case lineage.Lineages:
		return component.LineagesArgs{Instance: t.instance, Session: st.Session, Worker: at.Worker, Rank: rankOf(at), Anchor: st.Block}, ""
	case lineage.Size, lineage.Dump, lineage.Flush:
		return component.Instance{Instance: t.instance}, ""
	case lineage.Advance:
		return component.AdvanceArgs{Instance: t.instance, By: ms(st.By)}, ""
	case lineage.Create:
		return component.NewArgs{Component: component.SessionIndexComponent, Config: indexConfig(*st.Config)}, ""
	case lineage.Register, lineage.WorkerRemove, lineage.RemoveBegin:
		member := component.MemberArgs{Instance: t.instance, Worker: at.Worker, Incarnation: st.Incarnation}
		if at.Rank != nil {
			rank := rankOf(at)
			member.Rank = &rank
		}
		return member, ""
	case lineage.PhysicalFail:
		return component.FailArgs{Instance: t.instance, Barrier: st.Barrier, LowerTier: st.LowerTier}, ""
	}
	token, ok := t.tokens[st.Ref]
	if !ok {
		return nil, st.Ref + " was not taken in"
	}
	return component.TokenArgs{Token: token}, ""
}

// answered is an answer in the script's terms.
func (t *indexTalker) answered(st *lineage.Step, answer component.Answer) (got lineage.Answer, err error) {
	if answer.Err != nil {
		got = lineage.FailsAt(string(answer.Err.Kind), answer.Err.Block)
		got.Text = answer.Err.Message
		return got, nil
	}
	switch st.Op {
	case lineage.Store, lineage.StoreApply, lineage.Match, lineage.MatchApply:
		var x component.Applied
		err = answer.Into(&x)
		switch {
		case x.Discarded:
			got = lineage.Discarded
		case x.Changed:
			got = lineage.Changed
		default:
			got = lineage.Unchanged
		}
	case lineage.Fill:
		var x component.Batched
		err = answer.Into(&x)
		got = lineage.Counts(0)
		for _, part := range x.Answers {
			var one component.Applied
			if part.Err == nil && json.Unmarshal(part.OK, &one) == nil && one.Changed {
				got.Count++
			}
		}
	case lineage.Remove:
		var x component.Hit
		err = answer.Into(&x)
		got = lineage.Counts(x.Hit)
	case lineage.Clear, lineage.WorkerRemove, lineage.RemoveAwait:
		var x component.Dropped
		err = answer.Into(&x)
		got = lineage.Counts(x.Dropped)
	case lineage.StoreAdmit, lineage.MatchAdmit, lineage.RemoveBegin:
		var x component.Token
		err = answer.Into(&x)
		t.tokens[st.Name] = x.Token
		got = lineage.Taken
	case lineage.Frontiers:
		var x component.Frontiers
		err = answer.Into(&x)
		got = lineage.Reaches(frontiersOf(x.Frontiers)...)
	case lineage.Lineages:
		var x component.Lineages
		err = answer.Into(&x)
		got = lineage.Chains(x.Chains...)
	case lineage.Size:
		var x component.Size
		err = answer.Into(&x)
		got = lineage.Answer{State: lineage.StateSize, Size: &lineage.Sizes{Blocks: x.Blocks, Sessions: x.Sessions, Discarded: x.Discarded}}
	case lineage.Dump:
		var x component.Dump
		err = answer.Into(&x)
		s := &lineage.State{}
		for _, b := range x.Blocks {
			s.Blocks = append(s.Blocks, lineage.Known(b))
		}
		for _, d := range x.Sessions {
			s.Sessions = append(s.Sessions, lineage.HeldSession{Session: d.Session, Frontiers: frontiersOf(d.Frontiers)})
		}
		got = lineage.Answer{State: lineage.StateDump, Dump: s}
	default:
		got = lineage.Done
	}
	return got, err
}

func frontiersOf(all []component.Frontier) []lineage.Frontier {
	out := make([]lineage.Frontier, len(all))
	for i, f := range all {
		out[i] = lineage.F(script.On(f.Worker, int(f.Rank)), f.Block)
	}
	return out
}

// replay is the conversation that went wrong as `routeproof adapter check` plays it: its
// lines as they were, and at the end the first of the answers that are allowed.
func (p *indexPlayer) replay() []string {
	if p.wrong == nil || len(p.lines) < 2 {
		return nil
	}
	var own struct {
		ID component.ID `json:"id"`
		Op string       `json:"op"`
	}
	asked := p.lines[len(p.lines)-2] // nothing ever waits: the answer that was wrong is the last line
	if json.Unmarshal([]byte(asked.Text), &own) != nil {
		return nil
	}
	var all []string
	for _, l := range p.lines[:len(p.lines)-1] {
		all = append(all, variables(l.Text))
	}
	return append(all, indexAnswer(own.ID, own.Op, p.wrong.May[0]))
}

// indexAnswer is the line of an answer that is wanted.
func indexAnswer(id component.ID, op string, a lineage.Answer) string {
	ok := map[string]any{}
	wire := func(all []lineage.Frontier) []component.Frontier {
		out := []component.Frontier{}
		for _, f := range all {
			out = append(out, component.Frontier{Worker: f.At.Worker, Rank: rankOf(f.At), Block: f.Block})
		}
		return out
	}
	switch a.State {
	case lineage.StateError:
		return text(map[string]any{"id": id, "error": component.Error{Kind: component.Kind(a.Kind), Message: "as the rules say", Block: a.Block}})
	case lineage.StateChanged, lineage.StateUnchanged:
		ok["changed"] = a.State == lineage.StateChanged
	case lineage.StateDiscarded:
		ok["changed"], ok["discarded"] = false, true
	case lineage.StateTaken:
		ok["token"] = "$token"
	case lineage.StateCounted:
		name := "dropped"
		if op == lineage.Remove {
			name = "hit"
		}
		ok[name] = max(0, a.Count)
	case lineage.StateFrontiers:
		ok["frontiers"] = wire(a.Frontiers)
	case lineage.StateChains:
		chains := a.Chains
		if chains == nil {
			chains = [][]string{}
		}
		ok["chains"] = chains
	case lineage.StateSize:
		return text(map[string]any{"id": id, "ok": component.Size{Blocks: a.Size.Blocks, Sessions: a.Size.Sessions, Discarded: a.Size.Discarded}})
	case lineage.StateDump:
		d := component.Dump{Blocks: []component.DumpedBlock{}, Sessions: []component.DumpedSession{}}
		for _, b := range a.Dump.Blocks {
			d.Blocks = append(d.Blocks, component.DumpedBlock(b))
		}
		for _, s := range a.Dump.Sessions {
			d.Sessions = append(d.Sessions, component.DumpedSession{Session: s.Session, Frontiers: wire(s.Frontiers)})
		}
		return text(map[string]any{"id": id, "ok": d})
	}
	return text(map[string]any{"id": id, "ok": ok})
}
