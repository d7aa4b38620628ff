//go:build unix

package guard

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
)

// logChunk is how much is read at once, and what a pipe holds as a rule, in bytes.
const logChunk = 64 << 10

// logs carries the target's output from its pipe to a writer.
type logs struct {
	from *os.File
	raw  syscall.RawConn

	mu  sync.Mutex // held from a read to the end of its write
	to  io.Writer
	buf []byte
}

func newLogs(from *os.File, to io.Writer) (*logs, error) {
	raw, err := from.SyscallConn()
	return &logs{from: from, raw: raw, to: to, buf: make([]byte, logChunk)}, err
}

// copy carries everything until the pipe ends, or its read deadline comes.
func (l *logs) copy() {
	for {
		n := 0
		err := l.raw.Read(func(fd uintptr) bool {
			var again bool
			n, again = l.step(fd)
			return !again
		})
		if err != nil || n <= 0 {
			return
		}
	}
}

// drain carries what is in the pipe now. What a process wrote before its end is
// so delivered before its end is told.
func (l *logs) drain() {
	_ = l.raw.Control(func(fd uintptr) {
		for total := 0; total < logChunk; { // others may go on writing
			n, again := l.step(fd)
			if again || n <= 0 {
				return
			}
			total += n
		}
	})
}

// step carries one chunk; again means that there is none yet.
func (l *logs) step(fd uintptr) (n int, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		n, err := syscall.Read(int(fd), l.buf)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return 0, true
		case n > 0:
			_, _ = l.to.Write(l.buf[:n])
		}
		return n, false
	}
}
