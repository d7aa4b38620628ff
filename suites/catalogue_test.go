package suites

import "testing"

func TestTheCatalogueKeepsItsRules(t *testing.T) {
	if _, err := Load(); err != nil {
		t.Fatal(err)
	}
}
