package affinity

import (
	"container/heap"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
)

// idleQueue finds the binding that has been idle for longest. It is put in order
// only as far as somebody looks: an entry keeps its place while it is
// in use and after, under the deadline it once had, so that a request on a
// cold session touches no other. What comes to the front under a
// deadline that is no longer its own gets its new place then; what is in use or
// gone is dropped, and the next release adds it again. Deadlines of one entry
// only grow, so nothing can be overlooked.
type idleQueue struct {
	items idleHeap
	gone  int    // items whose entries have left the table
	steps uint64 // items visited; those on the way up or down, when one gets its place, are at most these
	// earliest is the deadline in front, or the far future. No deadline of an idle
	// entry is earlier. It can be read without the shard's lock.
	earliest atomic.Int64
}

type idleItem struct {
	deadline int64
	entry    *entry
}

// add queues an idle entry that is not queued.
func (q *idleQueue) add(e *entry) {
	e.queued = true
	q.items = append(q.items, idleItem{e.deadline, e})
	q.fix(len(q.items) - 1)
	q.publish()
}

// take removes and returns the entry that has been idle for longest, if its
// deadline is not later than the given one; else it returns nil.
func (q *idleQueue) take(by int64) *entry {
	defer q.publish()
	for len(q.items) > 0 {
		q.steps++
		first := &q.items[0]
		e := first.entry
		switch {
		case e.revision == 0:
			q.gone--
			q.drop()
		case e.phase != bound || e.leases > 0:
			e.queued = false
			q.drop()
		case first.deadline != e.deadline:
			first.deadline = e.deadline
			q.fix(0)
		case e.deadline > by:
			return nil
		default:
			e.queued = false
			q.drop()
			q.tidy()
			return e
		}
	}
	return nil
}

// drop removes the first item.
func (q *idleQueue) drop() {
	last := len(q.items) - 1
	q.items[0] = q.items[last]
	q.items[last] = idleItem{} // or the array would keep the entry alive
	q.items = q.items[:last]
	if last > 0 {
		q.fix(0)
	}
}

// fix puts an item where it belongs.
func (q *idleQueue) fix(at int) {
	q.steps += uint64(bits.Len(uint(len(q.items))))
	heap.Fix(&q.items, at)
}

// forget notes that a queued entry has left the table.
func (q *idleQueue) forget() {
	q.gone++
	q.tidy()
}

// tidy clears away the items whose entries are gone before they are the greater
// part.
func (q *idleQueue) tidy() {
	if q.gone <= len(q.items)/2 {
		return
	}
	q.steps += uint64(len(q.items))
	q.items = slices.DeleteFunc(q.items, func(i idleItem) bool { return i.entry.revision == 0 })
	q.gone = 0
	heap.Init(&q.items)
	q.publish()
}

func (q *idleQueue) publish() {
	d := int64(math.MaxInt64)
	if len(q.items) > 0 {
		d = q.items[0].deadline
	}
	q.earliest.Store(d)
}

// idleHeap orders items by deadline. Nobody pushes or pops by container/heap,
// whose any would cost memory.
type idleHeap []idleItem

func (h idleHeap) Len() int           { return len(h) }
func (h idleHeap) Less(i, j int) bool { return h[i].deadline < h[j].deadline }
func (h idleHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (idleHeap) Push(any)             { panic("affinity: idle entries are added by idleQueue.add") }
func (idleHeap) Pop() any             { panic("affinity: idle entries are removed by idleQueue.drop") }
