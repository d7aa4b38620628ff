// Package shrink makes conversations that went wrong smaller.
package shrink

import "slices"

// Fewer leaves steps out, in ever smaller groups, until none can be. The first keep
// stay, and the last, which goes wrong. now returns the steps as they are; attempt tries
// others and says whether these go wrong as well: from then on now returns them, or a
// part of them. more says false when nothing else shall be tried.
func Fewer[T any](keep int, now func() []T, attempt func([]T) bool, more func() bool) {
	for size := max(1, len(now())/2); more(); size = max(1, size/2) {
		shrunk := false
		for at := len(now()) - 1 - size; at > keep-1-size; at -= size {
			from := max(keep, at)
			if to := min(at+size, len(now())-1); from < to {
				shrunk = attempt(slices.Delete(slices.Clone(now()), from, to)) || shrunk
			}
		}
		if size == 1 && !shrunk {
			return
		}
	}
}
