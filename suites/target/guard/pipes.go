//go:build unix

package guard

import (
	"os"
	"runtime"
)

// pipes are the three pipes between us and a guard. All ends are close-on-exec:
// no other child can hold a lifeline open.
type pipes struct {
	controlR, controlW *os.File
	statusR, statusW   *os.File
	logR, logW         *os.File
}

func (p *pipes) open() (err error) {
	for _, ends := range []struct{ r, w **os.File }{
		{&p.controlR, &p.controlW}, {&p.statusR, &p.statusW}, {&p.logR, &p.logW},
	} {
		if *ends.r, *ends.w, err = os.Pipe(); err != nil {
			p.closeTheirs()
			p.closeOurs()
			return err
		}
	}
	return nil
}

func (p *pipes) closeTheirs() { closeAll(p.controlR, p.statusW, p.logW) }
func (p *pipes) closeOurs()   { closeAll(p.controlW, p.statusR, p.logR) }

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
