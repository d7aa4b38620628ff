package yamlfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFaultsHaveAPlaceAndARemedy(t *testing.T) {
	keys := ""
	for i := range 20_000 {
		keys += fmt.Sprintf("k%d: 1\n", i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"open brackets":            {strings.Repeat("[", 100_000), "1:65: is nested more than 64 deep"},
		"open braces":              {strings.Repeat("{a: ", 50_000), "1:257: is nested more than 64 deep"},
		"dashes":                   {strings.Repeat("- ", 100_000), "1:129: is nested more than 64 deep"},
		"question marks":           {strings.Repeat("? ", 100_000), "is nested more than 64 deep"},
		"brackets closed in words": {strings.Repeat("['}]}', ", 1_000), "1:513: is nested more than 64 deep"},
		"brackets closed in notes": {strings.Repeat("[ #]\n", 1_000), "65:1: is nested more than 64 deep"},
		"too large":                {"#" + strings.Repeat("x", maxSource), "1:1: the file is larger than 262144 bytes; write less"},
		"too many words":           {keys, "5462:6: the file holds more than 16384 words and signs; write less"},
		"a key twice":              {"a: 1\nb: 2\na: 3\n", `3:1: mapping key "a" already defined at [1:1]; correct the YAML`},
		"a tab":                    {"a:\n  b: 1\n\tc: 2\n", "3:1: "},
		"not UTF-8":                {"a: 1\nb: \xfff\n", "2:4: byte 0xff (number 9 of the file) is not UTF-8; save the file as UTF-8"},
		"Latin-1":                  {"\xe9: 1\n", "1:1: byte 0xe9 (number 1 of the file)"},
	} {
		f, fault := Parse([]byte(c.text))
		if f != nil || fault == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if got := fmt.Sprintf("%d:%d: %s; %s", fault.Line, fault.Column, fault.Problem, fault.Remedy); !strings.Contains(got, c.want) {
			t.Errorf("%s: %.300s, want %q", name, got, c.want)
		}
	}
}

func TestWhatIsWellFormedIsParsed(t *testing.T) {
	for name, text := range map[string]string{
		"a byte order mark":        "\xef\xbb\xbfa: 1\n",
		"brackets in a text":       "a: |\n  " + strings.Repeat("[", 200) + "\n",
		"a ruler in a remark":      "# " + strings.Repeat("- ", 200) + "\na: 1\n",
		"a list":                   "a:\n" + strings.Repeat("- x\n", 500),
		"letters beyond ASCII":     "a: ü€𝄞\n",
		"the replacement rune":     "a: \ufffd\n",
		"lists and maps, 64 deep":  strings.Repeat("[", 64) + strings.Repeat("]", 64) + "\n",
		"many lists side by side":  "[" + strings.Repeat("[a], ", 200) + "]\n",
		"dashes of several levels": strings.Repeat("- - - a\n", 100),
	} {
		f, fault := Parse([]byte(text))
		if fault != nil || len(f.Docs) != 1 || f.Docs[0].Body == nil {
			t.Errorf("%s: %+v", name, fault)
		}
	}
	f, _ := Parse([]byte("\xef\xbb\xbfa: 1\n"))
	if got := f.Docs[0].Body.String(); got != "a: 1" {
		t.Errorf("behind a byte order mark: %q", got)
	}
}

func TestALargeFileIsNotReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip(err) // not every file system keeps holes
	}
	text, err := Read(path)
	if err != nil || len(text) != maxSource+1 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if _, fault := Parse(text); fault == nil || !strings.Contains(fault.Problem, "larger than") {
		t.Errorf("%+v", fault)
	}
	if _, err := Read(path + ".none"); err == nil {
		t.Error("a missing file is read")
	}
}

func FuzzParseEndsInADocumentOrAFault(f *testing.F) {
	f.Add("a: &a [*a]\n? - b\n: c\n<<: *a")
	f.Add("a: !!str x\n---\n{? [x] : y}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if doc, fault := Parse([]byte(text)); (doc == nil) == (fault == nil) {
			t.Errorf("%v and %v", doc, fault)
		}
	})
}
