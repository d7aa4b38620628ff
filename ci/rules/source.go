package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
)

// Uses finds where a source file refers to any of the names of a package, by
// whatever name it imports it, and refuses a dot import of it, behind which no
// use could be seen. The error is the parser's.
func Uses(file string, src []byte, pkg string, names ...string) (broken []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	local := ""
	for _, i := range f.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err != nil || p != pkg {
			continue
		}
		local = base(pkg)
		if i.Name != nil {
			local = i.Name.Name
		}
		if local == "." {
			return []string{fmt.Sprintf("%s imports %s with a dot; name it", fset.Position(i.Pos()), pkg)}, nil
		}
	}
	if local == "" {
		return nil, nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == local && slices.Contains(names, s.Sel.Name) {
			broken = append(broken, fmt.Sprintf("%s uses %s.%s", fset.Position(s.Pos()), base(pkg), s.Sel.Name))
		}
		return true
	})
	return tidy(broken), nil
}

// base is the name that a package path is imported by: its last element, or the
// one before a major version.
func base(pkg string) string {
	b := path.Base(pkg)
	if len(b) > 1 && b[0] == 'v' && b[1] >= '0' && b[1] <= '9' {
		return path.Base(path.Dir(pkg))
	}
	return b
}
