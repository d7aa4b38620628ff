package router

import (
	"net/http"
	"net/textproto"
	"strings"
)

const (
	claudeAgent   = "X-Claude-Code-Agent-Id"
	claudeSession = "X-Claude-Code-Session-Id"
)

// DefaultSessionHeaders lists the headers that may carry a session id, in order
// of precedence.
func DefaultSessionHeaders() []string {
	return []string{
		"X-Dynamo-Session-ID",
		claudeAgent, // a sub-agent is a session of its own
		claudeSession,
		"thread-id",
		"session-id",
		"x-session-id",
	}
}

// headerSessions holds canonical header names.
type headerSessions []string

// HeaderSessions finds session ids in the given headers: the first that holds a
// usable id wins. Names are case-insensitive. Blanks around an id do not count,
// everything else does. Of a repeated header the first value counts. An id that
// is blank or holds anything but printable ASCII counts as absent.
// X-Claude-Code-Agent-Id counts only beside a usable X-Claude-Code-Session-Id.
func HeaderSessions(names []string) Sessions {
	hs := make(headerSessions, len(names))
	for i, n := range names {
		hs[i] = textproto.CanonicalMIMEHeaderKey(n)
	}
	return hs
}

// Session implements Sessions.
func (hs headerSessions) Session(r *http.Request) string {
	for _, name := range hs {
		id := usable(r.Header[name])
		if id == "" || name == claudeAgent && usable(r.Header[claudeSession]) == "" {
			continue
		}
		return id
	}
	return ""
}

func usable(values []string) string {
	if len(values) == 0 {
		return ""
	}
	id := strings.Trim(values[0], " \t")
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return ""
		}
	}
	return id
}

func validHeaderName(name string) bool {
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return name != ""
}
