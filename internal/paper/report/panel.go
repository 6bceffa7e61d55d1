package report

import (
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
)

// Panel is the lineage of the cells that come from the same artifacts.
type Panel struct {
	ID      string
	Item    *Item
	Cells   []string
	Sources []Source
	More    int     // sources that are not shown
	All     int     // steps that the cells depend on
	Roots   []*Node // the steps without inputs: downloads and generators
}

// panels returns one panel for each set of artifacts that cells come from, at most mostPanels.
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

func (p *Panel) follow(nodes []Node) {
	all := upstream(nodes, lists.Map(p.Sources, func(s Source) int { return s.Index }))
	p.All = len(all)
	roots := lists.Filter(all, func(i int) bool { return len(nodes[i].Inputs)+len(nodes[i].deps) == 0 })
	p.Roots = lists.Map(roots, func(i int) *Node { return &nodes[i] })
	p.More = max(0, len(p.Sources)-mostSources)
	p.Sources = p.Sources[:min(len(p.Sources), mostSources)]
}

// panelID names the panel for some inputs within its table.
func panelID(it *Item, inputs []string) string {
	sum := fnv.New64a()
	for _, d := range inputs {
		io.WriteString(sum, d)
	}
	return fmt.Sprintf("from-%s-%016x", anchor(it.Address), sum.Sum64())
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
