package sessionindex

import "testing"

func newCore(t testing.TB, c Config) *Core {
	t.Helper()
	core, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return core
}

// store stores what must be accepted.
func store(t testing.TB, c *Core, session string, at WorkerRank, parent Parent, blocks ...Hash) (changed bool) {
	t.Helper()
	changed, err := c.Store(0, Store{Session: session, At: at, Parent: parent, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// spent is how many steps f takes.
func spent(c *Core, f func()) uint64 {
	before := c.Steps()
	f()
	return c.Steps() - before
}

// hashes are n hashes that look like an engine's, different for each kind of block.
func hashes(kind, n int) []Hash {
	h := make([]Hash, n)
	for i := range h {
		x := uint64(kind)<<40 + uint64(i) + 1
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		h[i] = Hash(x ^ x>>31)
	}
	return h
}
