package render

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	monoPt    = 6.5
	monoLine  = vg.Length(8.2)
	panelGap  = vg.Length(8)
	panelPad  = vg.Length(5)
	headingPt = vg.Length(16)
)

// panelLines wraps a panel's text to a column's width, at a space in the second half of a line if there is one.
func panelLines(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\t", "    "), "\n") {
		runes := []rune(line)
		for len(runes) > width {
			cut := width
			for i := width; i > width/2; i-- {
				if runes[i] == ' ' {
					cut = i + 1
					break
				}
			}
			out = append(out, strings.TrimRight(string(runes[:cut]), " "))
			runes = runes[cut:]
		}
		out = append(out, string(runes))
	}
	return out
}

// panelLayout returns the wrapped text of all columns and the size that they need.
func (f *Figure) panelLayout() (columns [][]string, width, height vg.Length) {
	n := vg.Length(len(f.Panels))
	width = (vg.Length(f.Width)*vg.Centimeter - panelGap*(n-1)) / n
	advance := style("Mono", monoPt, false).Width("m")
	chars := max(8, int((width-2*panelPad)/advance))
	lines := 0
	for _, p := range f.Panels {
		columns = append(columns, panelLines(p.Text, chars))
		lines = max(lines, len(columns[len(columns)-1]))
	}
	return columns, width, headingPt + 2*panelPad + vg.Length(lines)*monoLine
}

func (f *Figure) drawPanels(c draw.Canvas) {
	columns, width, _ := f.panelLayout()
	heading, mono := style("Sans", normalPt, true), style("Mono", monoPt, false)
	heading.XAlign, heading.YAlign = draw.XCenter, draw.YCenter
	mono.YAlign = draw.YTop
	for i, p := range f.Panels {
		x := c.Min.X + vg.Length(i)*(width+panelGap)
		c.FillText(heading, vg.Point{X: x + width/2, Y: c.Max.Y - headingPt/2}, drawn(p.Heading))
		top := c.Max.Y - headingPt
		box(c, vg.Rectangle{Min: vg.Point{X: x + 0.5, Y: c.Min.Y + 0.5}, Max: vg.Point{X: x + width - 0.5, Y: top}}, 0, fill, edge, 0.6)
		for n, line := range columns[i] {
			if line != "" {
				c.FillText(mono, vg.Point{X: x + panelPad, Y: top - panelPad - vg.Length(n)*monoLine}, line)
			}
		}
	}
}

const (
	stageGap  = vg.Length(13)
	stagePad  = vg.Length(6)
	titleLine = vg.Length(12)
	itemRow   = vg.Length(19)
)

func (s Stage) height() vg.Length {
	h := 2*stagePad + titleLine
	if s.Text != "" {
		h += titleLine
	}
	if len(s.Items) > 0 {
		h += itemRow + 2
	}
	return h
}

func (f *Figure) flowHeight() vg.Length {
	h := -stageGap + 2
	for _, s := range f.Flow {
		h += s.height() + stageGap
	}
	return h
}

func (f *Figure) drawFlow(c draw.Canvas) {
	title, small := style("Sans", normalPt, false), style("Sans", smallPt, false)
	for _, s := range []*draw.TextStyle{&title, &small} {
		s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
	}
	x, y := c.Center().X, c.Max.Y-1
	for i, s := range f.Flow {
		if i > 0 {
			arrow(c, vg.Point{X: x, Y: y}, vg.Point{X: x, Y: y - stageGap})
			y -= stageGap
		}
		h := s.height()
		box(c, vg.Rectangle{Min: vg.Point{X: c.Min.X + 1, Y: y - h}, Max: vg.Point{X: c.Max.X - 1, Y: y}}, 4, color.White, edge, 0.8)
		at := y - stagePad - titleLine/2
		c.FillText(title, vg.Point{X: x, Y: at}, drawn(s.Title))
		if s.Text != "" {
			at -= titleLine
			text := small
			spans, err := parseMarkup(s.Text)
			if err == nil && len(spans) == 1 && len(spans[0].styles) > 0 && spans[0].styles[0] == "tt" {
				text.Font.Variant = "Mono"
			}
			c.FillText(text, vg.Point{X: x, Y: at}, drawn(s.Text))
		}
		if len(s.Items) > 0 {
			s.drawItems(c, x, at-titleLine/2-2-itemRow/2)
		}
		y -= h
	}
}

func (s Stage) drawItems(c draw.Canvas, x, y vg.Length) {
	const gap = vg.Length(3)
	widths, total := make([]vg.Length, len(s.Items)), -gap
	for i, item := range s.Items {
		widths[i] = s.itemStyle(item).Width(printable(item)) + 9
		if s.Round {
			widths[i] = max(widths[i], itemRow-3)
		}
		total += widths[i] + gap
	}
	at := x - total/2
	for i, item := range s.Items {
		text := s.itemStyle(item)
		r := vg.Rectangle{Min: vg.Point{X: at, Y: y - (itemRow-3)/2}, Max: vg.Point{X: at + widths[i], Y: y + (itemRow-3)/2}}
		corner, line, paint := vg.Length(2.5), 0.7, fill
		if s.Round {
			corner = (itemRow - 3) / 2
			paint = color.RGBA{255, 255, 255, 255}
		}
		if item == s.Chosen {
			line, paint = 1.5, color.RGBA{232, 232, 232, 255}
		}
		if item != "…" {
			box(c, r, corner, paint, edge, line)
		}
		c.FillText(text, vg.Point{X: at + widths[i]/2, Y: y}, printable(item))
		at += widths[i] + gap
	}
}

func (s Stage) itemStyle(item string) draw.TextStyle {
	variant := "Mono"
	if s.Round {
		variant = "Sans"
	}
	t := style(variant, smallPt, item == s.Chosen)
	t.XAlign, t.YAlign = draw.XCenter, draw.YCenter
	return t
}

// printable shows SentencePiece's mark of a word's start as it is often set.
func printable(token string) string { return strings.ReplaceAll(token, "▁", "_") }

func box(c draw.Canvas, r vg.Rectangle, corner vg.Length, paint, stroke color.Color, width float64) {
	p := roundRectangle(r, corner)
	c.SetColor(paint)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: stroke, Width: vg.Points(width)})
	c.Stroke(p)
}

func arrow(c draw.Canvas, from, to vg.Point) {
	c.StrokeLine2(draw.LineStyle{Color: edge, Width: vg.Points(1)}, from.X, from.Y, to.X, to.Y+4)
	c.FillPolygon(edge, []vg.Point{to, {X: to.X - 2.8, Y: to.Y + 5}, {X: to.X + 2.8, Y: to.Y + 5}})
}
