package timeline

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/routeproof/routeproof/suites/history"
)

// maxEvidence is how large a history may be, unpacked, so that no file fills memory.
const maxEvidence = 1 << 30

// Read reads the evidence that a run kept of a case. Its errors name the file, what
// is wrong with it and what to do.
func Read(path string) (*history.History, error) {
	const remedy = "name a .json.gz file from the folder evidence beside a report.json"
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w; %s", err, remedy)
	}
	defer f.Close()
	if s, err := f.Stat(); err == nil && s.IsDir() {
		return nil, fmt.Errorf("evidence: %s is a folder; %s", path, remedy)
	}
	if strings.HasSuffix(path, ".jsonl") {
		return nil, fmt.Errorf("evidence: %s is a conversation to be held again; use `routeproof adapter check --conversation %s ADAPTER`, or %s", path, path, remedy)
	}
	in, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("evidence: %s is not packed with gzip (%v); %s", path, err, remedy)
	}
	text := &io.LimitedReader{R: in, N: maxEvidence}
	h := new(history.History)
	switch err := json.NewDecoder(text).Decode(h); {
	case text.N == 0:
		return nil, fmt.Errorf("evidence: %s holds more than %d bytes; %s", path, maxEvidence, remedy)
	case err != nil:
		return nil, fmt.Errorf("evidence: %s holds no whole history (%v); %s", path, unexpected(err), remedy)
	case h.Case == "":
		return nil, fmt.Errorf("evidence: %s is JSON, but no history of a case; %s", path, remedy)
	}
	return h, nil
}

// unexpected names an end that came too early for what it is.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}
