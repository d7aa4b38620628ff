//go:build race

package sessionindex

const raceDetector = true
