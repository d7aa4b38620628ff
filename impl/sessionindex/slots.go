package sessionindex

const pageBits = 7

// slots holds records under dense handles and hands those of freed records out again.
// Handle 0 is nobody's. Records never move: growth copies none.
type slots[H ~int32, T any] struct {
	pages []*[1 << pageBits]T
	next  H // never taken so far; 0 before the first
	free  []H
}

// take returns the handle of a zero record.
func (s *slots[H, T]) take() H {
	if n := len(s.free); n > 0 {
		h := s.free[n-1]
		s.free = s.free[:n-1]
		return h
	}
	s.next = max(s.next, 1)
	h := s.next
	s.next++
	if int(h>>pageBits) == len(s.pages) {
		s.pages = append(s.pages, new([1 << pageBits]T))
	}
	return h
}

// give frees the record, which leaves nothing behind.
func (s *slots[H, T]) give(h H) {
	var zero T
	*s.at(h) = zero
	s.free = append(s.free, h)
}

func (s *slots[H, T]) at(h H) *T { return &s.pages[h>>pageBits][h&(1<<pageBits-1)] }

// used is the number of records taken.
func (s *slots[H, T]) used() int { return max(int(s.next)-1, 0) - len(s.free) }
