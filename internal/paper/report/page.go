package report

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

var (
	//go:embed page/*.tmpl
	templates embed.FS
	//go:embed page/page.css
	style template.CSS
	//go:embed page/page.js
	script template.JS
)

// anchor returns an item's id in the page.
func anchor(address string) string { return prose.Slug(url.QueryEscape(address)) }

// HTML writes the page: one self-contained file. Everything is there without its script, which sorts, filters and opens
// link targets. The page's policy allows only that script, by its digest.
func (r *Report) HTML(w io.Writer) error {
	t, err := template.New("page.tmpl").Funcs(template.FuncMap{
		"markup":   func(s string) template.HTML { return template.HTML(render.HTML(s)) },
		"picture":  func(svg []byte) template.URL { return dataURL("image/svg+xml", svg) },
		"used":     usage.Rows,
		"size":     words.Size,
		"took":     words.Took,
		"num":      func(v *float64) string { return number(v) },
		"number":   func(v float64) string { return number(&v) },
		"signed":   signed,
		"count":    func(n int64) string { return humanize.Comma(n) },
		"short":    short,
		"clip":     words.Clip,
		"counted":  words.Count,
		"unplaced": Unplaced,
		"file":     FileOf,
		"slug":     anchor,
		"grid":     r.grid,
		"figures":  r.numbers,
		"dec":      decimal,
		"at":       r.at,
		"command":  r.command,
		"pair":     func(r *Report, it *Item) part { return part{Report: r, Item: it} },
		"both":     func(r *Report, n *Node) part { return part{Report: r, Node: n} },
		"most":     func() int { return mostSources },
		"less":     func(a, b int) int { return a - b },
		"add":      func(a, b float64) float64 { return a + b },
	}).ParseFS(templates, "page/*.tmpl")
	if err != nil {
		return err
	}
	panels := r.panels()
	r.shown = lists.Set(lists.Map(panels, func(p Panel) string { return p.ID }))
	digest := sha256.Sum256([]byte(script))
	return t.Execute(w, struct {
		*Report
		Style  template.CSS
		Script template.JS
		Policy string
		Panels []Panel
		Cut    bool // there may be more panels
	}{r, style, script, "sha256-" + base64.StdEncoding.EncodeToString(digest[:]), panels, len(panels) == mostPanels})
}

// part is the data of the templates for a table or figure, or for a step.
type part struct {
	Report *Report
	Item   *Item
	Node   *Node
}

// Title is the page's heading.
func (r *Report) Title() string { return cmp.Or(r.Paper.Title, r.Pipeline) }

// command returns a command to copy, without the paths of this machine.
func (r *Report) command(verb string, args ...string) string {
	if r.Command == nil {
		return strings.Join(append([]string{"redsi", verb}, args...), " ")
	}
	return Unplaced(r.Command(verb, args...))
}

// at links a text to a step, if the page shows it.
func (r *Report) at(index int, text string) template.HTML {
	text = template.HTMLEscapeString(text)
	if !r.Nodes[index].Detailed {
		return template.HTML(text)
	}
	return template.HTML(fmt.Sprintf(`<a href="#step-%d">%s</a>`, index, text))
}

// panelOf returns the id of the panel for some inputs; "" if the page has none.
func (r *Report) panelOf(it *Item, inputs []string) string {
	if id := panelID(it, inputs); r.shown[id] {
		return id
	}
	return ""
}

// dataURL returns a file as an address. An image there is not part of the page, and cannot run or load anything.
func dataURL(media string, b []byte) template.URL {
	return template.URL("data:" + media + ";base64," + base64.StdEncoding.EncodeToString(b))
}

// Link returns a workflow's page in Temporal's UI; "" without a UI.
func (r *Report) Link(workflow string) string {
	if r.UI == "" || workflow == "" {
		return ""
	}
	return strings.TrimSuffix(r.UI, "/") + "/namespaces/" + url.PathEscape(r.Namespace) + "/workflows/" + url.PathEscape(workflow)
}

// StepBlock is a block with its detailed steps.
type StepBlock struct {
	Block
	Shown []*Node
}

// StepBlocks returns the blocks in their order.
func (r *Report) StepBlocks() []StepBlock {
	shown := map[string][]*Node{}
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Detailed {
			block := address.Of(n.Address).Block()
			shown[block] = append(shown[block], n)
		}
	}
	return lists.Map(r.Blocks, func(b Block) StepBlock { return StepBlock{b, shown[b.Address]} })
}

// Slowest returns the steps that took longest, longest first.
func (r *Report) Slowest() []*Node {
	out := lists.Map(lists.Places(len(r.Nodes)), func(i int) *Node { return &r.Nodes[i] })
	slices.SortStableFunc(out, func(a, b *Node) int { return cmp.Compare(b.TookS, a.TookS) })
	return out[:min(len(out), mostRows)]
}

// Slower returns how many steps are not among the Slowest.
func (r *Report) Slower() int { return max(0, len(r.Nodes)-mostRows) }

func number(v *float64) string {
	if v == nil {
		return "–"
	}
	return strings.Replace(humanize.Commaf(math.Round(*v*1e4)/1e4+0), "-", "−", 1) // + 0: no -0
}

func signed(v *float64) string {
	if v == nil || *v <= 0 {
		return number(v)
	}
	return "+" + number(v)
}

func short(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 12 {
		return digest
	}
	return hex[:12]
}
