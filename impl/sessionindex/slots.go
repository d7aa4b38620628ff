package sessionindex

// slots holds records under dense handles and hands those of freed records out
// again. Handle 0 is nobody's. A pointer into it is good until the next take.
type slots[H ~int32, T any] struct {
	records []T
	free    []H
}

// take returns the handle of a zero record.
func (s *slots[H, T]) take() H {
	if n := len(s.free); n > 0 {
		h := s.free[n-1]
		s.free = s.free[:n-1]
		return h
	}
	var zero T
	if len(s.records) == 0 {
		s.records = append(s.records, zero)
	}
	s.records = append(s.records, zero)
	return H(len(s.records) - 1)
}

// give frees the record, which leaves nothing behind.
func (s *slots[H, T]) give(h H) {
	var zero T
	s.records[h] = zero
	s.free = append(s.free, h)
}

func (s *slots[H, T]) at(h H) *T { return &s.records[h] }

// used is the number of records taken.
func (s *slots[H, T]) used() int { return max(len(s.records)-1, 0) - len(s.free) }
