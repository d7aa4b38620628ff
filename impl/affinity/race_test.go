//go:build race

package affinity

const raceDetector = true
