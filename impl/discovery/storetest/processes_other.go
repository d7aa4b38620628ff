//go:build !unix

package storetest

import "testing"

// processes are tests of workers that can be stopped, which needs a Unix system.
var processes map[string]func(*testing.T, Suite)
