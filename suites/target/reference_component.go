package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/routeproof/routeproof/impl/adapter"
	"github.com/routeproof/routeproof/suites/target/component"
)

// ReferenceComponent has the reference's libraries served inside this process, or what
// takes their place, and begins a conversation with them. It needs no real time and no process: it may be
// used in a synctest bubble.
func ReferenceComponent(opt ComponentOptions) *component.Client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		err := adapter.ServeWith(ctx, inR, outW, adapter.Make(opt.Coordinator), adapter.MakeIndex(opt.Index))
		_ = outW.Close() // of the writing end: never fails
		served <- err
	}()
	return component.Open(inW, outR, component.Options{End: func(context.Context) error {
		cancel()
		_ = inR.Close()
		late := time.NewTimer(localGrace)
		defer late.Stop()
		select {
		case err := <-served:
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.ErrClosedPipe) {
				return fmt.Errorf("in-process adapter: %w", err)
			}
			return nil
		case <-late.C:
			return fmt.Errorf("in-process adapter: Serve did not return within %v of its end", localGrace)
		}
	}})
}
