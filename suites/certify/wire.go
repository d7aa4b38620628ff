package certify

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/routeproof/routeproof/suites"
	"github.com/routeproof/routeproof/suites/report"
)

// assignment is the one line that a shard reads from its standard input, which
// then stays open: its end says that the shard must stop.
type assignment struct {
	Shard    int          `json:"shard"` // from 1
	File     string       `json:"file"`  // the manifest's name, for messages
	Manifest string       `json:"manifest"`
	Jobs     []suites.Job `json:"jobs"`
	Seed     uint64       `json:"seed,string"`
	Natural  bool         `json:"natural"` // see suites.Config
	Evidence string       `json:"evidence"`
}

// event is one line that a shard writes. Exactly one field is set.
type event struct {
	Started  string             `json:"started,omitempty"` // a job's name
	Finished *report.CaseResult `json:"finished,omitempty"`
	Problem  *report.Problem    `json:"problem,omitempty"`
	Done     bool               `json:"done,omitempty"` // the last event of a shard that ends well
}

// sender writes events. It is safe for concurrent use.
type sender struct {
	mu   sync.Mutex
	enc  *json.Encoder
	lost func() // called when nobody reads any more
}

func newSender(w io.Writer, lost func()) *sender { return &sender{enc: json.NewEncoder(w), lost: lost} }

func (s *sender) send(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.enc.Encode(e); err != nil {
		s.lost()
	}
}
