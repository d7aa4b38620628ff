package guard

import (
	"bytes"
	"slices"
	"sync"
)

// keepLog is how many bytes of a target's log are kept.
const keepLog = 256 << 10

// Log keeps the last 256 KiB written to it. The zero value is ready, a nil one is
// empty for ever. Safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	data []byte
}

// Write implements io.Writer. It never fails.
func (b *Log) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	if over := len(b.data) - keepLog; over > keepLog { // cut seldom: amortised O(1) a byte
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
