package filestore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"strings"
	"time"

	"github.com/routeproof/routeproof/impl/discovery"
)

const (
	maxName   = 255     // bytes: what file systems take
	maxHeader = 512     // bytes of the first line
	maxFile   = 1 << 20 // bytes of a whole file
	maxOwner  = 64      // bytes
)

// envelope is a file's content.
type envelope struct {
	ttl   time.Duration // 0: for ever
	owner string
	value []byte
}

type header struct {
	TTL   int64  `json:"ttl"` // milliseconds
	Owner string `json:"owner"`
	Size  *int   `json:"size"` // bytes of what follows
}

// encode returns the file's content, or an ErrInvalid if it is too large.
func (e envelope) encode() ([]byte, error) {
	size := len(e.value)
	line, err := json.Marshal(header{TTL: e.ttl.Milliseconds(), Owner: e.owner, Size: &size})
	if err != nil {
		return nil, fmt.Errorf("record header: %w", err)
	}
	if len(line)+1+size > maxFile {
		return nil, fmt.Errorf("value of %d bytes %w: a file holds at most %d", size, discovery.ErrInvalid, maxFile)
	}
	return append(append(line, '\n'), e.value...), nil
}

// parse reads a file's content. The error says what is wrong with it.
func parse(data []byte) (envelope, error) {
	line, value, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(line) > maxHeader {
		return envelope{}, errors.New("has no header line")
	}
	var h header
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&h); err != nil {
		return envelope{}, fmt.Errorf("has a bad header line: %w", err)
	}
	switch {
	case d.More():
		return envelope{}, errors.New("has more than a header in its first line")
	case h.Size == nil:
		return envelope{}, errors.New("has no size in its header")
	case *h.Size != len(value):
		return envelope{}, fmt.Errorf("holds %d bytes of %d that its header promises", len(value), *h.Size)
	case len(h.Owner) > maxOwner:
		return envelope{}, fmt.Errorf("has an owner of more than %d bytes", maxOwner)
	case h.TTL < 0 || h.TTL > discovery.MaxTTL.Milliseconds():
		return envelope{}, fmt.Errorf("has a time to live of %d ms, want 0 to %d", h.TTL, discovery.MaxTTL.Milliseconds())
	}
	return envelope{ttl: time.Duration(h.TTL) * time.Millisecond, owner: h.Owner, value: value}, nil
}

// read reads a record's file. A file that is no record, or not whole, is a
// *badFile; other errors are the file system's. The FileInfo is that of the file
// that was read.
func read(path string) (envelope, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0) // nonblock: somebody may have put a pipe there
	if err != nil {
		return envelope{}, nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return envelope{}, nil, err
	}
	if !info.Mode().IsRegular() {
		return envelope{}, info, &badFile{problem: "is no regular file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return envelope{}, info, err
	}
	if len(data) > maxFile {
		err = fmt.Errorf("has more than %d bytes", maxFile)
	}
	var e envelope
	if err == nil {
		e, err = parse(data)
	}
	if err != nil {
		return envelope{}, info, &badFile{err.Error(), maphash.Bytes(seed, data)}
	}
	return e, info, nil
}

var seed = maphash.MakeSeed()

// badFile is a file that can be read and is no record.
type badFile struct {
	problem string
	hash    uint64 // of what it holds
}

func (e *badFile) Error() string { return e.problem }

const upperHex = "0123456789ABCDEF"

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// nameOf returns the file name of a key, or an ErrInvalid.
func nameOf(key string) (string, error) {
	if err := discovery.CheckKey(key); err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	if b.Len() > maxName {
		return "", fmt.Errorf("key %.80q %w: its file name would have %d bytes, more than %d; shorten it", key, discovery.ErrInvalid, b.Len(), maxName)
	}
	return b.String(), nil
}

// keyOf returns the key of a file name, or an error if no key has that name.
func keyOf(name string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if plain(c) {
			b.WriteByte(c)
			continue
		}
		if c != '%' || i+2 >= len(name) {
			return "", errors.New("has a name that is no escaped key")
		}
		high, low := strings.IndexByte(upperHex, name[i+1]), strings.IndexByte(upperHex, name[i+2])
		if high < 0 || low < 0 || plain(byte(high<<4|low)) {
			return "", errors.New("has a name that escapes what need not be, or wrongly")
		}
		b.WriteByte(byte(high<<4 | low))
		i += 2
	}
	return b.String(), discovery.CheckKey(b.String())
}
