// Package adapter serves the reference's libraries over the component protocol: lines
// of JSON in, lines of JSON out (suites/target/component.md). It was written from that
// page alone and shares nothing with whoever asks.
package adapter

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/routeproof/routeproof/impl/affinity"
	"github.com/routeproof/routeproof/impl/sessionindex"
)

// maxLine is the most bytes of a request, its line feed not counted.
const maxLine = 16 << 20

// Serve answers the requests on in until it ends, then lets go of what is still open
// and returns nil. It also returns, with the context's error, when ctx ends, but not
// before a read that is under way has ended: whoever cancels must close in, and close
// the other end of out. Errors of reading and writing are returned; so is a request
// that is longer than 16 MiB, for what follows it cannot be told from it.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return ServeWith(ctx, in, out, nil, nil)
}

// Make makes the table of sessions that an instance speaks for. The one that it makes
// must call the configuration's Waiting as affinity.Table does.
type Make func(affinity.Config, affinity.Clock) (affinity.Coordinator, error)

// MakeIndex makes the session index that an instance speaks for.
type MakeIndex func(sessionindex.Config, sessionindex.Clock, sessionindex.Physical) (sessionindex.Indexer, error)

// ServeWith is Serve with another table of sessions, or another session index, than the
// reference's; nil is the reference's.
func ServeWith(ctx context.Context, in io.Reader, out io.Writer, table Make, index MakeIndex) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newServer(ctx, cancel, out)
	s.table, s.index = table, index
	defer s.shut()
	from := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(from)
		switch {
		case ctx.Err() != nil:
			return s.failed(context.Cause(ctx))
		case errors.Is(err, io.EOF):
			return s.failed(nil)
		case errors.Is(err, errTooLong):
			s.refuse(nil, failf(invalidArgument, "the line has more than %d bytes; send less at a time", maxLine))
			return err
		case err != nil:
			return fmt.Errorf("adapter: read: %w", err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			s.take(line)
		}
	}
}

var errTooLong = errors.New("adapter: a request is longer than 16 MiB")

// readLine returns the next line; a last one without its line feed counts.
func readLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(bytes.TrimSuffix(line, []byte("\n"))) > maxLine:
			return nil, errTooLong
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}
