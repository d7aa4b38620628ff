package bench

import "time"

// Moment is when a client leaves its request.
type Moment struct {
	Name   string
	Plan   Plan // what the worker does meanwhile
	Events int  // the client leaves once it has seen so many
	Stream bool
}

// Moments are those at which clients leave: before headers, in the middle of an answer,
// between events and while events flow.
func Moments() []Moment {
	return []Moment{
		{"before headers", Plan{HoldHeaders: true}, 0, false},
		{"before headers of a stream", Plan{HoldHeaders: true}, 0, true},
		{"in the middle of an answer", Plan{HoldFinish: true}, 0, false},
		{"between events", Plan{Step: true, Events: 50}, 2, true},
		{"while events flow", Plan{Events: 2000, Interval: 10 * time.Millisecond}, 5, true},
	}
}
