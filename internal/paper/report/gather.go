package report

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
)

// Bounds of a report's lists. What exceeds them is counted, and the page names the command that shows it.
const (
	mostSteps   = 1000 // with lineage: tables and figures first, then the steps behind them
	mostRows    = 1000 // of any list of steps, blocks or files
	mostItems   = 500  // tables and figures
	mostCurves  = 500  // besides the curves of steps that are shown
	mostEnvs    = 100
	mostPanels  = 3000
	mostSources = 100 // of one number, or inputs of one step
)

// Left counts what a report does not show.
type Left struct {
	Items, Steps, Counts, Curves, Files, Envs, Blocks int
}

// Block sums up the steps of one block.
type Block struct {
	Address     string
	Kind        string
	Steps, Done int
	Took        time.Duration
	Bytes       int64
	Used        usage.Sum
	Counts      map[string]int64 // of all steps
}

// Gatherer builds the report of a plan of any length: it keeps only the results that are shown.
type Gatherer struct {
	plan      *plan.Plan
	detailed  []bool // steps that are shown with lineage
	items     []int  // tables and figures that are shown
	left      Left
	blocks    map[string]*Block
	envs      map[string]*Environment
	lastAll   map[string]string // the environment of the last step
	lastEnv   *Environment
	otherEnvs Environment
	runs      map[string]bool
	newest    time.Time
	counted   int // steps with counts
	curves    int
	others    int // curves of steps that are not shown
	work      map[string]*runWork
	used      []spent // by step
	book      *attest.Book
	stands    map[int]artifacts.Digest // the outputs of steps that were rebuilt
}

// spent is the time and the resources of a step with a result.
type spent struct {
	done bool
	took time.Duration
	used *artifacts.Used
}

// Gather begins a report of a plan; book says which results were rebuilt; nil: unknown.
func Gather(p *plan.Plan, book *attest.Book) *Gatherer {
	g := &Gatherer{plan: p, book: book, stands: map[int]artifacts.Digest{}, detailed: make([]bool, len(p.Steps)), used: make([]spent, len(p.Steps)), blocks: map[string]*Block{}, envs: map[string]*Environment{}, runs: map[string]bool{}, work: map[string]*runWork{}}
	for i, s := range p.Steps {
		g.block(i).Steps++
		if s.IsRendered() {
			g.items = append(g.items, i)
		}
	}
	g.left.Items = max(0, len(g.items)-mostItems)
	g.items = g.items[:min(len(g.items), mostItems)]
	shown := 0
	show := func(i int) bool {
		if g.detailed[i] || shown == mostSteps {
			return false
		}
		g.detailed[i] = true
		shown++
		return true
	}
	queue := slices.Clone(g.items)
	for _, i := range queue {
		show(i)
	}
	for len(queue) > 0 && shown < mostSteps {
		for _, d := range p.Steps[queue[0]].Deps {
			if show(d) {
				queue = append(queue, d)
			}
		}
		queue = queue[1:]
	}
	for i := range p.Steps {
		show(i)
	}
	g.left.Steps = len(p.Steps) - shown
	return g
}

func (g *Gatherer) block(i int) *Block {
	s := &g.plan.Steps[i]
	name := s.Block()
	if g.blocks[name] == nil {
		g.blocks[name] = &Block{Address: name, Kind: s.Task.Kind, Counts: map[string]int64{}}
	}
	return g.blocks[name]
}

// Keep records the result of step i, and reports whether the report needs all of it. It is a plan.Keep.
func (g *Gatherer) Keep(i int, it *plan.Item) bool {
	r := it.Result
	if g.book.Has(it.Key) {
		g.stands[i] = r.OutputsDigest()
	}
	b := g.block(i)
	b.Done++
	b.Took += r.Took
	b.Bytes += r.Bytes()
	b.Used.Add(r.Took, r.Used)
	g.used[i] = spent{true, r.Took, r.Used}
	for what, n := range r.Counts {
		b.Counts[what] += n
	}
	if len(r.Counts) > 0 {
		g.counted++
	}
	if g.lastEnv == nil || !maps.Equal(r.Env, g.lastAll) {
		g.lastAll, g.lastEnv = r.Env, g.environment(r.Env)
	}
	g.lastEnv.Steps++
	if r.Origin.RunID != "" {
		g.runs[r.Origin.RunID] = true
		g.worked(g.plan.Steps[i].Address, r)
	}
	if r.Finished.After(g.newest) {
		g.newest = r.Finished
	}
	s := &g.plan.Steps[i]
	kept := g.detailed[i] || s.IsRendered() || s.Task.Kind == downloadKind || s.Task.Kind == declare.SourceKind
	for _, a := range r.Outputs {
		if a.Type != curveType {
			continue
		}
		g.curves++
		if !kept && g.others < mostCurves {
			g.others++
			kept = true
		}
	}
	return kept
}

