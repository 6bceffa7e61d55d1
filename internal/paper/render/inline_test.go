package render_test

import (
	"testing"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestInline: a cell in a sentence is what its table prints, for text and mathematics.
func TestInline(t *testing.T) {
	std := 0.1021
	number := func(v float64) render.Cell { return render.Number(v) }
	for _, c := range []struct {
		cell   render.Cell
		format render.Format
		tex    string
		value  string
	}{
		{number(226180), render.Format{Style: "integer"}, "226{,}180", "226180"},
		{number(-1234), render.Format{Style: "integer"}, `\ensuremath{-1{,}234}`, "-1234"},
		{number(0.62213), render.Format{Style: "fixed", Decimals: 1, Scale: 100}, "62.2", "62.213"},
		{number(-0.05), render.Format{Style: "signed", Decimals: 2}, `\ensuremath{-0.05}`, "-0.05"},
		{number(0.3), render.Format{Style: "signed", Decimals: 1}, `\ensuremath{+0.3}`, "0.3"},
		{number(109739), render.Format{Style: "kilo", Decimals: 1}, `109.7\,\mbox{K}`, "109739"},
		{number(3), render.Format{Style: "integer", Prefix: "n = "}, `\mbox{n = }3`, "3"},
		{render.Cell{Value: number(62.0912).Value, Std: &std}, render.Format{Style: "fixed", Decimals: 2, Std: true}, `\ensuremath{62.09 \pm 0.10}`, "62.0912"},
		{render.Cell{Value: number(62.0912).Value, Std: &std}, render.Format{Style: "fixed", Decimals: 2}, `62.09`, "62.0912"},
		{render.Cell{Text: "a <b>b</b> 5%", Bold: true}, render.Format{Style: "text"}, `\redsitext{a \textbf{b} 5\%}`, ""},
		{render.Cell{Text: "a <b>b</b>", Data: true}, render.Format{Style: "text"}, `\redsitext{` + render.TeXData("a <b>b</b>") + `}`, ""},
		{render.Cell{}, render.Format{Style: "fixed", Decimals: 1}, `\redsitext{\textendash}`, ""},
	} {
		got := render.Named{Cell: c.cell, Format: c.format}.Inline()
		testkit.Is(t, got.TeX, c.tex, c.cell, c.format)
		testkit.Is(t, got.Value, c.value, c.cell, c.format)
	}
	f := &render.Figure{X: &render.Axis{}, Y: &render.Axis{Decimals: 1}, Series: []render.Series{{ID: "s", Title: "A <b>line</b>", Points: []render.Point{{ID: "p", X: number(2.916), Y: number(62.213)}}}}}
	n := f.Named()
	if len(n) != 2 || n[0].Inline().TeX != "2.916" || n[1].Inline().TeX != "62.2" || n[1].Title != "A line" {
		t.Errorf("a figure's cells are %+v", n)
	}
}
