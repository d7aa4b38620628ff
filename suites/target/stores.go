package target

import (
	"cmp"
	"fmt"
	"time"
)

// Kinds of discovery stores, as keys of wiring.stores.
const (
	StoreEtcd = "etcd"
	StoreFile = "file"
)

// Registration says how a worker's record looks in a discovery store that the target
// reads. Its templates read Worker and Incarnation beside the rest.
type Registration struct {
	Key       Template      // etcd: the key; file: the path below the root
	Value     Template      // the record itself
	TTL       time.Duration // how long it outlives the last keep-alive; etcd: whole seconds
	KeepAlive string        // file: KeepAliveTouch or KeepAliveRewrite
}

// Values of wiring.stores.file.keepAlive.
const (
	KeepAliveTouch   = "touch"   // the file's times are set
	KeepAliveRewrite = "rewrite" // the file is rendered anew, by an atomic rename
)

// bounds of wiring.stores.KIND.ttl.
const (
	minStoreTTL = time.Second
	maxStoreTTL = 30 * time.Second
)

// StoreAt is where a target finds its discovery store. The zero value is none.
type StoreAt struct {
	Kind      string   // StoreEtcd or StoreFile
	Endpoints []string // etcd: HOST:PORT of each node
	Root      string   // file: the directory
}

func (m *Manifest) readStores(v value) {
	m.Wiring.Stores = map[string]Registration{}
	o := v.object(StoreEtcd, StoreFile)
	for _, kind := range []string{StoreEtcd, StoreFile} {
		s, ok := o.has(kind)
		if !ok {
			continue
		}
		keys := []string{"key", "value", "ttl"}
		if kind == StoreFile {
			keys = append(keys, "keepAlive")
		}
		e := s.object(keys...)
		r := Registration{KeepAlive: KeepAliveTouch}
		if k, ok := e.need("key", "write key: \"workers/{{.Worker.ID}}\""); ok {
			r.Key = k.template()
		}
		if x, ok := e.need("value", "write the record as the target reads it, with {{.Worker.URL}} in it"); ok {
			r.Value = x.template()
		}
		if t, ok := e.need("ttl", "write ttl: 2s, how long a record outlives its owner"); ok {
			r.TTL = t.duration(minStoreTTL, maxStoreTTL)
			if kind == StoreEtcd && r.TTL%time.Second != 0 {
				t.fail("", "is not a whole number of seconds, which is what etcd knows", "write ttl: 2s")
			}
		}
		if k, ok := e.has("keepAlive"); ok {
			r.KeepAlive = k.word(KeepAliveTouch, KeepAliveRewrite)
		}
		m.Wiring.Stores[kind] = r
	}
	if v.r.err == nil && len(m.Wiring.Stores) == 0 {
		v.fail("", "names no store", "write etcd: {...}, file: {...}, or both")
	}
}

// Record is what stands in a store for a worker that lives so long without its owner;
// ttl 0 is the manifest's.
func (m *Manifest) Record(at StoreAt, w Worker, incarnation string, ttl time.Duration) (key string, value []byte, err error) {
	r, ok := m.Wiring.Stores[at.Kind]
	if !ok {
		return "", nil, fmt.Errorf("%s: wiring.stores has no %s", m.File, at.Kind)
	}
	d := &Data{ManifestDir: m.dir, Host: loopback, Workers: []Worker{w}, Worker: w, Incarnation: incarnation, TTL: cmp.Or(ttl, r.TTL), Store: at, Aliases: m.Aliases}
	if key, err = r.Key.render(d); err != nil {
		return "", nil, err
	}
	if key == "" {
		return "", nil, r.Key.bad(key, "is empty", "write workers/{{.Worker.ID}}")
	}
	text, err := r.Value.render(d)
	return key, []byte(text), err
}

// sampleStore is a made-up store of the right shape.
func sampleStore(kind string) StoreAt {
	if kind == StoreFile {
		return StoreAt{Kind: kind, Root: "/tmp/sample-store"}
	}
	return StoreAt{Kind: kind, Endpoints: []string{"127.0.0.1:2379"}}
}

// rehearseStores makes sure that records of two workers, and of two lives of one, can be
// told apart.
func (m *Manifest) rehearseStores() error {
	for _, kind := range sortedKeys(m.Wiring.Stores) {
		r := m.Wiring.Stores[kind]
		at := sampleStore(kind)
		v, _ := m.resolve("")
		ws := m.sample(v, "", 1).Workers
		k1, v1, err := m.Record(at, ws[0], "1", 0)
		if err != nil {
			return err
		}
		k2, v2, err := m.Record(at, ws[1], "1", 0)
		switch {
		case err != nil:
			return err
		case k1 == k2:
			return r.Key.bad(k1, "is the same for every worker", "write {{.Worker.ID}} into it")
		case string(v1) == string(v2):
			return r.Value.bad(string(v1), "is the same for every worker", "write {{.Worker.URL}} into it")
		}
	}
	return nil
}
