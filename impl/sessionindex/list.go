package sessionindex

// list is a list of records by their handles. The links are in the records themselves,
// where of finds them, so that joining and leaving cost no memory.
type list[H ~int32] struct{ first, last H }

// links are a record's neighbours on a list; none at its ends.
type links[H ~int32] struct{ prev, next H }

// add puts a record that is not on the list at its end.
func (l *list[H]) add(h H, of func(H) *links[H]) {
	*of(h) = links[H]{prev: l.last}
	if l.last != 0 {
		of(l.last).next = h
	} else {
		l.first = h
	}
	l.last = h
}

// drop takes a record off.
func (l *list[H]) drop(h H, of func(H) *links[H]) {
	at := of(h)
	if at.prev != 0 {
		of(at.prev).next = at.next
	} else {
		l.first = at.next
	}
	if at.next != 0 {
		of(at.next).prev = at.prev
	} else {
		l.last = at.prev
	}
	*at = links[H]{}
}
