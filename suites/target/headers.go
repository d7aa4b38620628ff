package target

import (
	"fmt"
	"slices"
	"strings"
)

// headersApart refuses a manifest that gives one header two meanings: what a case sends
// as one would be read as the other.
func (m *Manifest) headersApart() error {
	anyway := []string{"host", "content-length", "content-type", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade",
		"expect", "cookie", "x-request-id"}
	keys := map[string]string{}
	for _, h := range []struct{ key, name string }{
		{"session.carrier.header", m.Session.Carrier.Header}, {"session.query", m.Session.Query}, {"session.tenant", m.Session.Tenant},
		{"pins.worker", m.Pins.Worker}, {"pins.rank", m.Pins.Rank}, {"pins.prefillWorker", m.Pins.PrefillWorker}, {"pins.prefillRank", m.Pins.PrefillRank},
	} {
		if h.name == "" {
			continue
		}
		path, name := strings.Split(h.key, "."), strings.ToLower(h.name)
		if slices.Contains(anyway, name) {
			return m.Fault(path, h.key, h.name, h.name+" is a header that requests have anyway", "name a header of its own")
		}
		if other := keys[name]; other != "" {
			return m.Fault(path, h.key, h.name, fmt.Sprintf("%s is the header of %s, too", h.name, other), "name another header")
		}
		keys[name] = h.key
	}
	return nil
}