// environment returns where a step with such a record ran; beyond the bound, one environment stands for the rest.
func (g *Gatherer) environment(recorded map[string]string) *Environment {
	env, _ := notesOf(recorded)
	key := fmt.Sprint(env) // maps print with sorted keys
	if g.envs[key] == nil {
		if len(g.envs) == mostEnvs {
			return &g.otherEnvs
		}
		g.envs[key] = &Environment{Values: env}
	}
	return g.envs[key]
}

// Build returns the report of a preview whose hits Keep has seen. It reads the JSON of tables and figures, training
// curves, and the first lines of small artifacts.
func (g *Gatherer) Build(ctx context.Context, v *plan.Preview, read Reader, o Options) (*Report, error) {
	nodes, err := nodesOf(v, func(i int) bool { return g.detailed[i] })
	if err != nil {
		return nil, err
	}
	r := &Report{Options: o, Pipeline: FileOf(v.Plan.Pipeline), Targets: v.Plan.Targets, Summary: v.Summary(), Nodes: nodes, Left: g.left, Newest: g.newest}
	r.Store = storeOf(o.Store)
	for i := range o.Failed {
		nodes[i].Failed = true
	}
	if r.Judged, err = expect.Judge(ctx, v, o.Claims, read); err != nil {
		return nil, err
	}
	r.Judged = r.Judged.Only()
	r.chooseDownloads(g.items)
	if err := r.load(ctx, g.items, read); err != nil {
		return nil, err
	}
	for _, it := range r.Items {
		for _, i := range upstream(nodes, []int{it.Index}) {
			if x := g.used[i]; x.done {
				it.Used.Add(x.took, x.used)
			}
			if why, failed := o.Failed[i]; failed {
				it.Failed = append(it.Failed, nodes[i].Address+": "+why)
			}
		}
	}
	r.Book = g.book
	if r.Rebuilt, err = attested(ctx, g.book, nodes, g.stands); err != nil {
		return nil, err
	}
	r.Picture = g.picture(r.Items)
	r.Timeline = g.timeline()
	r.Left.Envs = g.otherEnvs.Steps
	r.Left.Curves += g.curves // less the curves that were read
	r.Runs = slices.Sorted(maps.Keys(g.runs))
	slices.Reverse(r.Runs)
	for _, key := range slices.Sorted(maps.Keys(g.envs)) {
		r.Envs = append(r.Envs, *g.envs[key])
	}
	slices.SortStableFunc(r.Envs, func(a, b Environment) int { return cmp.Compare(b.Steps, a.Steps) })
	for _, b := range g.blocks {
		r.Blocks = append(r.Blocks, *b)
		r.Took += b.Took
		r.Used.Join(b.Used)
		r.Bytes += b.Bytes
	}
	shown := map[string]int{} // 1 for blocks that links point to, at most mostRows
	for _, n := range nodes {
		if n.Detailed {
			shown[address.Of(n.Address).Block()] = 1
		}
	}
	longest := func(a, b Block) int { return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Address, b.Address)) }
	slices.SortFunc(r.Blocks, func(a, b Block) int { return cmp.Or(shown[b.Address]-shown[a.Address], longest(a, b)) })
	r.Left.Blocks = max(0, len(r.Blocks)-mostRows)
	r.Blocks = r.Blocks[:min(len(r.Blocks), mostRows)]
	slices.SortFunc(r.Blocks, longest)
	r.Left.Counts = g.counted - lists.Count(nodes, func(n Node) bool { return len(n.Counts) > 0 })
	r.Judged.Part = o.Paper.Part
	r.Other = slices.ContainsFunc(r.Judged.Items, func(it expect.Item) bool { return it.Other })
	r.Tally = r.Judged.Tally() // also of items that are not shown
	if err := r.addFiles(); err != nil {
		return nil, err
	}
	r.Left.Files = max(0, len(r.Files)-mostRows)
	r.Files = r.Files[:min(len(r.Files), mostRows)]
	r.Items = withLeftOut(r.Items, v.Plan)
	return r, nil
}

const downloadKind = "download" // the kind of the steps that download files

// addFiles lists the files of downloads, and the tree of each source block in one row.
func (r *Report) addFiles() error {
	for i, n := range r.Nodes {
		if n.Kind != downloadKind && n.Kind != declare.SourceKind {
			continue
		}
		var c struct {
			URLs, Names   []string
			Path, License string
		}
		if err := json.Unmarshal(n.config, &c); err != nil {
			return fmt.Errorf("%s: %w", n.Address, err)
		}
		add := func(url string, of artifacts.File, has bool) {
			f := SourceFile{Step: n.Address, URL: Unplaced(url), License: c.License, Index: i, Size: -1}
			if has {
				f.SHA256, f.Size = of.Digest.Hex(), of.Size
			}
			r.Files = append(r.Files, f)
		}
		files := outputsOf(n.result)["files"]
		if n.Kind == declare.SourceKind {
			add(c.Path, artifacts.File{Digest: files.Digest, Size: files.Size}, n.result != nil)
		}
		for k, u := range c.URLs {
			var file artifacts.File
			var has bool
			if k < len(c.Names) {
				file, has = files.File(c.Names[k])
			}
			add(fetch.Redact(u), file, has)
		}
	}
	return nil
}
