package report

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
)

type gridRow struct {
	Rule    bool // with a line above
	Section template.HTML
	Titles  []gridTitle
	Cells   []gridCell
}

type gridTitle struct {
	HTML   template.HTML
	Repeat bool // same as in the row above
}

type gridCell struct {
	HTML  template.HTML
	Align string
	Panel string // "" for constants
	Name  string
	Check *pageCheck
}

// pageCheck is a comparison with the paper, below the number.
type pageCheck struct {
	*render.Check
	Printed string // the paper's number
	Off     string // the cell's difference; "" if unknown
}

// Mark returns the verdict as a sign.
func (c *pageCheck) Mark() string {
	return map[render.Verdict]string{render.Matches: "✓", render.IsNear: "≈", render.Differs: "✗"}[c.Verdict]
}

// ofCells returns the checks of cells by name; at another scale than the paper's, the checks for that scale.
func (it *Item) ofCells() map[string]*render.Check {
	checks := map[string]*render.Check{}
	for i := range it.Checks {
		if c := &it.Checks[i]; checks[c.Cell] == nil || c.Verdict != render.NotComparable {
			checks[c.Cell] = c
		}
	}
	return checks
}

// Unmet returns the checks that differ.
func (it *Item) Unmet() []render.Check {
	return lists.Filter(it.Checks, func(c render.Check) bool { return c.Verdict == render.Differs || c.Verdict == render.Broken })
}

// Broken returns the claims about the item that do not hold.
func (it *Item) Broken() []expect.Claim {
	return lists.Filter(it.Claims, func(c expect.Claim) bool { return c.Verdict == render.Broken })
}

// Tally counts the verdicts of the item's comparisons with the paper.
func (it *Item) Tally() render.Tally {
	t := render.Count(it.Checks)
	for _, c := range it.Claims {
		t.Claims[c.Verdict]++
	}
	return t
}

// HasTexts reports whether a column has texts: such tables take the full width.
func (it *Item) HasTexts() bool {
	return slices.ContainsFunc(it.Table.Columns, func(c render.Column) bool { return c.Format.Style == "text" && c.Align == "" })
}

// grid lays out a table as the paper does: repeated titles are left out, and each number has the paper's below it.
func (r *Report) grid(it *Item) []gridRow {
	checks := it.ofCells()
	var rows []gridRow
	var above []string // titles of the row above
	rule := false
	for _, row := range it.Table.Rows {
		switch {
		case row.Rule:
			rule = true
			above = nil
			continue
		case row.Section != "":
			above = nil
			rows = append(rows, gridRow{Rule: rule, Section: template.HTML(render.HTML(row.Section))})
		case row.Titles != nil:
			g := gridRow{Rule: rule, Titles: titlesOf(row.Titles, above)}
			above = row.Titles
			for _, col := range it.Table.Columns {
				g.Cells = append(g.Cells, r.cell(it, checks, row, col))
			}
			rows = append(rows, g)
		}
		rule = false
	}
	return rows
}

// titlesOf returns a row's titles, given the titles of the row above it. The last title is always shown.
func titlesOf(titles, above []string) (out []gridTitle) {
	repeat := above != nil
	for i, t := range titles {
		repeat = repeat && i < len(titles)-1 && t == above[i]
		out = append(out, gridTitle{template.HTML(render.HTML(t)), repeat})
	}
	return out
}

func (r *Report) cell(it *Item, checks map[string]*render.Check, row render.Row, col render.Column) gridCell {
	c := row.Cells[col.ID]
	cell := gridCell{HTML: template.HTML(c.HTML(col.Format)), Align: "r", Name: row.ID + "." + col.ID}
	cell.Panel = r.panelOf(it, c.Inputs)
	if col.Align != "" {
		cell.Align = col.Align
	} else if c.Value == nil && c.Data || col.Format.Style == "text" {
		cell.Align = "l"
	}
	if k := checks[cell.Name]; k != nil {
		cell.Check = &pageCheck{Check: k, Printed: k.Text}
		if k.Paper != nil {
			cell.Check.Printed = c.Printed(col.Format, *k.Paper)
		}
		if k.Difference != nil && k.Verdict != render.NotComparable {
			cell.Check.Off = c.Off(col.Format, *k.Difference)
		}
		if std := checks[cell.Name+render.StdSuffix]; std != nil {
			cell.Check.Printed += " ± " + strings.TrimPrefix(c.Printed(col.Format, *std.Paper), "+")
		}
	}
	return cell
}

type figureNumber struct {
	Name, X, Y, Panel string
	Check             *pageCheck
}

// numbers lists the points of a figure with the paper's numbers.
func (r *Report) numbers(it *Item) []figureNumber {
	var out []figureNumber
	checks := it.ofCells()
	for _, s := range it.Figure.Series {
		for _, p := range s.Points {
			n := figureNumber{Name: s.ID + "." + p.ID, X: cmp.Or(p.X.Typed, number(p.X.Value)), Y: number(p.Y.Value)}
			n.Panel = r.panelOf(it, p.Y.Inputs)
			if k := checks[n.Name+".y"]; k != nil {
				n.Check = &pageCheck{Check: k, Printed: number(k.Paper)}
				if k.Difference != nil && k.Verdict != render.NotComparable {
					n.Check.Off = signed(k.Difference)
				}
			}
			out = append(out, n)
		}
	}
	return append(out, r.panelsOf(it)...)
}

// panelsOf returns the texts of a figure that come from artifacts.
func (r *Report) panelsOf(it *Item) (out []figureNumber) {
	if len(it.Figure.Series) > 0 {
		return nil
	}
	it.eachCell(func(name string, c render.Cell) {
		if len(c.Inputs) > 0 {
			out = append(out, figureNumber{Name: name, Panel: r.panelOf(it, c.Inputs)})
		}
	})
	return out
}
