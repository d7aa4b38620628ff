// Package yamlfile reads the YAML files that people hand to the program, manifests and
// expectations, within bounds: whatever a file holds ends soon, as a document or as a
// fault with its place.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file.
const (
	maxSource = 256 << 10 // bytes
	maxTokens = 16 << 10  // words and signs: the parser's time grows with their square
	maxDepth  = 64        // brackets open at once, dashes in a row
)

// Fault is what is wrong with a file, at one place.
type Fault struct {
	Line, Column int // from 1
	Problem      string
	Remedy       string
}

func at(p *token.Position, problem, remedy string) *Fault {
	f := &Fault{Line: 1, Column: 1, Problem: problem, Remedy: remedy}
	if p != nil {
		f.Line, f.Column = max(p.Line, 1), max(p.Column, 1)
	}
	return f
}

// Read reads a file, of one that is too large only so much that Parse says so.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource+1))
}

// Parse parses a file's text. The caller looks at the documents in it.
func Parse(source []byte) (f *ast.File, fault *Fault) {
	if len(source) > maxSource {
		return nil, at(nil, fmt.Sprintf("the file is larger than %d bytes", maxSource), "write less, and keep large texts in files beside it")
	}
	if fault := foreign(source); fault != nil {
		return nil, fault
	}
	defer func() {
		if p := recover(); p != nil { // the parser is not ours
			f, fault = nil, at(nil, fmt.Sprintf("not readable as YAML (%v)", p), "check the syntax")
		}
	}()
	// A byte order mark, which some editors write, is no part of the text.
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))))
	if p := tooDeep(tokens); p != nil {
		return nil, at(p, fmt.Sprintf("is nested more than %d deep", maxDepth), "close brackets, write less")
	}
	if len(tokens) > maxTokens {
		return nil, at(tokens[maxTokens].Position, fmt.Sprintf("the file holds more than %d words and signs", maxTokens), "write less")
	}
	f, err := parser.Parse(tokens, 0)
	var syntax *yaml.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Token != nil:
		return nil, at(syntax.Token.Position, syntax.Message, "correct the YAML")
	case err != nil:
		return nil, at(nil, err.Error(), "correct the YAML")
	}
	return f, nil
}

// foreign finds the first byte that is no UTF-8: it would be printed and rendered raw.
func foreign(source []byte) *Fault {
	if utf8.Valid(source) {
		return nil
	}
	i := 0
	for {
		r, n := utf8.DecodeRune(source[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	before := source[:i]
	return &Fault{
		Line: bytes.Count(before, []byte("\n")) + 1, Column: i - bytes.LastIndexByte(before, '\n'),
		Problem: fmt.Sprintf("byte 0x%02x (number %d of the file) is not UTF-8", source[i], i+1), Remedy: "save the file as UTF-8",
	}
}

// tooDeep finds the place where more than maxDepth brackets are open or dashes
// stand in a row: the parser is recursive, and must not be led too deep. Blocks
// that nest by their indent alone are bounded by maxSource.
func tooDeep(tokens token.Tokens) *token.Position {
	depth, dashes := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceEntryType, token.MappingKeyType:
			if t.Prev == nil || t.Prev.Position.Line != t.Position.Line {
				dashes = 0
			}
			dashes++
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		default:
			dashes = 0
		}
		if depth > maxDepth || dashes > maxDepth {
			return t.Position
		}
	}
	return nil
}
