package script

import "strings"

// Subject names an operation in a sentence about the step.
func (st *Step) Subject(name string) string {
	if name == st.Name && st.Op != Acquire {
		return "it"
	}
	return name
}

// AnyOf names outcomes of which each will do.
func AnyOf(all []Outcome) string {
	words := make([]string, len(all))
	for i, o := range all {
		words[i] = o.String()
	}
	return strings.Join(words, ", or ")
}
