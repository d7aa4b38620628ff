//go:build unix

package guard

import (
	"os"
	"runtime"
)

// pipes are the pipes between us and a guard, and those between us and the target
// that pass through it. All ends are close-on-exec: no other child can hold a
// lifeline open.
type pipes struct {
	controlR, controlW *os.File
	statusR, statusW   *os.File
	logR, logW         *os.File
	stdinR, stdinW     *os.File // nil where the target has no pipes
	stdoutR, stdoutW   *os.File
}

func (p *pipes) open(piped bool) (err error) {
	type ends struct{ r, w **os.File }
	all := []ends{{&p.controlR, &p.controlW}, {&p.statusR, &p.statusW}, {&p.logR, &p.logW}}
	if piped {
		all = append(all, ends{&p.stdinR, &p.stdinW}, ends{&p.stdoutR, &p.stdoutW})
	}
	for _, ends := range all {
		if *ends.r, *ends.w, err = os.Pipe(); err != nil {
			p.closeTheirs()
			p.closeOurs()
			return err
		}
	}
	return nil
}

// inherited are the ends that the guard gets from controlFD on.
func (p *pipes) inherited() []*os.File {
	files := []*os.File{p.controlR, p.statusW}
	if p.stdinR != nil {
		files = append(files, p.stdinR, p.stdoutW)
	}
	return files
}

func (p *pipes) closeTheirs() { closeAll(p.controlR, p.statusW, p.logW, p.stdinR, p.stdoutW) }
func (p *pipes) closeOurs()   { closeAll(p.controlW, p.statusR, p.logR, p.stdinW, p.stdoutR) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// executable is our own program. On Linux it is the running one even if its file
// was replaced or removed meanwhile, as `go run` and `go test` do.
func executable() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
