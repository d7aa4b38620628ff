package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// ValueSHA256 is the digest of a JSON document's value: of its encoding with
// sorted keys and without blanks, numbers as they were written. It is empty for
// what is no JSON. Two documents with equal digests have equal values.
func ValueSHA256(doc []byte) string {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	sum := sha256.New()
	e := json.NewEncoder(sum)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
