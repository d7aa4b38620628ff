package openai

import (
	"encoding/json"
	"fmt"
)

// words are what answers are made of: plain ASCII, so that they need no
// escaping, and their number is a power of two.
var words = [32]string{
	"amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "harbor",
	"inlet", "juniper", "kelp", "lagoon", "meadow", "north", "orchid", "prairie",
	"quartz", "river", "summit", "tundra", "upland", "valley", "willow", "yarrow",
	"zephyr", "birch", "canyon", "dune", "estuary", "fern", "glacier", "heath",
}

// unnamed stands in for the key of a request that carries none.
const unnamed = "nokey"

// mix is the finaliser of SplitMix64: every bit of the result depends on every
// bit of x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// word is the i-th word of the answer, i from 1.
func (q *Request) word(i int) string { return words[mix(q.seed+uint64(i))%uint64(len(words))] }

// ID and created identify an answer. Real servers take them from chance and the
// clock; here equal requests get equal answers from whichever worker.
func (q *Request) ID() string {
	prefix := "cmpl-"
	if q.Endpoint == Chat {
		prefix = "chatcmpl-"
	}
	return fmt.Sprintf("%s%016x", prefix, mix(q.seed))
}

func (q *Request) created() int64 { return 1_700_000_000 + int64(mix(q.seed)%10_000_000) }

// appendText appends token i, from 0, as the inside of a JSON string. Every
// token but the first begins with a blank, so that joined they are a sentence.
func (q *Request) appendText(b []byte, i int) []byte {
	if i > 0 {
		return append(append(b, ' '), q.word(i)...)
	}
	key := q.Key
	if key == "" {
		key = unnamed
	}
	quoted := quote(key)
	return append(b, quoted[1:len(quoted)-1]...)
}

// quote is the JSON string for s; bytes that are not UTF-8 become U+FFFD.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return []byte(`""`)
	}
	return b
}
