package certify

import (
	"bytes"
	"fmt"
	"os"
	"sync"
)

const (
	maxLog  = 4 << 20 // bytes of a shard's output that are kept
	maxTail = 1 << 10 // bytes of its end that a problem shows
)

// shardLog keeps the beginning of a shard's output in a file and its end in
// memory. It takes everything, so that the shard never blocks on it.
type shardLog struct {
	mu      sync.Mutex
	file    *os.File
	written int
	last    []byte
}

func newShardLog(path string) (*shardLog, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("make the shard's log: %w", err)
	}
	return &shardLog{file: f}, nil
}

func (l *shardLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, p[max(0, len(p)-maxTail):]...)
	l.last = l.last[max(0, len(l.last)-maxTail):]
	if room := maxLog - l.written; room > 0 {
		n, _ := l.file.Write(p[:min(len(p), room)]) // a full disk must not stop the run
		l.written += n
		if l.written == maxLog {
			fmt.Fprintf(l.file, "\n(cut at %d MiB)\n", maxLog>>20)
		}
	}
	return len(p), nil
}

// tail is the last whole lines of the output.
func (l *shardLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.last
	if len(text) == maxTail {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
	}
	return string(bytes.TrimSpace(text))
}

func (l *shardLog) close() { _ = l.file.Close() }
