package target

import (
	"context"

	"github.com/routeproof/routeproof/suites/target/guard"
)

// external is a target that somebody else runs.
type external struct{ url string }

// startExternal checks once that the endpoint takes connections.
func startExternal(ctx context.Context, m *Manifest) (holder, error) {
	base := trimURL(m.Endpoint.text)
	if err := answers(ctx, base+"/v1/models"); err != nil {
		return nil, &UnreachableError{Reason: "nothing answers at " + base + ": " + err.Error() + "; start the target first, or correct endpoint.openai"}
	}
	return &external{url: base}, nil
}

func (e *external) baseURL() string                       { return e.url }
func (e *external) pid() int                              { return 0 }
func (e *external) lost() bool                            { return false }
func (e *external) apply(context.Context, []Worker) error { return ErrNoApply }
func (e *external) exited() <-chan struct{}               { return nil }
func (e *external) how() string                           { return "" }
func (e *external) logs() *guard.Log                      { return nil }
func (e *external) end(context.Context) error             { return nil }
