package mutants

import (
	"encoding/json"
	"strconv"
	"strings"
)

// AFFCancelEnds ends what is answered.
func (Catalogue) AFFCancelEnds() Mutant {
	return wired("wire/cancel-ends-lease", "a client that leaves after its acquire was answered ends its lease",
		func(w *wire, ask doc) {
			if l := w.noted(key(args(ask)["id"])); ask["op"] == "cancel" && l != "" {
				w.call("release", doc{"lease": l})
			}
		},
		func(w *wire, ask, answer doc) {
			if l := lease(answer); l != "" {
				w.note(key(ask["id"]), l)
			}
		}, "AFF-012/left-late", "AFF-020/random")
}

// instances are those that live, but for the one of a request.
func (w *wire) instances(but any) (others []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, is := range w.notes {
		if is == "instance" && name != but {
			others = append(others, name)
		}
	}
	return others
}

// noteInstances keeps them.
func noteInstances(w *wire, ask, answer doc) {
	if ok, _ := answer["ok"].(doc); ask["op"] == "new" && ok != nil {
		w.note(ok["instance"].(string), "instance")
	}
	if name, _ := args(ask)["instance"].(string); ask["op"] == "close" {
		w.note(name, "closed")
	}
}

// AFFCloseEndsAll ends every instance.
func (Catalogue) AFFCloseEndsAll() Mutant {
	return wired("wire/close-ends-all", "the end of one instance ends every instance",
		func(w *wire, ask doc) {
			if ask["op"] == "close" {
				for _, other := range w.instances(args(ask)["instance"]) {
					w.call("close", doc{"instance": other})
				}
			}
		}, noteInstances, "AFF-020/instances")
}

// AFFCloseAnswersAll sends everybody away.
func (Catalogue) AFFCloseAnswersAll() Mutant {
	return wired("wire/close-answers-all", "the end of one instance answers what waits in any",
		func(w *wire, ask doc) {
			if ask["op"] != "close" {
				return
			}
			w.mu.Lock()
			var waiting []any
			for _, x := range w.open {
				if x["op"] == "acquire" {
					waiting = append(waiting, x["id"])
				}
			}
			w.mu.Unlock()
			for _, id := range waiting {
				w.call("cancel", doc{"id": id})
			}
		}, nil, "AFF-020/instances")
}

// everywhere does an operation in all instances.
func everywhere(op string) func(*wire, doc) {
	return func(w *wire, ask doc) {
		if ask["op"] != op {
			return
		}
		for _, other := range w.instances(args(ask)["instance"]) {
			same := doc{}
			for name, is := range args(ask) {
				same[name] = is
			}
			same["instance"] = other
			w.call(op, same)
		}
	}
}

// AFFOneClock has one time for all.
func (Catalogue) AFFOneClock() Mutant {
	return wired("wire/one-clock", "all instances have one clock", everywhere("clock.advance"), noteInstances, "AFF-020/instances")
}

// AFFOneFleet has one fleet for all.
func (Catalogue) AFFOneFleet() Mutant {
	return wired("wire/one-fleet", "all instances have the same workers", everywhere("workers.set"), noteInstances, "AFF-020/instances")
}

// drops makes an adapter that forgets a member in batches.
func drops(id, member string, killedBy ...string) Mutant {
	return wired(id, "in a batch, "+member+" is forgotten",
		func(_ *wire, ask doc) { inBatch(ask, func(args doc) { delete(args, member) }) }, nil, killedBy...)
}

// AFFBatchPin forgets pins in batches.
func (Catalogue) AFFBatchPin() Mutant {
	return drops("wire/batch-drops-pin", "pin", "AFF-020/batch", "AFF-020/batches")
}

// AFFBatchPhase forgets phases in batches.
func (Catalogue) AFFBatchPhase() Mutant {
	return drops("wire/batch-drops-phase", "phase", "AFF-020/batch")
}

// AFFBatchTenant forgets tenants in batches.
func (Catalogue) AFFBatchTenant() Mutant {
	return drops("wire/batch-drops-tenant", "tenant", "AFF-020/batch")
}

// AFFBatchModel knows one model in batches.
func (Catalogue) AFFBatchModel() Mutant {
	return wired("wire/batch-one-model", "in a batch, every model is the same",
		func(_ *wire, ask doc) {
			inBatch(ask, func(args doc) {
				if args["model"] != nil {
					args["model"] = "m"
				}
			})
		}, nil, "AFF-020/batch")
}

// AFFBatchRank forgets where in batches.
func (Catalogue) AFFBatchRank() Mutant {
	return wired("wire/batch-drops-rank", "in a batch, the rank of a dispatch is forgotten",
		func(_ *wire, ask doc) {
			inBatch(ask, func(args doc) {
				if t, ok := args["target"].(doc); ok {
					delete(t, "rank")
				}
			})
		}, nil, "AFF-020/batch", "AFF-020/batches")
}

// AFFBatchLease counts from one.
func (Catalogue) AFFBatchLease() Mutant {
	return wired("wire/batch-counts-from-one", "in a batch, a lease that is named by number is that of the operation before",
		func(_ *wire, ask doc) {
			inBatch(ask, func(args doc) {
				if n, ok := args["lease"].(json.Number); ok {
					i, _ := strconv.Atoi(n.String())
					args["lease"] = max(0, i-1)
				}
			})
		}, nil, "AFF-020/batch", "AFF-020/batches")
}

// AFFBatchOrder does what is quick first.
func (Catalogue) AFFBatchOrder() Mutant {
	return wired("wire/batch-questions-first", "in a batch, questions are answered before anything else is done",
		func(w *wire, ask doc) {
			if ask["op"] != "batch" {
				return
			}
			ops, _ := args(ask)["ops"].([]any)
			for i, p := range ops {
				part, _ := p.(doc)
				if part["op"] != "query" {
					continue
				}
				answer := w.call("query", part["args"])
				delete(answer, "id")
				b, _ := json.Marshal(answer)
				w.note(key(ask["id"])+" "+strconv.Itoa(i), string(b))
			}
		},
		func(w *wire, ask, answer doc) {
			ok, _ := answer["ok"].(doc)
			answers, _ := ok["answers"].([]any)
			for i := range answers {
				if early := w.noted(key(ask["id"]) + " " + strconv.Itoa(i)); early != "" {
					var a doc
					d := json.NewDecoder(strings.NewReader(early))
					d.UseNumber()
					if d.Decode(&a) == nil {
						answers[i] = a
					}
				}
			}
		}, "AFF-020/batch", "AFF-020/batches")
}

// AFFBatchWaits leaves somebody behind.
func (Catalogue) AFFBatchWaits() Mutant {
	return wired("wire/batch-leaves-waiter", "an acquire that would wait in a batch is answered, and waits all the same",
		nil,
		func(w *wire, ask, answer doc) {
			ok, _ := answer["ok"].(doc)
			answers, _ := ok["answers"].([]any)
			ops, _ := args(ask)["ops"].([]any)
			for i, a := range answers {
				part, _ := a.(doc)
				if e, _ := part["error"].(doc); e["kind"] == "cancelled" {
					w.mu.Lock()
					w.later = append(w.later, doc{"op": "acquire", "args": args(ops[i].(doc))})
					w.mu.Unlock()
				}
			}
		}, "AFF-020/batch", "AFF-020/batches")
}
