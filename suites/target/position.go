package target

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/routeproof/routeproof/suites/yamlfile"
)

// At is where the manifest holds the value at a path of keys, or where its
// nearest present ancestor stands: what an error about it points at. Line and
// column count from 1.
func (m *Manifest) At(path ...string) (line, column int) {
	line, column = 1, 1
	f, fault := yamlfile.Parse(m.source)
	if fault != nil || len(f.Docs) == 0 {
		return line, column // it was parsed before, so this does not happen
	}
	node := f.Docs[0].Body
	for _, key := range path {
		mapping, ok := node.(ast.MapNode)
		if !ok {
			return line, column
		}
		node = nil
		for it := mapping.MapRange(); it.Next(); {
			if k := it.Key().GetToken(); k != nil && k.Value == key {
				line, column, node = k.Position.Line, k.Position.Column, it.Value()
				break
			}
		}
	}
	return line, column
}

// Fault is an error about the value at a path of the manifest.
func (m *Manifest) Fault(path []string, key, value, problem, remedy string) *ManifestError {
	line, column := m.At(path...)
	return &ManifestError{File: m.File, Line: line, Column: column, Key: key, Value: value, Problem: problem, Remedy: remedy}
}
