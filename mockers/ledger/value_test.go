package ledger

import "testing"

func TestAValuesDigestIgnoresWritingAndNothingElse(t *testing.T) {
	base := ValueSHA256([]byte(`{"a":1,"b":["x<y",null]}`))
	if len(base) != 64 {
		t.Fatalf("got %q", base)
	}
	for doc, equal := range map[string]bool{
		"{ \"b\": [\"x\\u003cy\", null], \"a\": 1 }": true,
		`{"a":2,"b":["x<y",null]}`:                   false,
		`{"a":1,"b":["x<z",null]}`:                   false,
		`{"a":1}`:                                    false,
		`no json`:                                    false,
	} {
		if got := ValueSHA256([]byte(doc)) == base; got != equal {
			t.Errorf("%s: equal %v, want %v", doc, got, equal)
		}
	}
}
