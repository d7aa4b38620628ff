// Package spec is the specification: Markdown that people read and the tool
// embeds. Parse turns it into the catalogue of clauses, claims and profiles.
// It holds text only and touches nothing else.
package spec

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"sort"
	"strings"
)

// Version is the specification's own version, apart from the suite's.
const Version = "1.4"

//go:embed *.md
var files embed.FS

// Levels a clause may have.
const (
	Must   = "MUST"
	Should = "SHOULD"
	May    = "MAY"
)

// Clause is one normative sentence with a permanent ID.
type Clause struct {
	ID         string   `json:"id"`
	Level      string   `json:"level"`
	Profile    string   `json:"profile"`
	Claims     []string `json:"claims"` // all must be answered yes, else the clause is declined
	Title      string   `json:"title"`
	Text       string   `json:"text"` // the normative sentences, on one line
	Why        string   `json:"why"`
	Untestable string   `json:"untestable"` // why no case can check it; empty for nearly all
	File       string   `json:"-"`
	Line       int      `json:"-"`
}

// Area is the letters before the dash.
func (c Clause) Area() string { area, _, _ := strings.Cut(c.ID, "-"); return area }

// Entry is a row of the claims or profiles table.
type Entry struct {
	Name  string
	Areas []string // profiles only
	Text  string
}

// Spec is the parsed specification.
type Spec struct {
	Clauses  []Clause // by ID
	Claims   []Entry  // in the document's order
	Profiles []Entry
	SHA256   string // of all files in name order
}

// Clause finds a clause by ID.
func (s *Spec) Clause(id string) (Clause, bool) {
	for _, c := range s.Clauses {
		if c.ID == id {
			return c, true
		}
	}
	return Clause{}, false
}

// ClaimNames lists the known claims.
func (s *Spec) ClaimNames() []string {
	names := make([]string, len(s.Claims))
	for i, c := range s.Claims {
		names[i] = c.Name
	}
	return names
}

// ProfileNames lists the known profiles.
func (s *Spec) ProfileNames() []string {
	names := make([]string, len(s.Profiles))
	for i, p := range s.Profiles {
		names[i] = p.Name
	}
	return names
}

// Load parses the embedded specification.
func Load() (*Spec, error) { return Parse(files) }

var (
	heading = regexp.MustCompile(`^## ([A-Z]{3}-\d{3}) (MUST|SHOULD|MAY) \[([^\]]*)\] (.+)$`)
	row     = regexp.MustCompile(`^\| *([^|]+?) *\| *([^|]+?) *\|(?: *([^|]+?) *\|)?$`)
)

// Parse reads every .md file at the root of fsys. Errors name file and line.
func Parse(fsys fs.FS) (*Spec, error) {
	names, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	s := &Spec{}
	sum := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(sum, "%s\n%s", name, text)
		lines := strings.Split(string(text), "\n")
		switch name {
		case "claims.md":
			s.Claims = table(lines)
		case "profiles.md":
			s.Profiles = table(lines)
			for i, p := range s.Profiles {
				s.Profiles[i].Areas = strings.Fields(p.Areas[0])
			}
		default:
			if err := s.area(name, lines); err != nil {
				return nil, err
			}
		}
	}
	s.SHA256 = hex.EncodeToString(sum.Sum(nil))
	sort.Slice(s.Clauses, func(i, j int) bool { return s.Clauses[i].ID < s.Clauses[j].ID })
	return s, s.check()
}

// table reads the rows below a Markdown table's rule.
func table(lines []string) []Entry {
	var out []Entry
	body := false
	for _, line := range lines {
		if strings.HasPrefix(line, "|---") {
			body = true
			continue
		}
		m := row.FindStringSubmatch(line)
		if !body || m == nil {
			continue
		}
		e := Entry{Name: m[1], Text: m[2]}
		if m[3] != "" {
			e.Areas, e.Text = []string{m[2]}, m[3]
		}
		out = append(out, e)
	}
	return out
}

// area reads one area's clauses: a heading, normative sentences, "Why:" and, rarely, "Untestable:".
func (s *Spec) area(name string, lines []string) error {
	prefix := strings.TrimSuffix(name, ".md") + "-"
	var c *Clause
	var into *string
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "## "):
			m := heading.FindStringSubmatch(line)
			if m == nil {
				return fmt.Errorf("%s:%d: heading %q is not `## ABC-001 MUST [claims] Title`", name, i+1, line)
			}
			if !strings.HasPrefix(m[1], prefix) {
				return fmt.Errorf("%s:%d: clause %s stands in another area's file", name, i+1, m[1])
			}
			s.Clauses = append(s.Clauses, Clause{ID: m[1], Level: m[2], Claims: strings.Fields(m[3]), Title: m[4], File: name, Line: i + 1})
			c = &s.Clauses[len(s.Clauses)-1]
			into = &c.Text
		case c == nil || strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "Why: "):
			into, c.Why = &c.Why, strings.TrimPrefix(line, "Why: ")
		case strings.HasPrefix(line, "Untestable: "):
			into, c.Untestable = &c.Untestable, strings.TrimPrefix(line, "Untestable: ")
		default:
			*into = strings.TrimSpace(*into + " " + strings.TrimSpace(line))
		}
	}
	return nil
}

// check holds the catalogue to its own rules and fills in each clause's profile.
func (s *Spec) check() error {
	claims := map[string]bool{}
	for _, c := range s.Claims {
		if claims[c.Name] {
			return fmt.Errorf("claims.md: claim %s stands twice", c.Name)
		}
		claims[c.Name] = true
	}
	profile := map[string]string{}
	for _, p := range s.Profiles {
		for _, a := range p.Areas {
			if profile[a] != "" {
				return fmt.Errorf("profiles.md: area %s is in profiles %s and %s", a, profile[a], p.Name)
			}
			profile[a] = p.Name
		}
	}
	seen := map[string]bool{}
	for i := range s.Clauses {
		c := &s.Clauses[i]
		at := fmt.Sprintf("%s:%d: clause %s", c.File, c.Line, c.ID)
		if seen[c.ID] {
			return fmt.Errorf("%s stands twice; an ID is given once, for ever", at)
		}
		seen[c.ID] = true
		if c.Text == "" || c.Why == "" {
			return fmt.Errorf("%s needs a normative sentence and a line that begins with `Why: `", at)
		}
		for _, name := range c.Claims {
			if !claims[name] {
				return fmt.Errorf("%s needs claim %s, which claims.md does not list", at, name)
			}
		}
		if c.Profile = profile[c.Area()]; c.Profile == "" {
			return fmt.Errorf("%s is in area %s, which profiles.md gives to no profile", at, c.Area())
		}
	}
	return nil
}
