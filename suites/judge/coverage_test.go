package judge_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryJudgeIsTried finds judges without a trial: the exported functions
// that return a Judge and that no test of this package calls.
func TestEveryJudgeIsTried(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	judges, tried := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "judge" {
						tried[s.Sel.Name] = true
					}
				}
				return true
			})
			continue
		}
		for _, d := range f.Decls {
			if name := judgeMaker(d); name != "" {
				judges[name] = true
			}
		}
	}
	if len(judges) == 0 {
		t.Fatal("found no judge")
	}
	for name := range judges {
		if !tried[name] {
			t.Errorf("no test of this package calls judge.%s; add trials on good, bad and thin histories", name)
		}
	}
}

// judgeMaker is the name of an exported function that returns a Judge, or "".
func judgeMaker(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
		return ""
	}
	for _, r := range f.Type.Results.List {
		if x, ok := r.Type.(*ast.Ident); ok && x.Name == "Judge" {
			return f.Name.Name
		}
	}
	return ""
}
