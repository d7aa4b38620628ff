// Package rules holds the house to its own rules: who may import whom, what a
// judge may touch, how long a file may be. The checks are functions over what
// `go list` and the parser say, so that each can be shown a bad input; the test
// of this package runs them over the module.
package rules

import (
	"fmt"
	"slices"
	"strings"
)

// Package is what the rules need of one entry of `go list -json`.
type Package struct {
	ImportPath   string
	Dir          string
	Imports      []string // direct, of the package itself
	TestImports  []string // direct, of its tests inside the package
	XTestImports []string // direct, of its tests outside the package
	Deps         []string // transitive, of the package itself
}

// all are the direct imports of a package and its tests.
func (p Package) all() []string { return slices.Concat(p.Imports, p.TestImports, p.XTestImports) }

// under says whether an import path is a room of the module or inside it.
func under(module, path, room string) bool {
	rest, ok := strings.CutPrefix(path, module+"/"+room)
	return ok && (rest == "" || rest[0] == '/')
}

// Rooms checks that impl and mockers never import each other, tests included,
// and depend on no package of the module in common: a bug that they shared would
// cancel out. Golden files in fixtures are what both may read, and only tests do.
func Rooms(module string, pkgs []Package) (broken []string) {
	users := map[string]map[string]string{} // package -> room -> a user in that room
	for _, p := range pkgs {
		for room, other := range map[string]string{"impl": "mockers", "mockers": "impl"} {
			if !under(module, p.ImportPath, room) {
				continue
			}
			for _, dep := range slices.Concat(p.Deps, p.all()) {
				if under(module, dep, other) {
					broken = append(broken, fmt.Sprintf("%s imports %s: %s and %s must not know each other", p.ImportPath, dep, room, other))
				}
			}
			for _, dep := range p.Deps {
				if strings.HasPrefix(dep, module+"/") && !under(module, dep, room) && !under(module, dep, other) {
					if users[dep] == nil {
						users[dep] = map[string]string{}
					}
					users[dep][room] = p.ImportPath
				}
			}
		}
	}
	for dep, by := range users {
		if len(by) == 2 {
			broken = append(broken, fmt.Sprintf("%s is shared by %s and %s: a bug in it would hide itself; write it twice", dep, by["impl"], by["mockers"]))
		}
	}
	return tidy(broken)
}

// Reach checks that only the named packages import the reference, tests
// included: everybody else must meet it as he meets any other router.
func Reach(module string, pkgs []Package, allowed ...string) (broken []string) {
	for _, p := range pkgs {
		rel := strings.TrimPrefix(p.ImportPath, module+"/")
		if under(module, p.ImportPath, "impl") || slices.Contains(allowed, rel) {
			continue
		}
		for _, dep := range p.all() {
			if under(module, dep, "impl") {
				broken = append(broken, fmt.Sprintf("%s imports %s: only %s may reach the reference", p.ImportPath, dep, strings.Join(allowed, ", ")))
			}
		}
	}
	return tidy(broken)
}

// Direction checks that the packages of a room import, of the module, nothing but that
// room and the named others. Tests may.
func Direction(module string, pkgs []Package, room string, others ...string) (broken []string) {
	found := false
	for _, p := range pkgs {
		if !under(module, p.ImportPath, room) {
			continue
		}
		found = true
		for _, dep := range p.Imports {
			if strings.HasPrefix(dep, module+"/") && !slices.ContainsFunc(append(others, room), func(r string) bool { return under(module, dep, r) }) {
				broken = append(broken, fmt.Sprintf("%s imports %s: %s may use %s only", p.ImportPath, dep, room, strings.Join(others, ", ")))
			}
		}
	}
	if !found {
		broken = append(broken, fmt.Sprintf("no package in %s; the rule has lost its object", room))
	}
	return tidy(broken)
}

// Pure checks that a package depends on none of the banned ones, directly or
// through others. A banned path covers what lies inside it. Tests may.
func Pure(pkgs []Package, path string, banned ...string) (broken []string) {
	i := slices.IndexFunc(pkgs, func(p Package) bool { return p.ImportPath == path })
	if i < 0 {
		return []string{fmt.Sprintf("no package %s; the rule has lost its object", path)}
	}
	for _, dep := range slices.Concat(pkgs[i].Imports, pkgs[i].Deps) {
		for _, b := range banned {
			if dep == b || strings.HasPrefix(dep, b+"/") {
				broken = append(broken, fmt.Sprintf("%s depends on %s: a judge must be repeatable from evidence on disk", path, dep))
			}
		}
	}
	return tidy(broken)
}

// MaxLines is how long a Go file may be: shorter than this.
const MaxLines = 400

// Short checks the lengths of files, in lines.
func Short(lines map[string]int) (broken []string) {
	for file, n := range lines {
		if n >= MaxLines {
			broken = append(broken, fmt.Sprintf("%s has %d lines, want fewer than %d: it holds more than one idea", file, n, MaxLines))
		}
	}
	return tidy(broken)
}

func tidy(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}
