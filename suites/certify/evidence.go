package certify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/routeproof/routeproof/suites/report"
)

// maxLost is how many files lost names; of the others it gives the number.
const maxLost = 10

// lost is a problem for each file of evidence that is not, at the end of the run, in
// dir as its case left it: a report must not point at what nobody can read.
func lost(cases []report.CaseResult, dir string) (problems []report.Problem) {
	more := 0
	for i := range cases {
		for _, e := range cases[i].Evidence {
			err := intact(filepath.Join(dir, filepath.FromSlash(e.File)), e.SHA256)
			switch {
			case err == nil:
			case len(problems) == maxLost:
				more++
			default:
				problems = append(problems, report.Problem{Kind: report.ProblemHarness, Subject: e.File,
					Text: fmt.Sprintf("the evidence of case %s %v; leave the report's folder alone while a run lasts, and run again", cases[i].Name(), err)})
			}
		}
	}
	if more > 0 {
		problems = append(problems, report.Problem{Kind: report.ProblemHarness, Subject: evidenceDir,
			Text: fmt.Sprintf("%d more files of evidence are gone or were changed", more)})
	}
	return problems
}

// intact says what became of a file since it was written.
func intact(path, sum string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("is gone")
	case err != nil:
		return fmt.Errorf("cannot be looked at (%w)", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("was replaced by what is no file (%v)", info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot be read (%w)", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("cannot be read (%w)", err)
	}
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return errors.New("was changed after it was written")
	}
	return nil
}
