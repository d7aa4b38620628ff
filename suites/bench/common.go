package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Common are headers and body fields that all requests of a customer may share, and that
// name no session: but for those by which the target is told of sessions, tenants and pins.
func (r *Run) Common() (header http.Header, fields map[string]any) { return common(r.client.carrier) }

func common(c carrier) (header http.Header, fields map[string]any) {
	header, fields = http.Header{}, map[string]any{}
	taken := []string{c.header, c.tenant, c.query, c.pins.Worker, c.pins.Rank, c.pins.PrefillWorker, c.pins.PrefillRank}
	for name, value := range map[string]string{"Authorization": "Bearer sk-common", "X-Forwarded-For": "192.0.2.7", "Cookie": foreign[0]} {
		if !slices.ContainsFunc(taken, func(t string) bool { return strings.EqualFold(t, name) }) {
			header[name] = []string{value}
		}
	}
	if c.body != "user" {
		fields["user"] = "a customer" // the join key travels in the prompt, too, which comes first
	}
	return header, fields
}

// foreign are cookies that are nobody's session.
var foreign = [...]string{"rp_theme=dark", "rp_lang=en"}

// among puts a session's cookie by itself, behind one that is nobody's, before one, and
// between two, turn by turn.
func among(turn int, cookie string) string {
	all := []string{cookie}
	if turn&1 != 0 {
		all = slices.Insert(all, 0, foreign[0])
	}
	if turn&2 != 0 {
		all = append(all, foreign[1])
	}
	return strings.Join(all, "; ")
}

// namesakes makes a field in which others bear the name of the session's: a member of an
// object, and text. Where the session's lies in that field itself, the text joins it there.
func namesakes(fields map[string]any, path []string, value string) []byte {
	const outer = "metadata"
	name := path[len(path)-1]
	text := fmt.Sprintf(`"%s":"%s"`, name, value)
	if of, ok := fields[outer].(map[string]any); ok && path[0] == outer {
		of["a note"] = text
	}
	if _, is := fields[outer]; is {
		return nil
	}
	raw, err := json.Marshal(map[string]string{"a note": text, name: value})
	if err != nil {
		panic(err) // strings can be encoded
	}
	return slices.Concat([]byte(`"`+outer+`":`), raw)
}
