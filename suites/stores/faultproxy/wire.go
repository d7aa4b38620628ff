package faultproxy

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"
)

// wire is what bytes meet on their way, each way alike. The zero value lets them pass.
type wire struct {
	mu     sync.Mutex
	delay  time.Duration
	losing chan struct{} // closed when nothing is lost any more; nil: nothing is
}

// setDelay holds back what arrives from now on.
func (w *wire) setDelay(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = d
}

// lose loses everything until heal.
func (w *wire) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.losing == nil {
		w.losing = make(chan struct{})
	}
}

// heal ends both, and says whether anything may have been lost.
func (w *wire) heal() (lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = 0
	if w.losing == nil {
		return false
	}
	close(w.losing)
	w.losing = nil
	return true
}

// due is when what arrives now is to go on.
func (w *wire) due() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.delay)
}

// lost is nil, or what is closed when nothing is lost any more.
func (w *wire) lost() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.losing
}

// chunk is what one read brought.
type chunk struct {
	bytes []byte
	due   time.Time
}

const (
	chunkSize = 32 << 10
	// held is how many chunks may wait for their time: at most two megabytes each way of a
	// connection. More is not read until they are gone.
	held = 64
)

// errHole ends a connection that lost bytes: what follows would be taken for what is missing.
var errHole = errors.New("bytes were lost here")

// pass copies until src ends or dst takes nothing more, and returns why: nil for the
// orderly end of src. Its reader is one of readers and ends once src is closed. While
// bytes are lost so is the end of src: pass returns after that, or with ctx.
func (w *wire) pass(ctx context.Context, dst io.Writer, src io.Reader, readers *sync.WaitGroup) error {
	chunks, over := make(chan chunk, held), make(chan struct{})
	defer close(over)
	var end error // of src; read after chunks is closed
	readers.Go(func() {
		defer close(chunks)
		for buf := make([]byte, chunkSize); ; {
			n, err := src.Read(buf)
			if n > 0 {
				select {
				case chunks <- chunk{slices.Clone(buf[:n]), w.due()}:
				case <-over:
					return
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					end = err
				}
				return
			}
		}
	})
	hole := false
	for c := range chunks {
		if err := until(ctx, c.due); err != nil {
			return err
		}
		if w.lost() != nil {
			hole = true
			continue
		}
		if hole {
			return errHole
		}
		if _, err := dst.Write(c.bytes); err != nil {
			return err
		}
	}
	if healed := w.lost(); healed != nil {
		select {
		case <-healed:
			hole = true
		case <-ctx.Done():
		}
	}
	if hole {
		return errHole
	}
	return end
}

// until waits for a time.
func until(ctx context.Context, due time.Time) error {
	d := time.Until(due)
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
