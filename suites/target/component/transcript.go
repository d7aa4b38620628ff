package component

import (
	"fmt"
	"slices"
	"time"
)

// keepLine is how many bytes of a line a transcript keeps.
const keepLine = 64 << 10

// Line is one line of a conversation.
type Line struct {
	At   time.Duration // since the conversation began
	Sent bool          // by us; else received
	Text string        // without its line feed; of one longer than 64 KiB, the beginning and how long it was
}

func (l Line) String() string {
	arrow := "<"
	if l.Sent {
		arrow = ">"
	}
	return fmt.Sprintf("%12v %s %s", l.At.Round(time.Microsecond), arrow, printable([]byte(l.Text)))
}

// Transcript is every line from the given one on, in both directions, in the order in
// which they were sent and read.
func (c *Client) Transcript(from int) []Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.transcript[from:])
}

// Said is how many lines there are so far.
func (c *Client) Said() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.transcript)
}

// record appends a line and returns its index; the lock is held.
func (c *Client) record(sent bool, line []byte) int {
	text := string(line[:min(len(line), keepLine)])
	if len(line) > keepLine {
		text += fmt.Sprintf(" ... (%d bytes)", len(line))
	}
	c.transcript = append(c.transcript, Line{At: time.Since(c.began), Sent: sent, Text: text})
	return len(c.transcript) - 1
}
