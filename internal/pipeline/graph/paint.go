package graph

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
)

// Share is how many instances of a node have come to something.
type Share struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// outcomes are what steps of a run and of a plan come to, in the order shown, with the class that colours them.
var outcomes = []struct{ name, class string }{
	{"failed", "bad"}, {"running", "work"}, {"run", "run"}, {"resume", "resume"}, {"maybe", "maybe"}, {"ran", "done"}, {"hit", "hit"}, {"skipped", "skip"},
	{"cancelled", "skip"}, {"not started", "rest"}, {"waiting", "rest"},
}

// Class is the colour's: bad, work, run, resume, maybe, done, hit, skip or rest.
func (s Share) Class() string {
	if i := rank(s.Name); i < len(outcomes) {
		return outcomes[i].class
	}
	return "rest"
}

func rank(name string) int {
	for i, o := range outcomes {
		if o.name == name {
			return i
		}
	}
	return len(outcomes)
}

// Shares sorts counts in the order in which they are shown.
func Shares(counts map[string]int) []Share {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	return lists.Map(names, func(name string) Share { return Share{name, counts[name]} })
}

// Paint tells each node what became of its steps; outcome has a word for each step of New.
func (g *Graph) Paint(outcome []string) {
	counts := make([]map[string]int, len(g.Nodes))
	for i, n := range g.at[:min(len(g.at), len(outcome))] {
		if counts[n] == nil {
			counts[n] = map[string]int{}
		}
		counts[n][outcome[i]]++
	}
	for n := range g.Nodes {
		g.Nodes[n].Outcomes = Shares(counts[n])
	}
}

// PaintPlan is Paint for a plan's outcomes (hit, run, resume, maybe), with a legend beside the graph.
func (g *Graph) PaintPlan(outcome []string) {
	g.Paint(outcome)
	g.legend = true
}

// look is how a node with an outcome of a plan is drawn: the border tells it without colour.
type look struct {
	class, fill, stroke string
	width               float64
	dash                string // of the border, in pixels; "" for none
	means               string
}

var looks = []look{
	{"hit", "#eef5f0", "#2e8b57", 1.2, "", "hit: has its result"},
	{"run", "#fde3c8", "#c2570c", 2.5, "", "run: some must run"},
	{"resume", "#fdf3cf", "#8a6d00", 2.5, "9 3", "resume: continues from a checkpoint"},
	{"maybe", "#f3f4f6", "#6b7280", 1.2, "3 3", "maybe: known after others have run"},
}

// look is how a node of a plan is drawn; false: the node has no outcome of a plan.
func (n Node) look() (look, bool) {
	for _, l := range looks {
		if len(n.Outcomes) > 0 && l.class == n.class() {
			return l, true
		}
	}
	return look{}, false
}

// done is how many of a node's steps have a result.
func (n Node) done() (done, all int) {
	for _, s := range n.Outcomes {
		all += s.Count
		if s.Name == "ran" || s.Name == "hit" {
			done += s.Count
		}
	}
	return done, all
}

// class colours a painted node: by the first of its outcomes that is to be looked at.
func (n Node) class() string {
	if len(n.Outcomes) == 0 {
		return n.Block
	}
	if done, all := n.done(); done < all && n.Outcomes[0].Class() == "done" { // some are to come
		return "some"
	}
	return n.Outcomes[0].Class()
}

const style = `
  svg { font: 12px ui-monospace, Menlo, Consolas, monospace; background: #fff }
  text { fill: #111; dominant-baseline: central }
  path { fill: none; stroke: #8a93a0; stroke-width: 1.2 }
  marker path { fill: #8a93a0; stroke: none }
  .step rect { fill: #e8f0fb; stroke: #3b6fb6 }
  .table rect { fill: #e6f4ea; stroke: #2e8b57 }
  .figure rect { fill: #fdf0e1; stroke: #c77700 }
  @media (prefers-color-scheme: dark) {
    svg { background: #14171c }
    text { fill: #e8eaed }
    .step rect { fill: #1c2a40 } .table rect { fill: #17301f } .figure rect { fill: #3a2a12 }
  }
`

