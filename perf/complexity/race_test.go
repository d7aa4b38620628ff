//go:build race

package complexity

const raceDetector = true
