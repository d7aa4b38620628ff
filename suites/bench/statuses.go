package bench

import "slices"

// Usual are the error statuses that routers have opinions about.
func Usual() []int { return []int{408, 429, 500, 502, 503, 504} }

// Others are the further error statuses that are registered or in common use, and n
// that nobody has heard of, drawn with the case's seed.
func (r *Run) Others(n int) []int {
	var all []int
	for _, span := range [][2]int{{400, 418}, {421, 426}, {428, 431}, {451, 451}, {499, 511}, {520, 530}} {
		for code := span[0]; code <= span[1]; code++ {
			if !slices.Contains(Usual(), code) {
				all = append(all, code)
			}
		}
	}
	for range n {
		all = append(all, 540+r.rnd.IntN(60))
	}
	return all
}
