package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/routeproof/routeproof/perf/compare"
	"github.com/routeproof/routeproof/perf/record"
	"github.com/routeproof/routeproof/perf/stats"
)

func measured() *record.File {
	steps, lo, hi := int64(96), -0.02, 0.01
	l := record.Ladder{Name: "k/new", Symbol: "k"}
	for round := range 3 {
		for _, n := range []int{16, 32, 64, 128, 256} {
			l.Samples = append(l.Samples, record.Sample{Round: round, N: n, Ops: 8, NS: int64(n * 1000), Control: int64(n * 500), Steps: &steps})
		}
	}
	l.Judged = &record.Judged{Verdict: record.Pass, Class: "O(k)",
		Steps: &record.Figure{Verdict: record.Pass, Exponent: 1, Limit: 1.01},
		Time:  &record.Figure{Verdict: record.Pass, Lo: &lo, Hi: &hi, Limit: 0.1, Rounds: 8}, Notes: []string{"a <note>"}}
	return &record.File{Suite: "short", Seed: 7, Began: time.Unix(0, 0).UTC(), Complete: true,
		Target:  record.Target{Project: "<script>", Version: "1", Adapter: "a 1"},
		Ladders: []record.Ladder{l, {Name: "w/remove", Symbol: "w", Declined: "the adapter does not claim lifecycle"}}}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	if err := Table(&b, measured()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"k/new     O(k)", "1.00 <= 1.01", "0.00 [-0.02, 0.01] <= 0.10", "pass", "declined: the adapter does not claim lifecycle", "note: a <note>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	f := measured()
	f.Ladders[0].Judged = nil
	b.Reset()
	if err := Table(&b, f); err != nil || !strings.Contains(b.String(), "k/new k=16") {
		t.Errorf("error %v; speed:\n%s", err, b.String())
	}
}

func TestComparisonSaysWhyALadderHasNoFigures(t *testing.T) {
	bare := func(name, gap, class string) compare.Row {
		return compare.Row{Ladder: name, Gap: gap, Class: class, Comparison: stats.Comparison{Change: stats.Unpaired}}
	}
	same := compare.Row{Ladder: "short", Gap: "lacks a size", Comparison: stats.Comparison{Change: stats.Same, Factor: 1}}
	var b strings.Builder
	if err := Comparison(&b, compare.Result{Rows: []compare.Row{bare("gone", "is missing", ""), bare("new", "", ""), bare("lost", "", "it was O(k)"), same}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`gone +is missing\n`, `new +not in the old one\n`, `lost +REGRESSION: it was O\(k\)\n`, `short .*same, but lacks a size\n`} {
		if !regexp.MustCompile(want).MatchString(b.String()) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestHTMLIsOneFileOfGoodTags(t *testing.T) {
	var a, b bytes.Buffer
	if err := errors.Join(HTML(&a, measured()), HTML(&b, measured())); err != nil {
		t.Fatal(err)
	}
	text := a.String()
	if text != b.String() {
		t.Error("the same measurement gives two different pages")
	}
	if n := strings.Count(text, "<svg"); n != 3 {
		t.Errorf("%d plots, want 3", n)
	}
	for _, bad := range []string{"<script", "href=\"http", "src=", "@import"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(text, "&lt;script&gt;") || !strings.Contains(text, `<td class="pass">pass</td>`) {
		t.Error("the page lacks the project or the verdict")
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestBenchmarksAreReadByBenchstat(t *testing.T) {
	var b bytes.Buffer
	if err := Benchmarks(&b, measured()); err != nil {
		t.Fatal(err)
	}
	r, n := benchfmt.NewReader(&b, "x"), 0
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v", r.Result())
		}
		n++
		if ratio, _ := res.Value("time/map"); ratio != 2 || res.GetConfig("target") != "<script> 1" {
			t.Errorf("%s: ratio %v, target %q", res.Name, ratio, res.GetConfig("target"))
		}
		if steps, ok := res.Value("steps/op"); !ok || steps != 12 {
			t.Errorf("%s: %v steps", res.Name, steps)
		}
	}
	if n != 10 { // the first round warms up
		t.Errorf("%d lines, want 10", n)
	}
}
