package bench

import (
	"bytes"
	"os"
	"strconv"
)

// trackedFile counts, a line for each processor, what became of the packets that Linux
// tracks the connections of. It is not there where nothing is tracked.
const trackedFile = "/proc/net/stat/nf_conntrack"

// droppedPackets is how many packets the kernel has dropped so far because its table of
// tracked connections was full; 0 where it does not say.
func droppedPackets() uint64 {
	text, err := os.ReadFile(trackedFile)
	if err != nil {
		return 0
	}
	return droppedIn(text)
}

// droppedIn sums the column "drop", in hexadecimal, of a text like trackedFile's.
func droppedIn(text []byte) (sum uint64) {
	column := -1
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if column < 0 {
			for i, f := range fields {
				if string(f) == "drop" {
					column = i
				}
			}
			if column < 0 {
				return 0
			}
			continue
		}
		if column < len(fields) {
			n, err := strconv.ParseUint(string(fields[column]), 16, 64)
			if err == nil {
				sum += n
			}
		}
	}
	return sum
}
