package render

import (
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colors are the paper's, which people with any color vision tell apart.
var colors = map[string]color.RGBA{
	"atomic":      {0, 158, 115, 255},
	"naive":       {0, 114, 178, 255},
	"semantic":    {213, 94, 0, 255},
	"naive_light": {135, 174, 214, 255},
	"naive_mid":   {70, 130, 180, 255},
	"naive_dark":  {30, 80, 140, 255},
	"black":       {0, 0, 0, 255},
	"gray":        {110, 110, 110, 255},
}

// Colors lists the names that a series' color may have.
func Colors() []string { return slices.Sorted(maps.Keys(colors)) }

func parseColor(s string) (color.RGBA, error) {
	if c, ok := colors[s]; ok {
		return c, nil
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32); err == nil && len(s) == 7 && s[0] == '#' {
		return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}, nil
	}
	return color.RGBA{}, fmt.Errorf("color %q is not #rrggbb or one of %s", s, strings.Join(Colors(), ", "))
}

var (
	ink   = color.RGBA{33, 33, 33, 255}
	faint = color.RGBA{225, 225, 225, 255}
	edge  = color.RGBA{140, 140, 140, 255}
	fill  = color.RGBA{246, 246, 246, 255}
)

func style(variant string, size float64, bold bool) text.Style {
	s := text.Style{Color: ink, Handler: plot.DefaultTextHandler,
		Font: plotfont.Font{Typeface: "Liberation", Variant: plotfont.Variant(variant), Size: vg.Length(size)}}
	if bold {
		s.Font.Weight = font.WeightBold
	}
	return s
}

// drawn returns a marked-up text as figures write it: small caps as capitals.
func drawn(s string) string {
	return convert(s, func(t string, styles []string) string {
		if slices.Contains(styles, "sc") {
			return strings.ToUpper(t)
		}
		return t
	}, nil, nil)
}

// lineStyle returns how a series' line is drawn; the paper's dotted lines are dense.
func lineStyle(line string, c color.Color) draw.LineStyle {
	s := draw.LineStyle{Color: c, Width: vg.Points(1.3)}
	switch line {
	case "none":
		s.Width = 0
	case "dashed":
		s.Dashes = []vg.Length{5, 3}
	case "dotted":
		s.Dashes = []vg.Length{1.3, 1.7}
	case "dash-dot":
		s.Dashes = []vg.Length{6, 2.5, 1.3, 2.5}
	}
	return s
}

// mark draws a marker, filled or hollow; it is a plot glyph.
type mark struct {
	shape  string
	hollow bool
}

func (m mark) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius
	var p vg.Path
	polygon := func(corners ...vg.Point) {
		for i, k := range corners {
			at := vg.Point{X: pt.X + k.X*r, Y: pt.Y + k.Y*r}
			if i == 0 {
				p.Move(at)
			} else {
				p.Line(at)
			}
		}
	}
	switch m.shape {
	case "square":
		polygon(vg.Point{X: -.88, Y: -.88}, vg.Point{X: .88, Y: -.88}, vg.Point{X: .88, Y: .88}, vg.Point{X: -.88, Y: .88})
	case "triangle":
		polygon(vg.Point{Y: 1.2}, vg.Point{X: 1.1, Y: -.75}, vg.Point{X: -1.1, Y: -.75})
	case "diamond":
		polygon(vg.Point{Y: 1.25}, vg.Point{X: 1.1}, vg.Point{Y: -1.25}, vg.Point{X: -1.1})
	case "circle":
		p = roundRectangle(vg.Rectangle{Min: vg.Point{X: pt.X - r, Y: pt.Y - r}, Max: vg.Point{X: pt.X + r, Y: pt.Y + r}}, r)
	default:
		return
	}
	p.Close()
	c.SetColor(sty.Color)
	if m.hollow {
		c.SetColor(color.White)
	}
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: vg.Points(1.2)})
	c.Stroke(p)
}

// roundRectangle returns a rectangle with round corners, in cubic curves: the PDF library's arcs break a path.
func roundRectangle(r vg.Rectangle, radius vg.Length) (p vg.Path) {
	const kappa = 0.5522847498 // control points of a quarter circle
	k := radius * (1 - kappa)
	at := func(x, y vg.Length) vg.Point { return vg.Point{X: x, Y: y} }
	x0, y0, x1, y1 := r.Min.X, r.Min.Y, r.Max.X, r.Max.Y
	p.Move(at(x0+radius, y0))
	p.Line(at(x1-radius, y0))
	p.CubeTo(at(x1-k, y0), at(x1, y0+k), at(x1, y0+radius))
	p.Line(at(x1, y1-radius))
	p.CubeTo(at(x1, y1-k), at(x1-k, y1), at(x1-radius, y1))
	p.Line(at(x0+radius, y1))
	p.CubeTo(at(x0+k, y1), at(x0, y1-k), at(x0, y1-radius))
	p.Line(at(x0, y0+radius))
	p.CubeTo(at(x0, y0+k), at(x0+k, y0), at(x0+radius, y0))
	p.Close()
	return p
}
