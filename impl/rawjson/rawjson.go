// Package rawjson reads and changes single members of a JSON object where they
// stand, so that all other bytes stay as they came: numbers, the order of
// members, blanks, and what a schema does not know.
package rawjson

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"
)

// Member returns the raw value of the named member of a valid JSON document, if
// that is an object. Names are case-sensitive, and of a repeated one the last
// counts, as for most workers. encoding/json alone would ignore case, and copy the
// whole document on the way.
func Member(doc []byte, name string) (value []byte, ok bool) {
	for m := range members(doc) {
		if isName(doc[m.begin:m.nameEnd], name) {
			value, ok = doc[m.value:m.end], true
		}
	}
	return value, ok
}

// Edit is a change of one member.
type Edit struct {
	Name  string
	Value string // JSON; "" removes the member
	Add   bool   // adds the member, behind the others, where it is not there yet
}

// Apply returns a changed copy of a document. A member that is repeated is changed
// everywhere. It fails if the document is not a valid JSON object.
func Apply(doc []byte, edits ...Edit) ([]byte, error) {
	if !json.Valid(doc) || doc[blank(doc, 0)] != '{' {
		return nil, errors.New("no valid JSON object")
	}
	size := len(doc)
	for _, e := range edits {
		size += len(e.Name) + len(e.Value) + len(`,"":`)
	}
	out := make([]byte, 0, size)
	end := blank(doc, blank(doc, 0)+1) // of what is dealt with: now the first member, or the end of none
	out = append(out, doc[:end]...)
	found := make([]bool, len(edits))
	kept := 0
	for m := range members(doc) {
		i := slices.IndexFunc(edits, func(e Edit) bool { return isName(doc[m.begin:m.nameEnd], e.Name) })
		if i >= 0 {
			found[i] = true
		}
		if i < 0 || edits[i].Value != "" {
			if kept > 0 {
				out = append(out, doc[end:m.begin]...) // the comma and the blanks around it
			}
			kept++
			if i < 0 {
				out = append(out, doc[m.begin:m.end]...)
			} else {
				out = append(append(out, doc[m.begin:m.value]...), edits[i].Value...)
			}
		}
		end = m.end
	}
	for i, e := range edits {
		if !e.Add || found[i] || e.Value == "" {
			continue
		}
		if kept > 0 {
			out = append(out, ',')
		}
		kept++
		name, err := json.Marshal(e.Name)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), e.Value...)
	}
	return append(out, doc[end:]...), nil
}

// member is where a member of an object stands: its name, quotes included, is
// doc[begin:nameEnd], its value doc[value:end].
type member struct{ begin, nameEnd, value, end int }

// members goes through the members of a valid document, if that is an object.
func members(doc []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		i := blank(doc, 0)
		if doc[i] != '{' {
			return
		}
		i = blank(doc, i+1)
		for doc[i] != '}' {
			m := member{begin: i, nameEnd: skipString(doc, i)}
			m.value = blank(doc, blank(doc, m.nameEnd)+1) // over the colon
			m.end = skipValue(doc, m.value)
			if !yield(m) {
				return
			}
			if i = blank(doc, m.end); doc[i] == ',' {
				i = blank(doc, i+1)
			}
		}
	}
}

func isName(quoted []byte, name string) bool {
	if string(quoted[1:len(quoted)-1]) == name {
		return true
	}
	if !slices.Contains(quoted, '\\') {
		return false
	}
	var s string
	return json.Unmarshal(quoted, &s) == nil && s == name
}

func blank(doc []byte, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\n' || doc[i] == '\t' || doc[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the string that begins at i.
func skipString(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// skipValue returns the index behind the value that begins at i.
func skipValue(doc []byte, i int) int {
	depth := 0
	for i < len(doc) {
		switch doc[i] {
		case '"':
			i = skipString(doc, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // behind a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
