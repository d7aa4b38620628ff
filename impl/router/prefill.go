package router

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/routeproof/routeproof/impl/fleet"
)

// maxHandoff bounds a prefill worker's answer, in bytes.
const maxHandoff = 16 << 20

// runPrefill runs the prefill phase and leaves in x.handed what the decode worker
// is to get. answered says that the client has got the prefill worker's own
// answer, which was no success.
//
// What a hand-off describes can be fetched once. So a decode worker that fails
// may have used it up, and the next one needs another: prefill runs again, where
// the session's binding or the prompt's prefix makes it cheap. Over all of its
// runs the phase has as many attempts as any other.
func (x *exchange) runPrefill(decode *fleet.Ticket) (answered bool, err error) {
	if x.prefill.attempts >= x.r.cfg.MaxAttempts {
		return false, errNoWorker
	}
	handoff := x.r.parts.Prefill.Handoff
	ask, err := handoff.Prefill(x.body)
	if err != nil {
		return false, errorf(InvalidArgument, "%v", err)
	}
	if x.requestID == "" && usable(x.req.Header["X-Request-Id"]) == "" {
		x.requestID = rand.Text()
	}
	use := func(t *fleet.Ticket, resp *http.Response) error {
		if resp.StatusCode/100 != 2 {
			answered = true
			decode.Release() // it will get nothing, and nobody need wait for the body of a failure
			x.serve.release()
			return x.prefill.relay(t, resp)
		}
		answer, err := io.ReadAll(io.LimitReader(resp.Body, maxHandoff+1))
		switch {
		case errors.Is(err, errHeaderTimeout):
			return errorf(HeaderTimeout, "prefill worker %s did not end its answer within %v", t.ID(), x.r.cfg.HeaderTimeout)
		case err == nil && len(answer) > maxHandoff:
			err = fmt.Errorf("it is larger than %d bytes", maxHandoff)
		case err == nil:
			x.handed, err = handoff.Decode(x.body, answer)
		}
		if err != nil {
			return errorf(HandoffFailed, "the answer of prefill worker %s is of no use: %v", t.ID(), err)
		}
		return nil
	}
	defer x.prefill.release()
	var last error
	for {
		t, err := x.prefill.place()
		if err != nil {
			switch {
			case !errors.Is(err, errNoWorker):
			case last != nil:
				err = last
			case len(x.prefill.failed) == 0: // they have just left
				x.handed, err = x.body, nil
			}
			return false, err
		}
		again, err := x.prefill.attempt(t, ask, use)
		if !again {
			return answered, err
		}
		last = err
	}
}
