package filestore

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// fake is notification that says nothing but what a test has it say.
type fake struct {
	events chan fsnotify.Event
	errors chan error
	once   sync.Once
	ended  chan struct{}

	mu   sync.Mutex
	dirs []string
}

func newFake() *fake {
	return &fake{events: make(chan fsnotify.Event), errors: make(chan error), ended: make(chan struct{})}
}

func (f *fake) Add(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirs = append(f.dirs, dir)
	return nil
}

func (f *fake) Events() <-chan fsnotify.Event { return f.events }
func (f *fake) Errors() <-chan error          { return f.errors }

func (f *fake) Close() error {
	f.once.Do(func() { close(f.ended) })
	return nil
}
