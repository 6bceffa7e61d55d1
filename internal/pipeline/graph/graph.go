// Package graph draws a pipeline as DOT, Mermaid or SVG: which step reads which. It knows only the steps' addresses.
package graph

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/address"
)

// Step is a step to draw. Deps are places of earlier steps in the list.
type Step struct {
	Address string // step.train.dsi["tiny/42"]
	Deps    []int
}

type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`

	at     []int // the node of each step
	legend bool
}

// Node is a step, or all instances of a block.
type Node struct {
	Title    string  `json:"title"`              // dedup nq, table dedup_counts
	ID       string  `json:"id"`                 // address
	Block    string  `json:"block"`              // step, table or figure
	Count    int     `json:"count,omitempty"`    // instances; 0 if the block has no for_each
	Unknown  bool    `json:"unknown,omitempty"`  // how many instances there are is decided when others have run
	Outcomes []Share `json:"outcomes,omitempty"` // of a graph that was painted
}

// Edge says that a node's output is read by another, which has the larger index.
type Edge struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// New makes the graph of steps; unless expand is set, a block's instances are one node.
func New(steps []Step, expand bool) Graph {
	g := Graph{at: make([]int, len(steps))}
	byID := map[string]int{}
	for i, s := range steps {
		a, id := address.Of(s.Address), s.Address
		if !expand {
			id = a.Block()
		}
		n, ok := byID[id]
		if !ok {
			n = len(g.Nodes)
			byID[id] = n
			g.Nodes = append(g.Nodes, Node{Title: title(id), ID: id, Block: a.Type()})
		}
		switch {
		case a.Key == address.Any:
			g.Nodes[n].Unknown = true
		case id != s.Address:
			g.Nodes[n].Count++
		}
		g.at[i] = n
	}
	seen := map[Edge]bool{}
	for i, s := range steps {
		for _, d := range s.Deps {
			e := Edge{g.at[d], g.at[i]}
			if e.From != e.To && !seen[e] {
				seen[e] = true
				g.Edges = append(g.Edges, e)
			}
		}
	}
	return g
}

// title is an address as people read it: without the word step, its parts apart.
func title(id string) string {
	a := address.Of(id)
	name := strings.Replace(strings.TrimPrefix(a.Name, "step."), ".", " ", 1)
	if a.Key != "" {
		name += " " + a.Key
	}
	if a.Modules != "" {
		name = strings.TrimPrefix(a.Modules, "module.") + ": " + name
	}
	return name
}

func (n Node) label() string {
	if n.Unknown {
		return strings.TrimSuffix(n.Title, " "+address.Any) + " ×?"
	}
	if done, all := n.done(); all > 1 {
		return fmt.Sprintf("%s %d/%d", n.Title, done, all)
	}
	if n.Count > 0 {
		return fmt.Sprintf("%s ×%d", n.Title, n.Count)
	}
	return n.Title
}

var palette = map[string][2]string{
	"source": {"#f1ecf8", "#7a5aa6"},
	"step":   {"#e8f0fb", "#3b6fb6"},
	"table":  {"#e6f4ea", "#2e8b57"},
	"figure": {"#fdf0e1", "#c77700"},
}

func (g Graph) DOT(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "digraph redsi {")
	fmt.Fprintln(b, "  rankdir=LR;")
	fmt.Fprintln(b, `  node [shape=box, style="rounded,filled", fontname="Helvetica"];`)
	for _, n := range g.Nodes {
		fmt.Fprintf(b, "  %s [label=%s, %s];\n", dotString(n.ID), dotString(n.label()), n.dot())
	}
	for _, e := range g.Edges {
		fmt.Fprintf(b, "  %s -> %s;\n", dotString(g.Nodes[e.From].ID), dotString(g.Nodes[e.To].ID))
	}
	if g.legend {
		fmt.Fprintln(b, `  subgraph cluster_legend {`)
		fmt.Fprintln(b, `    label="Outcomes"; color="#8a93a0"; fontname="Helvetica";`)
		for _, l := range looks {
			fmt.Fprintf(b, "    %s [label=%s, %s];\n", dotString("legend "+l.class), dotString(l.means), l.dot())
		}
		fmt.Fprintln(b, "  }")
	}
	fmt.Fprintln(b, "}")
	return b.Flush()
}

func (n Node) dot() string {
	if l, ok := n.look(); ok {
		return l.dot()
	}
	c := palette[n.Block]
	return fmt.Sprintf("fillcolor=%q, color=%q", c[0], c[1])
}

func (l look) dot() string {
	text := fmt.Sprintf("fillcolor=%q, color=%q, penwidth=%g", l.fill, l.stroke, l.width)
	if l.dash != "" {
		text += `, style="rounded,filled,dashed"`
	}
	if l.class == "resume" { // Graphviz has one length of dashes
		text += ", peripheries=2"
	}
	return text
}

// dotString quotes for DOT, in which only the quote and the backslash are special.
func dotString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func (g Graph) Mermaid(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "flowchart LR")
	for i, n := range g.Nodes {
		text := strings.NewReplacer("#", "#35;", "&", "#amp;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;").Replace(n.label())
		class := n.Block
		if l, ok := n.look(); ok {
			class = l.class
		}
		fmt.Fprintf(b, "  n%d[\"%s\"]:::%s\n", i, text, class)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(b, "  n%d --> n%d\n", e.From, e.To)
	}
	for _, block := range []string{"source", "step", "table", "figure"} {
		if block == "source" && !slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Block == block }) {
			continue
		}
		fmt.Fprintf(b, "  classDef %s fill:%s,stroke:%s,color:#111\n", block, palette[block][0], palette[block][1])
	}
	if g.legend {
		fmt.Fprintln(b, `  subgraph Outcomes`)
		for _, l := range looks {
			fmt.Fprintf(b, "    legend_%s[\"%s\"]:::%s\n", l.class, l.means, l.class)
		}
		fmt.Fprintln(b, "  end")
		for _, l := range looks {
			fmt.Fprintf(b, "  classDef %s fill:%s,stroke:%s,stroke-width:%gpx", l.class, l.fill, l.stroke, l.width)
			if l.dash != "" {
				fmt.Fprintf(b, ",stroke-dasharray:%s", l.dash)
			}
			fmt.Fprintln(b, ",color:#111")
		}
	}
	return b.Flush()
}
