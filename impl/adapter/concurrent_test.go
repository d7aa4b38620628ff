package adapter

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// crowd is a conversation whose answers are kept by id until they are wanted.
type crowd struct {
	*talk
	came map[string]map[string]any
}

func crowded(t *testing.T, concurrent bool) *crowd {
	t.Helper()
	c := &crowd{begin(t), map[string]map[string]any{}}
	c.wants(`"i1"`, `{"id":"new","op":"new","args":{"component":"affinity","config":{"idleTTL":10000,"initWait":5000},"concurrent":%v}}`, concurrent)
	c.wants(`"ok"`, `{"id":"set","op":"workers.set","args":{"instance":"i1","workers":[{"id":"w","ranks":1}]}}`)
	return c
}

// await returns the answer to an id.
func (c *crowd) await(id string) map[string]any {
	c.t.Helper()
	for c.came[id] == nil {
		got := object(c.t, []byte(c.hear()))
		c.came[got["id"].(string)] = got
	}
	got := c.came[id]
	delete(c.came, id)
	return got
}

// sync returns what is parked, in order.
func (c *crowd) sync() (parked []string) {
	c.t.Helper()
	c.say(`{"id":"sync","op":"sync"}`)
	for _, id := range c.await("sync")["ok"].(map[string]any)["parked"].([]any) {
		parked = append(parked, id.(string))
	}
	return parked
}

func (c *crowd) acquire(id, session string) {
	c.say(fmt.Sprintf(`{"id":"%s","op":"acquire","args":{"instance":"i1","model":"m","session":"%s"}}`, id, session))
}

// Whatever ends the waiting of some: those who still wait are listed, all of them and
// nobody else, and everybody else has been answered.
func TestWhatIsParkedIsExact(t *testing.T) {
	for name, concurrent := range map[string]bool{"one after another": false, "beside each other": true} {
		t.Run(name, func(t *testing.T) {
			c := crowded(t, concurrent)
			for round := range 60 {
				session, prefix := fmt.Sprint("s", round), fmt.Sprint(round, ".")
				c.acquire(prefix+"first", session)
				lease := c.await(prefix + "first")["ok"].(map[string]any)["lease"]
				var waiting []string
				for n := range 1 + rand.IntN(8) {
					waiting = append(waiting, fmt.Sprint(prefix, n))
					c.acquire(waiting[n], session)
				}
				if got := c.sync(); !slices.Equal(got, waiting) {
					t.Fatalf("parked are %v, want %v", got, waiting)
				}
				for len(waiting) > 0 {
					how := []string{"commit", "release", "cancel", "clock.advance"}[rand.IntN(4)]
					args := map[string]any{
						"commit": map[string]any{"lease": lease, "target": target{Worker: "w"}}, "release": map[string]any{"lease": lease},
						"cancel": map[string]any{"id": waiting[0]}, "clock.advance": map[string]any{"instance": "i1", "by": 5000},
					}[how]
					text, err := json.Marshal(args)
					if err != nil {
						t.Fatal(err)
					}
					c.say(fmt.Sprintf(`{"id":"act","op":"%s","args":%s}`, how, text))
					rest := c.sync()
					c.await("act")
					for _, id := range waiting {
						if slices.Contains(rest, id) {
							continue
						}
						got, ok := c.came[id]
						if !ok {
							t.Fatalf("after %s, %s is neither parked nor answered", how, id)
						}
						if ok, _ := got["ok"].(map[string]any); ok != nil && how == "release" {
							lease = ok["lease"]
						}
						delete(c.came, id)
					}
					left := 0
					if how == "release" || how == "cancel" {
						left = len(waiting) - 1
					}
					if len(rest) != left {
						t.Fatalf("%s left %d of %d", how, len(rest), len(waiting))
					}
					waiting = rest
				}
			}
			if len(c.came) > 0 {
				t.Errorf("at the end came %v", c.came)
			}
		})
	}
}

func TestOperationsBesideEachOtherElectOneInitializerForEachSession(t *testing.T) {
	const sessions, turns = 10, 40
	c := crowded(t, true)
	for n := range turns {
		for s := range sessions {
			c.acquire(fmt.Sprintf("s%d/%d", s, n), fmt.Sprint("s", s))
		}
	}
	elected := map[string]int{}
	for bound := 0; bound < sessions*(turns-1); {
		got := object(t, []byte(c.hear()))
		ok, _ := got["ok"].(map[string]any)
		session, _, isTurn := strings.Cut(got["id"].(string), "/")
		switch {
		case ok == nil:
			t.Fatal(got)
		case isTurn && ok["state"] == "initializer":
			elected[session]++
			c.say(fmt.Sprintf(`{"id":"commit %s","op":"commit","args":{"lease":"%s","target":{"worker":"w"}}}`, session, ok["lease"]))
		case isTurn:
			bound++
		}
	}
	for s, n := range elected {
		if n != 1 {
			t.Errorf("%s has had %d initializers", s, n)
		}
	}
	if len(elected) != sessions {
		t.Errorf("%d sessions were initialized", len(elected))
	}
	if parked := c.sync(); parked != nil {
		t.Errorf("parked are %v", parked)
	}
	c.say(`{"id":"count","op":"count","args":{"instance":"i1"}}`)
	if got := fmt.Sprint(c.await("count")["ok"]); got != fmt.Sprintf("map[leases:%d sessions:%d]", sessions*turns, sessions) {
		t.Errorf("count says %s", got)
	}
}
