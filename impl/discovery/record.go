package discovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A worker's record is one JSON object in UTF-8, at most 64 KiB:
//
//	{"id":"w0","url":"http://10.0.0.7:8000","models":["llama"],"role":"decode","ranks":4,"incarnation":"18c5…-9f31c0de"}
//
// id, url and models must be there, and all is checked as in Validate; role, ranks
// and incarnation may be left out; names that are not listed here are ignored. No
// session is ever part of it.
//
// Its key is free: readers take the worker from the record. Register uses
// ID/INCARNATION, both escaped as segments of a URL path, so that a worker that was
// killed and one that took its place are two records. Of several records of one id
// the newest counts, which is the one with the greater incarnation: what stands
// before the first "+" is compared first and what follows it second, each by
// length and then by bytes. So counters without leading zeros grow, and so do the
// incarnations that Register makes: the time in Unix nanoseconds as 16
// hexadecimal digits, "-", and 8 random ones, which behind a given incarnation
// follow a "+".
type record struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"`
	Models      []string `json:"models"`
	Role        Role     `json:"role,omitempty"`
	Ranks       int      `json:"ranks,omitempty"`
	Incarnation string   `json:"incarnation,omitempty"`
}

// maxRecord is the longest record, in bytes.
const maxRecord = 64 << 10

// EncodeRecord returns a worker's record, or Validate's error.
func EncodeRecord(w Worker) ([]byte, error) {
	if err := Validate([]Worker{w}); err != nil {
		return nil, err
	}
	data, err := json.Marshal(recordOf(w))
	if err != nil {
		return nil, fmt.Errorf("record of worker %q: %w", w.ID, err)
	}
	if len(data) > maxRecord {
		return nil, fmt.Errorf("record of worker %q %w: it has %d bytes, use at most %d", w.ID, ErrInvalid, len(data), maxRecord)
	}
	return data, nil
}

func recordOf(w Worker) record {
	return record{ID: w.ID, URL: w.URL, Models: w.Models, Role: w.Role, Ranks: w.Ranks, Incarnation: w.Incarnation}
}

// DecodeRecord reads a worker's record. The error says what is wrong with it.
func DecodeRecord(data []byte) (Worker, error) {
	switch {
	case len(data) > maxRecord:
		return Worker{}, fmt.Errorf("has %d bytes, more than %d", len(data), maxRecord)
	case !utf8.Valid(data):
		return Worker{}, fmt.Errorf("is not UTF-8")
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return Worker{}, fmt.Errorf("is not a JSON record: %w", err)
	}
	w := Worker{ID: r.ID, URL: r.URL, Models: r.Models, Role: r.Role, Ranks: r.Ranks, Incarnation: r.Incarnation}
	if err := Validate([]Worker{w}); err != nil {
		return Worker{}, err
	}
	return w, nil
}

// segment makes one segment of a key of any text.
func segment(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// join puts a prefix before a key.
func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "/" + key
}

// compareIncarnations orders the incarnations of one worker.
func compareIncarnations(a, b string) int {
	aFirst, aRest, _ := strings.Cut(a, "+")
	bFirst, bRest, _ := strings.Cut(b, "+")
	return cmp.Or(
		cmp.Compare(len(aFirst), len(bFirst)), strings.Compare(aFirst, bFirst),
		cmp.Compare(len(aRest), len(bRest)), strings.Compare(aRest, bRest),
	)
}

// nextIncarnation makes an incarnation that is newer than those seen, even if this
// host's clock is behind the one that made them. A given one that is not "" comes
// before it.
func nextIncarnation(given string, now time.Time, seen []string) string {
	stamp := uint64(now.UnixNano())
	for _, s := range seen {
		if first, rest, ok := strings.Cut(s, "+"); ok && first == given {
			s = rest
		} else if ok || given != "" {
			continue
		}
		if other, ok := stampOf(s); ok && other >= stamp {
			stamp = other + 1
		}
	}
	made := fmt.Sprintf("%016x-%08x", stamp, rand.Uint32())
	if given != "" {
		return given + "+" + made
	}
	return made
}

// stampOf returns the time in an incarnation that nextIncarnation has made.
func stampOf(made string) (uint64, bool) {
	digits, _, ok := strings.Cut(made, "-")
	if !ok || len(digits) != 16 {
		return 0, false
	}
	stamp, err := strconv.ParseUint(digits, 16, 63) // 63: one more must fit
	return stamp, err == nil
}
