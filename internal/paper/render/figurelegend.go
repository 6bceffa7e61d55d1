package render

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/redsi/redsi/internal/system/lists"
)

const (
	legendRow    = vg.Length(14)
	legendSample = vg.Length(24)
	legendGap    = vg.Length(14)
)

// legend breaks the entries of the legend into rows that fit a width.
func (f *Figure) legend(width vg.Length) (rows [][]Key) {
	titled := lists.Filter(f.Series, func(s Series) bool { return s.Title != "" && f.Heat == nil })
	left := vg.Length(-1)
	for _, k := range append(lists.Map(titled, Series.key), f.Keys...) {
		if w := k.width(); w > left {
			rows = append(rows, nil)
			left = width
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		left -= k.width()
	}
	return rows
}

// key returns a series' own entry: its marker only if all its points have it.
func (s Series) key() Key {
	k := Key{Title: s.Title, Color: s.Color, Line: s.Line, Marker: "none"}
	if s.Draw != "" {
		k.Line, k.Marker = "none", "square"
		return k
	}
	for i, p := range s.Points {
		if i > 0 && (p.Marker != k.Marker || p.Hollow != k.Hollow) {
			k.Marker, k.Hollow = "none", false
			break
		}
		k.Marker, k.Hollow = p.Marker, p.Hollow
	}
	return k
}

func (k Key) width() vg.Length {
	return k.sample() + 4 + style("Sans", smallPt, false).Width(drawn(k.Title)) + legendGap
}

func (k Key) sample() vg.Length {
	if k.Line == "none" {
		return 2 * markerPt
	}
	return legendSample
}

func drawLegend(c draw.Canvas, row []Key, y vg.Length) {
	total := -legendGap
	for _, k := range row {
		total += k.width()
	}
	x := c.Center().X - total/2
	label := style("Sans", smallPt, false)
	label.YAlign = draw.YCenter
	for _, k := range row {
		rgb, err := parseColor(k.Color)
		if err != nil {
			continue // Finish has refused it
		}
		if k.Line != "none" {
			c.StrokeLine2(lineStyle(k.Line, rgb), x, y, x+k.sample(), y)
		}
		mark{k.Marker, k.Hollow}.DrawGlyph(&c, draw.GlyphStyle{Color: rgb, Radius: vg.Points(markerPt)}, vg.Point{X: x + k.sample()/2, Y: y})
		c.FillText(label, vg.Point{X: x + k.sample() + 4, Y: y + 0.5}, drawn(k.Title))
		x += k.width()
	}
}
