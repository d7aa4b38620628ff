package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes text safe for a terminal and for XML 1.0: secrets are redacted,
// and every byte that is not UTF-8, every control character but newline and
// tab, and every invisible formatting character is written as an escape (\x1b,
// \u202e). What a router sent can so neither drive the reader's terminal nor
// break a parser, and is still seen.
func Visible(s string) string {
	s = Redact(s)
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r):
			if r > 0xffff {
				fmt.Fprintf(&b, `\U%08x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// oneLine is visible text with every run of white space as one blank.
func oneLine(s string) string { return strings.Join(strings.Fields(Visible(s)), " ") }

// cut shortens s to at most n runes, with an ellipsis for what is gone.
func cut(s string, n int) string {
	if n <= 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return strings.TrimRight(string(r[:n-1]), " ") + "…"
}

// wrap breaks text into lines of at most width runes, at blanks where there
// are some. Line breaks in the text stay.
func wrap(s string, width int) []string {
	width = max(width, 8)
	var out []string
	for _, para := range strings.Split(s, "\n") {
		line, used := "", 0
		for _, word := range strings.Fields(para) {
			runes := []rune(word)
			if used > 0 && used+1+len(runes) > width {
				out, line, used = append(out, line), "", 0
			}
			for len(runes) > width {
				out, runes = append(out, string(runes[:width])), runes[width:]
			}
			if used > 0 {
				line, used = line+" ", used+1
			}
			line, used = line+string(runes), used+len(runes)
		}
		out = append(out, line)
	}
	return out
}
