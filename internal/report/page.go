package report

import (
	"cmp"
	_ "embed" // the page's template and style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/render"
)

//go:embed page.tmpl
var pageTemplate string

//go:embed page.css
var pageStyle string

// HTML writes the page: one file that needs nothing else. Lineages open by
// fragment links, without scripts.
func (r *Report) HTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"markup":  func(s string) template.HTML { return template.HTML(render.HTML(s)) },
		"picture": picture,
		"size":    func(n int64) string { return humanize.Bytes(uint64(max(n, 0))) },
		"took":    took,
		"num":     func(v *float64) string { return number(v) },
		"number":  func(v float64) string { return number(&v) },
		"signed":  signed,
		"count":   func(n int64) string { return humanize.Comma(n) },
		"short":   short,
		"clip":    Clip,
		"slug":    slug,
		"grid":    r.grid,
		"figures": r.numbers,
		"curve":   func(c *Curve) template.HTML { return c.picture(r.TopOfCurves(c.Metric)) },
		"pair":    func(r *Report, n Node) nodeOf { return nodeOf{r, n} },
		"at":      r.at,
		"most":    func() int { return mostSources },
		"less":    func(a, b int) int { return a - b },
	}).Parse(pageTemplate)
	if err != nil {
		return err
	}
	panels := r.panels()
	r.shown = make(map[string]bool, len(panels))
	for i := range panels {
		r.shown[panels[i].ID] = true
	}
	return t.Execute(w, struct {
		*Report
		Style  template.CSS
		Panels []Panel
		Cut    bool // there may be more panels
	}{r, template.CSS(pageStyle), panels, len(panels) == mostPanels})
}

// at links a text to a step, if the page has it.
func (r *Report) at(index int, text string) template.HTML {
	text = template.HTMLEscapeString(text)
	if !r.Nodes[index].Detailed {
		return template.HTML(text)
	}
	return template.HTML(fmt.Sprintf(`<a href="#step-%d">%s</a>`, index, text))
}

// panelOf is the id of the panel of some inputs; "" if the page does not have it.
func (r *Report) panelOf(it *Item, inputs []string) string {
	if id := panelID(it, inputs); r.shown[id] {
		return id
	}
	return ""
}

// picture is an SVG file as the address of an image: there its text is no part of
// the page, and nothing in it runs or loads anything.
func picture(svg []byte) template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
}

// nodeOf is what the template of a step's lineage takes.
type nodeOf struct {
	Report *Report
	Node   Node
}

// Panel is the lineage of the cells that come from the same artifacts.
type Panel struct {
	ID      string
	Item    *Item
	Cells   []string
	Sources []Source
	More    int     // sources that are not shown
	Steps   []Node  // that left the sources
	All     int     // steps that the cells depend on
	Roots   []*Node // of them, those that depend on nothing: downloads and generators
}

// panels makes one panel for each set of artifacts that some cell comes from, at most
// mostPanels.
func (r *Report) panels() []Panel {
	var out []Panel
	for _, it := range r.Items {
		at := map[string]int{}
		it.eachCell(func(name string, c render.Cell) {
			key := strings.Join(c.Inputs, " ")
			if len(c.Inputs) == 0 {
				return
			}
			if _, ok := at[key]; !ok && len(out) == mostPanels {
				return
			} else if !ok {
				at[key] = len(out)
				p := Panel{ID: panelID(it, c.Inputs), Item: it, Sources: sources(r.Nodes, it.Index, c.Inputs)}
				p.follow(r.Nodes)
				out = append(out, p)
			}
			out[at[key]].Cells = append(out[at[key]].Cells, name)
		})
	}
	return out
}

// follow finds the steps behind the panel's sources.
func (p *Panel) follow(nodes []Node) {
	var from []int
	seen := map[int]bool{}
	for _, s := range p.Sources {
		if s.Index >= 0 && !seen[s.Index] {
			seen[s.Index] = true
			from = append(from, s.Index)
			if len(from) <= mostSources && nodes[s.Index].Detailed {
				p.Steps = append(p.Steps, nodes[s.Index])
			}
		}
	}
	all := upstream(nodes, from)
	p.All = len(all)
	for _, i := range all {
		if n := &nodes[i]; len(n.Inputs)+len(n.deps) == 0 {
			p.Roots = append(p.Roots, n)
		}
	}
	p.More = max(0, len(p.Sources)-mostSources)
	p.Sources = p.Sources[:min(len(p.Sources), mostSources)]
}

// panelID names the panel of some inputs: by the first digest and how many
// there are, within its table.
func panelID(it *Item, inputs []string) string {
	sum := uint64(14695981039346656037) // FNV-1a
	for _, d := range inputs {
		for i := range len(d) {
			sum = (sum ^ uint64(d[i])) * 1099511628211
		}
	}
	return fmt.Sprintf("from-%s-%016x", slug(it.Address), sum)
}

