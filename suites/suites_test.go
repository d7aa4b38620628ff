package suites

import "testing"

func TestTheReferenceIsCertified(t *testing.T) { Run(t, nil) }
