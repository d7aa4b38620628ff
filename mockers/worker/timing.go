package worker

import (
	"fmt"
	"time"

	"github.com/routeproof/routeproof/mockers/openai"
)

// Timing is how fast a worker answers. A stream sends its headers at once, its
// first token after TTFT and another every Interval; an answer without stream
// comes whole when its last token would have.
type Timing struct {
	TTFT     time.Duration // time to first token; 0 for none
	Interval time.Duration // between two tokens; 0 for none
	Tokens   int           // length of an answer that the request does not limit; 0 means DefaultTokens
}

// DefaultTokens is the length of an answer that neither the request nor the
// timing limits.
const DefaultTokens = 8

// Validate says what is wrong with the timing, if anything.
func (t Timing) Validate() error {
	if t.TTFT < 0 || t.Interval < 0 {
		return fmt.Errorf("timing: ttft %s and interval %s must not be negative", t.TTFT, t.Interval)
	}
	if t.Tokens < 0 || t.Tokens > openai.MaxTokens {
		return fmt.Errorf("timing: tokens is %d; use 1 to %d, or 0 for %d", t.Tokens, openai.MaxTokens, DefaultTokens)
	}
	return nil
}

func (t Timing) tokens() int {
	if t.Tokens == 0 {
		return DefaultTokens
	}
	return t.Tokens
}

// whole is when an answer of n tokens is finished.
func (t Timing) whole(n int) time.Duration {
	return t.TTFT + time.Duration(n-1)*t.Interval
}
