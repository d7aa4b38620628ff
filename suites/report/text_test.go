package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecretsAreRedactedHoweverTheyAreWritten(t *testing.T) {
	for in, want := range map[string]string{
		"Authorization: Bearer s3cret\nHost: x":                  "Authorization: [redacted]\nHost: x",
		"cookie:a=s3cret; b=\"s3cret\"\r\nHost: x":               "cookie:[redacted]\r\nHost: x",
		"SET-COOKIE: s3cret":                                     "SET-COOKIE: [redacted]",
		"Proxy-Authorization: Basic s3cret":                      "Proxy-Authorization: [redacted]",
		"x-api-key=s3cret":                                       "x-api-key=[redacted]",
		`{"Authorization":["Bearer s3]cret"],"Host":["x"]}`:      `{"Authorization":[redacted],"Host":["x"]}`,
		"{\"Cookie\": [\n  \"s3cret\"\n], \"Host\": 1}":          `{"Cookie": [redacted], "Host": 1}`,
		`{"authorization": "Bearer \"s3cret", "n": 1}`:           `{"authorization": [redacted], "n": 1}`,
		"map[Authorization:[Bearer s3cret] Host:[x]]":            "map[Authorization:[redacted] Host:[x]]",
		"curl -H 'Authorization: Bearer s3cret' http://x":        "curl -H 'Authorization: [redacted]' http://x",
		`curl -H "Cookie: a=\"s3cret\"; b" http://x`:             `curl -H "Cookie: [redacted]" http://x`,
		"sent bearer abc123s3cret to w1":                         "sent bearer [redacted] to w1",
		"Cookie: s3cret\nCookie: s3cret":                         "Cookie: [redacted]\nCookie: [redacted]",
		"Authorization: [s3cret":                                 "Authorization: [redacted]",
		`Authorization: "s3cret`:                                 "Authorization: [redacted]",
		"Authorization:":                                         "Authorization:[redacted]",
		"the Authorization header was forwarded":                 "the Authorization header was forwarded",
		"bearer authentication is not used":                      "bearer authentication is not used",
		"x-session-id: s-07":                                     "x-session-id: s-07",
		"Authorization: [redacted]":                              "Authorization: [redacted]",
		"no secrets, no change: \xff\x00 bytes are not its task": "no secrets, no change: \xff\x00 bytes are not its task",
	} {
		got := Redact(in)
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
		if again := Redact(got); again != got {
			t.Errorf("%q redacted twice is %q", got, again)
		}
	}
}

func FuzzAHeaderLineNeverLeaksItsValue(f *testing.F) {
	f.Add("Bearer ", " x")
	f.Add("[\"", "\"]")
	f.Add("a='", "'")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.ContainsAny(before, "\r\n[]\"'") { // the other forms end where their bracket or quote does
			return
		}
		if got := Redact("Authorization: " + before + "s3cret99" + after); strings.Contains(got, "s3cret99") && !strings.ContainsAny(after, "\r\n") {
			t.Errorf("leaks in %q", got)
		}
	})
}

func TestWhatCannotBeSeenIsEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":            "plain\ttext\n",
		"\x1b[31mred\x00\r\x7f":    `\x1b[31mred\x00\x0d\x7f`,
		"half a rune \xe2\x82":     `half a rune \xe2\x82`,
		"Grüße 漢字 🙂":               "Grüße 漢字 🙂",
		"\u202ereversed\u200b":     `\u202ereversed\u200b`,
		"no character \ufffe":      `no character \ufffe`,
		"private \U000f0000":       `private \U000f0000`,
		"replacement \ufffd stays": "replacement \ufffd stays",
		"c1 \u0085":                `c1 \u0085`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWrapping(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  []string
	}{
		{"a few short words", 10, []string{"a few", "short", "words"}},
		{"exactly 10 and more", 10, []string{"exactly 10", "and more"}},
		{"line\nbreaks stay", 20, []string{"line", "breaks stay"}},
		{"x abcdefghijklmnop", 8, []string{"x", "abcdefgh", "ijklmnop"}},
		{"ünïcödé wörds", 8, []string{"ünïcödé", "wörds"}},
		{"", 10, []string{""}},
	} {
		if d := cmp.Diff(c.want, wrap(c.in, c.width)); d != "" {
			t.Errorf("%q at %d (-want +got)\n%s", c.in, c.width, d)
		}
	}
	for in, want := range map[string]string{"short": "short", "exactly8": "exactly8", "a longer one": "a longe…", "seven    x": "seven…"} {
		if got := cut(in, 8); got != want {
			t.Errorf("cut %q: %q, want %q", in, got, want)
		}
	}
}
