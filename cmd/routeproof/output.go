package main

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// output is standard output. It remembers what went wrong with it: no command need look
// at every line that it prints.
type output struct {
	io.Writer
	mu  sync.Mutex
	err error
}

// Write writes nothing behind a gap.
func (o *output) Write(b []byte) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		n, o.err = o.Writer.Write(b)
	}
	return n, o.err
}

// lost is the first error of writing.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// outlive sees to it that a reader of standard output or error who has gone, such as
// head, costs an error of writing and not the program's life, for the rest of it: a run
// ends its targets and writes its report. What only prints had better die quietly.
// SIGPIPE is caught, not ignored: an ignored signal would stay ignored in the targets.
func outlive() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
