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
	way, last := p.wrong.Nearest, p.last[p.wrong.At]
	if last.Batch != 0 {
		request, answer := p.partly(lines[ask:], own.ID)
		if request == "" {
			return nil
		}
		all[len(all)-1] = request
		all = append(all, answer)
	}
	id := func(name string) component.ID {
		if name == last.Name {
			return own.ID
		}
		return p.ids[name]
	}
	wants := slices.Clone(way.Wants)
	for _, a := range p.wrong.Woken {
		wants = append(wants, script.Want{Name: a.Name, AnyOf: []script.Outcome{a.Outcome}})
	}
	for i, w := range wants { // its own comes last, as some operations promise
		if w.Name == last.Name {
			if wants = slices.Delete(wants, i, i+1); last.Batch == 0 {
				wants = append(wants, w)
			}
			break
		}
	}
	for _, w := range wants {
		doc := outcome(w)
		doc["id"] = id(w.Name)
		all = append(all, text(doc))
	}
	parked := []component.ID{}
	for _, name := range way.Waiting {
		parked = append(parked, id(name))
	}
	return append(all, `{"id":"end","op":"sync"}`, text(map[string]any{"id": "end", "ok": component.Synced{Parked: parked}}))
}

// partly is a batch up to the operation that went wrong, and the answer that it should
// have had. The batch is the first of the lines.
func (p *player) partly(lines []component.Line, id component.ID) (request, answer string) {
	var asked, answered map[string]any
	for _, l := range lines {
		var own struct {
			ID component.ID `json:"id"`
		}
		doc := parse(variables(l.Text))
		switch {
		case doc == nil || json.Unmarshal([]byte(l.Text), &own) != nil || own.ID != id:
		case l.Sent:
			asked = doc
		default:
			answered = doc
		}
	}
	args, _ := asked["args"].(map[string]any)
	ok, _ := answered["ok"].(map[string]any)
	ops, _ := args["ops"].([]any)
	answers, _ := ok["answers"].([]any)
	at := p.wrong.At
	own := slices.IndexFunc(p.wrong.Nearest.Wants, func(w script.Want) bool { return w.Name == p.last[at].Name })
	if at >= len(ops) || at >= len(answers) || own < 0 {
		return "", ""
	}
	args["ops"] = ops[:at+1]
	ok["answers"] = append(slices.Clone(answers[:at]), outcome(p.wrong.Nearest.Wants[own]))
	return text(asked), text(answered)
}

// parse reads a line; nil if it is none.
func parse(line string) (doc map[string]any) {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if d.Decode(&doc) != nil {
		return nil
	}
	return doc
}

// variables puts variables in the place of the names that an adapter made up.
func variables(line string) string {
	doc := parse(line)
	if doc == nil {
		return line
	}
	named(doc)
	return text(doc)
}

// named does so in a request or an answer, and in the parts of a batch.
func named(doc map[string]any) {
	for _, part := range []string{"args", "ok"} {
		members, _ := doc[part].(map[string]any)
		for _, name := range []string{"instance", "lease", "token"} {
			if s, ok := members[name].(string); ok {
				members[name] = "$" + s
			}
		}
		for _, name := range []string{"ops", "answers"} {
			parts, _ := members[name].([]any)
			for _, p := range parts {
				if doc, ok := p.(map[string]any); ok {
					named(doc)
				}
			}
		}
	}
}

// outcome is an answer that is wanted, but for its id.
func outcome(w script.Want) map[string]any {
	o := w.AnyOf[0]
	ok := map[string]any{}
	switch {
	case o.State == script.StateError:
		return map[string]any{"error": component.Error{Kind: component.Kind(o.Kind), Message: "as the rules say"}}
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
	return map[string]any{"ok": ok}
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