const painted = `
  .done rect { fill: #d9f0e1; stroke: #2e8b57 } .hit rect { fill: #eef5f0; stroke: #8fb8a0 }
  .work rect, .some rect { fill: #dbe8fd; stroke: #2f6fd0 } .work rect { stroke-width: 2.5 }
  .bad rect { fill: #fbdcdc; stroke: #c22f2f; stroke-width: 2.5 } .skip rect { fill: #fdf0e1; stroke: #d08a2f }
  .rest rect { fill: #f3f4f6; stroke: #a9b0b9 }
  @media (prefers-color-scheme: dark) {
    .done rect { fill: #17402a } .hit rect { fill: #1c2b22 } .work rect, .some rect { fill: #1b3156 }
    .bad rect { fill: #531d1d } .skip rect { fill: #3a2a12 } .rest rect { fill: #22262c }
  }
`

func planned() string {
	var b strings.Builder
	for _, l := range looks {
		fmt.Fprintf(&b, "  .%s rect { fill: %s; stroke: %s; stroke-width: %g; stroke-dasharray: %s }\n", l.class, l.fill, l.stroke, l.width, cmp.Or(l.dash, "none"))
	}
	b.WriteString(`  @media (prefers-color-scheme: dark) {
    .hit rect { fill: #1c2b22 } .run rect { fill: #4a2808 } .resume rect { fill: #3d3200 } .maybe rect { fill: #22262c }
  }
`)
	return b.String()
}

const legendGap = 16.0 // between the boxes of the legend, below the graph

func legendBox(l look) float64 { return charWidth*float64(utf8.RuneCountInString(l.means)) + 20 }

// SVG draws the graph: layers from left to right, no file needed beside it.
func (g Graph) SVG(w io.Writer) error {
	l := newLayout(g)
	legend := l.height // where it begins
	if g.legend {
		wide := 2*margin - legendGap
		for _, x := range looks {
			wide += legendBox(x) + legendGap
		}
		l.width, l.height = max(l.width, wide), l.height+boxHeight+margin
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="pipeline">`+"\n", l.width, l.height, l.width, l.height)
	all := style
	if slices.ContainsFunc(g.Nodes, func(n Node) bool { return len(n.Outcomes) > 0 }) {
		all += painted
	}
	if g.legend {
		all += planned()
	}
	fmt.Fprintf(b, "<style>%s</style>\n", all)
	fmt.Fprintln(b, `<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>`)
	for _, route := range l.routes {
		fmt.Fprintf(b, "<path d=\"%s\" marker-end=\"url(#arrow)\"/>\n", l.curve(route))
	}
	for _, v := range l.vs {
		if v.node < 0 {
			continue
		}
		n := g.Nodes[v.node]
		box(b, n.class(), n.tip(), n.label(), v.x, v.y, v.w)
	}
	if g.legend {
		x := margin
		for _, o := range looks {
			box(b, o.class, o.means, o.means, x, legend+boxHeight/2, legendBox(o))
			x += legendBox(o) + legendGap
		}
	}
	fmt.Fprintln(b, "</svg>")
	return b.Flush()
}

// box draws a text in a frame; y is its middle.
func box(w io.Writer, class, tip, label string, x, y, width float64) {
	fmt.Fprintf(w, `<g class="%s"><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5"/><text x="%.1f" y="%.1f">%s</text></g>`+"\n",
		escape(class), escape(tip), x, y-boxHeight/2, width, boxHeight, x+10, y, escape(label))
}

// curve goes from the first vertex's right side to the last one's left, level through the columns between.
func (l *layout) curve(route []int) string {
	var d strings.Builder
	from := l.vs[route[0]]
	x, y := from.x+from.w, from.y
	fmt.Fprintf(&d, "M%.1f %.1f", x, y)
	for _, i := range route[1:] {
		v := l.vs[i]
		mid := (x + v.x) / 2
		fmt.Fprintf(&d, " C%.1f %.1f %.1f %.1f %.1f %.1f", mid, y, mid, v.y, v.x, v.y)
		x, y = v.x, v.y
		if v.node < 0 {
			x += v.w
			fmt.Fprintf(&d, " H%.1f", x)
		}
	}
	return d.String()
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
	return b.String()
}

// tip is what a node says when it is pointed at.
func (n Node) tip() string {
	if len(n.Outcomes) == 0 {
		return n.ID
	}
	return n.ID + ": " + strings.Join(lists.Map(n.Outcomes, func(s Share) string { return fmt.Sprintf("%d %s", s.Count, s.Name) }), ", ")
}
