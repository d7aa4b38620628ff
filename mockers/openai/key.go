package openai

import "strings"

const (
	markerOpen  = "[[rp:"
	markerClose = "]]"
	// MaxKey is the longest join key in bytes that a marker may carry.
	MaxKey = 256
)

// Marker returns the marker that carries a join key in a prompt.
func Marker(key string) string { return markerOpen + key + markerClose }

// FindMarker returns the key of the first well-formed marker in the text, or "".
func FindMarker(text string) string {
	for {
		_, rest, found := strings.Cut(text, markerOpen)
		if !found {
			return ""
		}
		if key, _, closed := strings.Cut(rest, markerClose); closed && key != "" && len(key) <= MaxKey {
			return key
		}
		text = rest
	}
}
