package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// series is one line of a plot; its values are positive.
type series struct {
	x, y  []float64
	color color.Color
	dots  []xy // single samples behind the line
}

type xy struct{ x, y float64 }

var (
	blue = color.RGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}
	gray = color.RGBA{R: 0x9a, G: 0x9a, B: 0x9a, A: 0xff}
)

// twos are ticks at powers of two, of which values are the logarithms.
type twos struct{}

// Ticks implements plot.Ticker.
func (twos) Ticks(lo, hi float64) (all []plot.Tick) {
	step := max(1, math.Ceil((hi-lo)/8))
	for e := math.Ceil(lo); e <= hi; e++ {
		t := plot.Tick{Value: e}
		if math.Mod(e, step) == 0 {
			t.Label = power(e)
		}
		all = append(all, t)
	}
	return all
}

func power(e float64) string {
	if e >= -4 && e <= 13 {
		return fmt.Sprintf("%.4g", math.Exp2(e))
	}
	return fmt.Sprintf("2^%.0f", e)
}

// drawing draws lines on doubly logarithmic axes, as an SVG element.
func drawing(title, x, y string, lines ...series) (string, error) {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	plotter.DefaultFont = plot.DefaultFont
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding, p.X.Padding, p.Y.Padding = vg.Points(4), vg.Points(4), vg.Points(4)
	p.X.Tick.Marker, p.Y.Tick.Marker = twos{}, twos{}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe4}, color.Gray{0xe4}
	p.Add(grid)
	for _, l := range lines {
		dots := make(plotter.XYs, len(l.dots))
		for i, d := range l.dots {
			dots[i] = plotter.XY{X: math.Log2(d.x), Y: math.Log2(d.y)}
		}
		points := make(plotter.XYs, len(l.x))
		for i := range l.x {
			points[i] = plotter.XY{X: math.Log2(l.x[i]), Y: math.Log2(l.y[i])}
		}
		if len(dots) > 0 {
			s, err := plotter.NewScatter(dots)
			if err != nil {
				return "", err
			}
			s.GlyphStyle = draw.GlyphStyle{Color: color.RGBA{R: 0xa4, G: 0xbc, B: 0xda, A: 0xff}, Radius: vg.Points(1.2), Shape: draw.CircleGlyph{}}
			p.Add(s)
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return "", err
		}
		line.Color, line.Width = l.color, vg.Points(1.2)
		marks.GlyphStyle = draw.GlyphStyle{Color: l.color, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}
		p.Add(line, marks)
	}
	// A flat line is to look flat: at least four doublings high.
	if mid := (p.Y.Min + p.Y.Max) / 2; p.Y.Max-p.Y.Min < 4 {
		p.Y.Min, p.Y.Max = mid-2, mid+2
	}
	c := vgsvg.New(vg.Points(300), vg.Points(200))
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	text := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;", "font-family:Liberation Sans,sans-serif;")
	return text[strings.Index(text, "<svg"):], nil // inline it has no XML head
}