// eachCell walks the numbers of a table or figure in reading order.
func (it *Item) eachCell(f func(name string, c render.Cell)) {
	if it.Table != nil {
		for _, row := range it.Table.Rows {
			for _, col := range it.Table.Columns {
				if c, ok := row.Cells[col.ID]; ok {
					f(row.ID+"."+col.ID, c)
				}
			}
		}
	}
	if it.Figure == nil {
		return
	}
	for _, s := range it.Figure.Series {
		for _, p := range s.Points {
			f(s.ID+"."+p.ID+".x", p.X)
			f(s.ID+"."+p.ID+".y", p.Y)
		}
	}
	for _, p := range it.Figure.Panels {
		f(render.Plain(p.Heading), render.Cell{Text: p.Text, Inputs: p.Inputs})
	}
	for _, s := range it.Figure.Flow {
		f(render.Plain(s.Title), render.Cell{Text: s.Text, Inputs: s.Inputs})
	}
}

// gridCell is a cell of a table on the page.
type gridCell struct {
	HTML  template.HTML
	Align string
	Panel string // "" for constants
	Name  string
	Check *pageCheck
}

// pageCheck is a comparison with the paper, beside the number.
type pageCheck struct {
	*render.Check
	Printed string // the paper's number
	Off     string // by how much the cell differs; "" if it cannot be said
}

// ofCells are the checks of what one cell is, by its name.
func (it *Item) ofCells() map[string]*render.Check {
	checks := map[string]*render.Check{}
	for i := range it.Checks {
		if c := &it.Checks[i]; !c.Form.Claim() {
			checks[c.Cell] = c
		}
	}
	return checks
}

// Unmet are the checks of cells that differ and of claims that do not hold.
func (it *Item) Unmet() []render.Check { return render.Unmet(it.Checks) }

// gridRow is a row: a rule, a section, or titles and cells.
type gridRow struct {
	Rule    bool
	Section template.HTML
	Titles  []template.HTML
	Cells   []gridCell
}

// grid lays a table out for the page, each number with the paper's beside it.
func (r *Report) grid(it *Item) []gridRow {
	checks := it.ofCells()
	var rows []gridRow
	for _, row := range it.Table.Rows {
		switch {
		case row.Rule:
			rows = append(rows, gridRow{Rule: true})
		case row.Section != "":
			rows = append(rows, gridRow{Section: template.HTML(render.HTML(row.Section))})
		case row.Titles != nil:
			g := gridRow{}
			for _, t := range row.Titles {
				g.Titles = append(g.Titles, template.HTML(render.HTML(t)))
			}
			for _, col := range it.Table.Columns {
				c := row.Cells[col.ID]
				cell := gridCell{HTML: template.HTML(c.HTML(col.Format)), Align: "r", Name: row.ID + "." + col.ID}
				if col.Align != "" {
					cell.Align = col.Align
				} else if c.Value == nil && c.Data || col.Format.Style == "text" {
					cell.Align = "l"
				}
				if len(c.Inputs) > 0 {
					cell.Panel = r.panelOf(it, c.Inputs)
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
				g.Cells = append(g.Cells, cell)
			}
			rows = append(rows, g)
		}
	}
	return rows
}

// figureNumber is a number of a figure on the page.
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
			n := figureNumber{Name: s.ID + "." + p.ID, X: number(p.X.Value), Y: number(p.Y.Value)}
			if k := checks[n.Name+".y"]; k != nil {
				n.Check = &pageCheck{Check: k, Printed: number(k.Paper)}
				if k.Difference != nil && k.Verdict != render.NotComparable {
					n.Check.Off = signed(k.Difference)
				}
			}
			if len(p.Y.Inputs) > 0 {
				n.Panel = r.panelOf(it, p.Y.Inputs)
			}
			out = append(out, n)
		}
	}
	return append(out, r.panelsOf(it)...)
}

// panelsOf are the texts of a figure that come from artifacts.
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

// Link is a workflow's page in Temporal's UI; "" without a UI.
func (r *Report) Link(workflow string) string {
	if r.UI == "" || workflow == "" {
		return ""
	}
	return strings.TrimSuffix(r.UI, "/") + "/namespaces/" + url.PathEscape(r.Namespace) + "/workflows/" + url.PathEscape(workflow)
}

// Slowest are the steps that took longest, longest first.
func (r *Report) Slowest() []*Node {
	out := make([]*Node, len(r.Nodes))
	for i := range r.Nodes {
		out[i] = &r.Nodes[i]
	}
	slices.SortStableFunc(out, func(a, b *Node) int { return cmp.Compare(b.TookS, a.TookS) })
	return out[:min(len(out), mostRows)]
}

// Slower is how many steps are not among the Slowest.
func (r *Report) Slower() int { return max(0, len(r.Nodes)-mostRows) }

func number(v *float64) string {
	if v == nil {
		return "–"
	}
	return humanize.Commaf(math.Round(*v*1e4)/1e4 + 0) // + 0: no -0
}

func signed(v *float64) string {
	if v == nil || *v <= 0 {
		return number(v)
	}
	return "+" + number(v)
}

// took prints a duration as people read it: 0.4 s, 12 s, 3 min 20 s, 5 h 12 min.
func took(s float64) string {
	d := time.Duration(s * float64(time.Second)).Round(time.Second)
	switch {
	case s < 9.95:
		return fmt.Sprintf("%.1f s", s)
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

func short(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 12 {
		return digest
	}
	return hex[:12]
}

// slug makes a fragment name of an address.
func slug(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '-'
	}, s)
}
