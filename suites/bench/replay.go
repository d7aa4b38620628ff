package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routeproof/routeproof/suites/script"
	"github.com/routeproof/routeproof/suites/target/component"
)

// replay is the conversation that went wrong as `routeproof adapter check` plays it: its
// lines as they were, and at the end the first of the answers that are allowed.
func (p *player) replay() []string {
	lines := p.Transcript(p.from)[:p.to-p.from]
	ask := len(lines) // the request of the step that went wrong
	for asked := 0; ask > 0 && asked < 2; {
		if ask--; lines[ask].Sent { // the last is that of a sync
			asked++
		}
	}
	type frame struct {
		ID component.ID `json:"id"`
		Op string       `json:"op"`
	}
	var all []string
	var own, sync frame
	var synced string // the line of a sync, until it is answered: it was sent before the answers that it follows
	for i, l := range lines[:ask+1] {
		own = frame{}
		if json.Unmarshal([]byte(l.Text), &own) != nil {
			return nil
		}
		switch text := variables(l.Text); {
		case l.Sent && own.Op == component.OpSync && i < ask:
			sync, synced = own, text
		case !l.Sent && own.ID == sync.ID && synced != "":
			all, synced = append(all, synced, text), ""
		default:
			all = append(all, text)
		}
	}
	if p.wrong == nil {
		return nil
	}
	steps := p.held.Script.Steps
	last, way := steps[len(steps)-1], p.wrong.Nearest
	id := func(name string) component.ID {
		if name == last.Name {
			return own.ID
		}
		return p.ids[name]
	}
	wants := slices.Clone(way.Wants)
	for i, w := range wants { // its own comes last, as some operations promise
		if w.Name == last.Name {
			wants = append(slices.Delete(wants, i, i+1), w)
			break
		}
	}
	for _, w := range wants {
		all = append(all, answer(id(w.Name), w))
	}
	parked := []component.ID{}
	for _, name := range way.Waiting {
		parked = append(parked, id(name))
	}
	return append(all, `{"id":"end","op":"sync"}`, text(map[string]any{"id": "end", "ok": component.Synced{Parked: parked}}))
}

// variables puts variables in the place of the names that an adapter made up.
func variables(line string) string {
	var doc map[string]any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if d.Decode(&doc) != nil {
		return line
	}
	for _, part := range []string{"args", "ok"} {
		members, _ := doc[part].(map[string]any)
		for _, name := range []string{"instance", "lease", "token"} {
			if s, ok := members[name].(string); ok {
				members[name] = "$" + s
			}
		}
	}
	return text(doc)
}

// answer is the line of an answer that is wanted.
func answer(id component.ID, w script.Want) string {
	o := w.AnyOf[0]
	ok := map[string]any{}
	switch {
	case o.State == script.StateError:
		return text(map[string]any{"id": id, "error": component.Error{Kind: component.Kind(o.Kind), Message: "as the rules say"}})
	case o.State == script.StateInitializer, o.State == script.StateUnpinned:
		ok["state"] = o.State
	case o.State == script.StateUnbound:
		ok["bound"] = false
	case o.State == script.StateBound && strings.HasPrefix(w.Name, script.Query):
		ok["bound"], ok["target"] = true, targetOf(*o.At)
	case o.State == script.StateBound:
		ok["state"], ok["target"] = o.State, targetOf(*o.At)
	case o.State == script.StateCounted:
		ok["sessions"], ok["leases"] = o.Sum.Sessions, o.Sum.Leases
	}
	if o.State == script.StateInitializer || ok["state"] == script.StateBound {
		ok["lease"] = "$" + fmt.Sprint("of ", w.Name)
	}
	return text(map[string]any{"id": id, "ok": ok})
}

func text(doc map[string]any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(doc) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}
