package target

import (
	"bytes"
	"slices"
	"sync"
)

const (
	keepLog   = 256 << 10 // bytes of a target's log that are kept
	tailLines = 20        // lines of it that an error shows
)

// logBuffer keeps the last keepLog bytes written. Safe for concurrent use.
type logBuffer struct {
	mu   sync.Mutex
	data []byte
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	if over := len(b.data) - keepLog; over > keepLog { // cut seldom: amortised O(1) a byte
		b.data = append(b.data[:0], b.data[over:]...)
	}
	return len(p), nil
}

func (b *logBuffer) bytes() []byte {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.data[max(0, len(b.data)-keepLog):])
}

// tail is the last n lines, without the final line break.
func (b *logBuffer) tail(n int) string {
	all := bytes.TrimRight(b.bytes(), "\n")
	at := len(all)
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(all[:at], '\n')
	}
	return string(all[at+1:])
}
