package adapter

import (
	"slices"
	"testing"
	"time"
)

func TestTimersRunInTheirOrderAndAtTheirTime(t *testing.T) {
	c := newClock()
	began := c.Now()
	var ran []time.Duration
	at := func(d time.Duration) (stop func() bool) {
		return c.AfterFunc(d, func() {
			if c.Now().Sub(began) != d {
				t.Errorf("what was due after %v ran after %v", d, c.Now().Sub(began))
			}
			ran = append(ran, d)
		})
	}
	at(3)
	at(1)
	stop := at(2)
	last := at(5)
	at(4)
	if !stop() || stop() {
		t.Error("a timer is stopped once, in time")
	}
	c.AfterFunc(1, func() { c.AfterFunc(1, func() { ran = append(ran, c.Now().Sub(began)) }) }) // set on the way
	c.advance(0)
	if ran != nil {
		t.Errorf("ran %v too early", ran)
	}
	c.advance(4)
	if want := []time.Duration{1, 2, 3, 4}; !slices.Equal(ran, want) || c.Now().Sub(began) != 4 {
		t.Errorf("after 4 ns ran %v, want %v", ran, want)
	}
	c.advance(1)
	if last() || ran[len(ran)-1] != 5 {
		t.Errorf("a deadline that equals now has passed: %v", ran)
	}
}
