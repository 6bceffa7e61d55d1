package report

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
)

// drawPaper draws the paper's points of a figure: among the rebuilt ones if numbers are compared; at another scale, with
// different axes, or for a heat map, in a picture of their own.
func (it *Item) drawPaper() error {
	ofPaper := lists.Filter(it.Checks, func(c render.Check) bool { return c.Scale == "" })
	checks := lists.By(ofPaper, func(c render.Check) string { return c.Cell })
	among := !it.Other && it.Figure.Heat == nil
	f := *it.Figure
	if !among {
		f.Series = nil
		f.X, f.Y, f.Y2 = looseAxis(f.X), looseAxis(f.Y), looseAxis(f.Y2)
		if f.X != nil {
			f.X.Title = "x, as the paper prints it"
		}
	} else {
		f.Series = slices.Clone(f.Series)
		f.Keys = append(slices.Clip(f.Keys), render.Key{Title: "paper", Color: "gray", Line: "none", Marker: "diamond", Hollow: true})
	}
	points := 0
	for _, s := range it.Figure.Series {
		var own []render.Point
		for _, p := range s.Points {
			y, x := checks[s.ID+"."+p.ID+".y"], checks[s.ID+"."+p.ID+".x"]
			if y.Paper == nil {
				continue
			}
			q := render.Point{ID: p.ID, X: p.X, Y: render.Number(*y.Paper), Marker: p.Marker, Hollow: p.Hollow}
			if x.Paper != nil {
				q.X = render.Number(*x.Paper)
			} else if !among && !it.sharesX() {
				continue // the position of the paper's point is unknown
			}
			if among || s.Draw == "box" {
				q.Marker, q.Hollow = "diamond", true
			}
			own = append(own, q)
		}
		if points += len(own); len(own) == 0 {
			continue
		}
		if among || s.Draw == "box" { // the paper gives a number or two of a box
			s = render.Series{ID: "paper of " + s.ID, Color: s.Color, Line: "none", Over: s.ID, Right: s.Right}
		}
		s.Points = own
		f.Series = append(f.Series, s)
	}
	if points == 0 {
		return nil
	}
	if err := f.Finish(); err != nil {
		return fmt.Errorf("the paper's points: %w", err)
	}
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		return fmt.Errorf("the paper's points: %w", err)
	}
	it.PaperSVG, it.Among = b.Bytes(), among
	return nil
}

// sharesX reports whether the axis has named positions, so that the paper's are the same.
func (it *Item) sharesX() bool {
	return it.Figure.X != nil && len(it.Figure.X.Ticks)+len(it.Figure.X.Categories) > 0
}

// looseAxis is an axis whose range depends on the data.
func looseAxis(a *render.Axis) *render.Axis {
	if a == nil {
		return nil
	}
	return &render.Axis{Title: a.Title, Log2: a.Log2, Log10: a.Log10, Decimals: a.Decimals, Categories: a.Categories}
}
