package suites

import (
	"os"
	"testing"

	"github.com/routeproof/routeproof/suites/target"
)

// TestTheTargetIsCertified runs every case on the reference, or on the manifest
// that ROUTEPROOF_TARGET names.
func TestTheTargetIsCertified(t *testing.T) {
	file := os.Getenv("ROUTEPROOF_TARGET")
	if file == "" {
		Run(t, nil)
		return
	}
	cat, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	m, err := target.Load(file, cat.Spec.ClaimNames())
	if err != nil {
		t.Fatal(err)
	}
	Run(t, m)
}
