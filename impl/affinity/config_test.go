package affinity

import (
	"strings"
	"testing"
	"time"
)

func TestSettingsOutOfRangeAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "idleTTL 0s"},
		{Config{IdleTTL: time.Second - 1}, "idleTTL 999.999999ms"},
		{Config{IdleTTL: MaxIdleTTL + 1}, "idleTTL"},
		{Config{IdleTTL: -time.Second}, "idleTTL -1s"},
		{Config{IdleTTL: ttl, Capacity: -1}, "capacity -1"},
		{Config{IdleTTL: ttl, InitWait: -1}, "initWait -1ns"},
	} {
		if _, err := New(c.cfg, SystemClock{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v) = %v, want an error with %q", c.cfg, err, c.want)
		}
	}
	for _, ok := range []time.Duration{MinIdleTTL, MaxIdleTTL} {
		if _, err := New(Config{IdleTTL: ok}, SystemClock{}); err != nil {
			t.Errorf("New with idleTTL %v: %v", ok, err)
		}
	}
}
