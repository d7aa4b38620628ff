package guard

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	keepLog  = 256 << 10 // bytes of a target's log that are kept, from its end
	keepHead = 4 << 10   // and from its beginning

	firstLines = 5 // of a log that an excerpt shows
	lastLines  = 15
)

// Log keeps the last 256 KiB written to it, and its first lines. The zero value is
// ready, a nil one is empty for ever. Safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	head []byte // how it began, once that is no more in data
	gone int    // line breaks that were dropped from data
	data []byte
}

// Write implements io.Writer. It never fails.
func (b *Log) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	if over := len(b.data) - keepLog; over > keepLog { // cut seldom: amortised O(1) a byte
		if b.head == nil {
			b.head = slices.Clone(b.data[:keepHead])
		}
		b.gone += bytes.Count(b.data[:over], []byte("\n"))
		b.data = append(b.data[:0], b.data[over:]...)
	}
	return len(p), nil
}

// Bytes are what is kept.
func (b *Log) Bytes() []byte {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.data[max(0, len(b.data)-keepLog):])
}

// Tail is the last n lines, without the final line break.
func (b *Log) Tail(n int) string {
	all := bytes.TrimRight(b.Bytes(), "\n")
	at := len(all)
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(all[:at], '\n')
	}
	return string(all[at+1:])
}

// Excerpt is the whole of a log of up to 20 lines, else its first 5 and last 15 lines
// with a line between them that says how many there are, without the final line break.
func (b *Log) Excerpt() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := bytes.Split(bytes.TrimRight(b.data, "\n"), []byte("\n"))
	all := b.gone + len(lines)
	if all <= firstLines+lastLines {
		return string(bytes.Join(lines, []byte("\n")))
	}
	first := lines
	if b.head != nil {
		first = bytes.Split(b.head, []byte("\n"))
	}
	first = first[:min(len(first), firstLines)]
	last := lines[max(0, len(lines)-lastLines):]
	return fmt.Sprintf("%s\n... %d lines ...\n%s", bytes.Join(first, []byte("\n")), all-len(first)-len(last), bytes.Join(last, []byte("\n")))
}

// Quote is an excerpt as it stands at the end of an error's text, by which package
// report knows it; nothing if there is none.
func Quote(excerpt string) string {
	if excerpt == "" {
		return ""
	}
	return "\nfrom its log:\n  " + strings.ReplaceAll(excerpt, "\n", "\n  ")
}
