package report

import (
	"regexp"
	"strings"
)

const redacted = "[redacted]"

// secretName finds a header that carries credentials, up to where its value starts:
// `Authorization: `, `"Cookie": `, `Set-Cookie=`.
var secretName = regexp.MustCompile(`(?i)\b(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key)["']?\s*[:=][ \t]*`)

// bearer finds a token outside of a header.
var bearer = regexp.MustCompile(`(?i)\bbearer[ \t]+[A-Za-z0-9._~+/=-]{8,}`)

// Redact replaces the values of Authorization, Proxy-Authorization, Cookie,
// Set-Cookie and X-Api-Key headers in a text, however they are written there
// (header lines, JSON, Go maps, command lines), and bearer tokens anywhere.
// Where the end of a value is in doubt it takes the rest of the line. All
// writers of this package apply it; raw evidence files keep the values.
func Redact(s string) string {
	var b strings.Builder
	for {
		at := secretName.FindStringIndex(s)
		if at == nil {
			break
		}
		quote := byte(0)
		if at[0] > 0 && (s[at[0]-1] == '\'' || s[at[0]-1] == '"') {
			quote = s[at[0]-1]
		}
		b.WriteString(s[:at[1]])
		b.WriteString(redacted)
		s = s[at[1]+valueLen(s[at[1]:], quote):]
	}
	b.WriteString(s)
	return bearer.ReplaceAllStringFunc(b.String(), func(m string) string {
		if !strings.ContainsAny(m, "0123456789") {
			return m // prose, such as "bearer authentication"
		}
		return m[:len("bearer")] + " " + redacted
	})
}

// valueLen is the length of the value at the start of s. Quote is the quote, if
// any, that the header's name itself stands behind.
func valueLen(s string, quote byte) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '"', '\'':
		return quotedLen(s)
	case '[': // a list of values, as JSON and as Go prints it
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '"':
				i += quotedLen(s[i:]) - 1
			case ']':
				return i + 1
			}
		}
		return len(s)
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\n' || s[i] == '\r' || (quote != 0 && s[i] == quote):
			return i
		case s[i] == '\\' && quote != 0:
			i++
		}
	}
	return len(s)
}

func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}
