package certify

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
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

// crash matches the line with which the runtime begins to say why it ends the process.
var crash = regexp.MustCompile(`(?m)^(panic: |fatal error: |runtime: |SIG[A-Z]+: |unexpected fault )`)

// crashLines is how much of such a message is shown: the rest is stacks and registers.
const crashLines = 6

// lastWords are what the output says of the process's end: the beginning of a
// crash where there is one, else the last whole lines.
func (l *shardLog) lastWords() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text, err := os.ReadFile(l.file.Name()); err == nil {
		if at := crash.FindIndex(text); at != nil {
			lines := strings.SplitN(string(text[at[0]:]), "\n", crashLines+1)
			return strings.TrimSpace(strings.Join(lines[:min(len(lines), crashLines)], "\n"))
		}
	}
	text := l.last
	if len(text) == maxTail {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
	}
	return string(bytes.TrimSpace(text))
}

func (l *shardLog) close() { _ = l.file.Close() }
