package expect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
)

// Reader opens a blob; the bytes are verified to their end.
type Reader func(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error)

// MostRead bounds an output that is read into memory.
const MostRead = 16 << 20

// ReadOutput reads a small output of a result.
func ReadOutput(ctx context.Context, r *artifacts.Result, output string, read Reader) ([]byte, error) {
	a, ok := r.Outputs[output]
	if !ok || a.Files != nil {
		return nil, fmt.Errorf("its result has no output %q", output)
	}
	if a.Size > MostRead { // opening it may copy all of it from another store
		return nil, fmt.Errorf("its output %q has %d bytes; at most %d are read", output, a.Size, MostRead)
	}
	rc, err := read(ctx, a.Digest)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(rc, MostRead+1))
	if err == nil && len(b) > MostRead {
		err = fmt.Errorf("its output %q has more than the %d bytes that are read", output, MostRead)
	}
	return b, err
}

// Check is a comparison, and where its expectation is written.
type Check struct {
	render.Check
	Pos pipeline.Pos `json:"at"`
}

// Item is a table or figure with the checks of its cells.
type Item struct {
	Address string  `json:"address"`
	Paper   string  `json:"paper,omitempty"`
	Scale   string  `json:"scale,omitempty"`
	Other   bool    `json:"-"` // its scale differs from the paper's
	Done    bool    `json:"done"`
	Checks  []Check `json:"checks"`

	asked asked
	cells interface { // a *render.Table or *render.Figure, until claims about it are judged; nil: not run
		Expect(...render.Expectation) ([]render.Check, error)
		CellAt(name string) (render.Cell, render.Format, error)
		Named() []render.Named
	}
}

// asked is what a plan's table or figure expects of its cells; keys and preimages do not have it.
type asked struct {
	Paper, Scale string
	PaperScale   string `json:"paper_scale"`
	Expect       []render.Expectation
	Series       []struct {
		ID    string
		Curve json.RawMessage
	}
}

func (a asked) curves() (ids []string) {
	for _, s := range a.Series {
		if len(s.Curve) > 0 {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// placeOf returns where expectation i is written: its block, or the attribute that lists all.
func placeOf(at map[string]pipeline.Pos, block pipeline.Pos, i int) pipeline.Pos {
	return cmp.Or(at[fmt.Sprintf("expect[%d]", i)], at["expect"], block)
}

// Judged has the verdicts on all expectations of a plan's tables, figures and claims.
type Judged struct {
	Items  []Item  `json:"items"`
	Claims []Claim `json:"claims"`
	Part   string  `json:"-"` // the part of the paper that this is, as its block says; "": all

	index map[int]int     // of Items by place in the plan
	left  map[string]bool // addresses of tables and figures that the plan leaves out
}

// Judge compares a preview's results with expectations; it holds the tables and figures that claims name to the end.
func Judge(ctx context.Context, v *plan.Preview, claims []pipeline.Claim, read Reader) (*Judged, error) {
	named := lists.Set(slices.Concat(lists.Map(claims, pipeline.Claim.Items)...))
	j := &Judged{Items: []Item{}, Claims: []Claim{}, index: map[int]int{}, left: map[string]bool{}}
	items := map[string]*Item{}
	for i, s := range v.Plan.Steps {
		if !s.IsRendered() {
			continue
		}
		it, err := judgeItem(ctx, v, i, read)
		if err != nil {
			return nil, err
		}
		if named[s.Address] {
			items[s.Address] = it
		}
		j.index[i] = len(j.Items)
		j.Items = append(j.Items, *it)
		j.Items[len(j.Items)-1].cells = nil
	}
	for _, s := range v.Plan.Skipped {
		j.left[s.Address] = true
	}
	for _, c := range claims {
		judged, err := judgeClaim(c, items)
		if err != nil {
			return nil, fmt.Errorf("%s: claim %q: %w", c.Pos, c.Name, err)
		}
		j.Claims = append(j.Claims, judged)
	}
	return j, nil
}

// Of returns the checks of the table or figure at a place of the plan.
func (j *Judged) Of(index int) []render.Check {
	n, ok := j.index[index]
	if !ok {
		return nil
	}
	return lists.Map(j.Items[n].Checks, func(c Check) render.Check { return c.Check })
}

func judgeItem(ctx context.Context, v *plan.Preview, i int, read Reader) (*Item, error) {
	s := v.Plan.Steps[i]
	it := &Item{Address: s.Address, Checks: []Check{}}
	if err := it.load(ctx, s.Task.Config, v.Items[i].Result, read); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Address, err)
	}
	for n, e := range it.asked.Expect {
		checks, err := it.judge(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		pos := placeOf(s.AttrPos, s.Pos, n)
		for _, c := range checks {
			it.Checks = append(it.Checks, Check{c, pos})
		}
	}
	return it, nil
}

// Result compares a result of a table or figure with the expectations of a configuration, which need not be its own:
// expectations of cells that the result lacks are left out.
func Result(ctx context.Context, address string, config []byte, r *artifacts.Result, read Reader) (checks []render.Check, err error) {
	it := &Item{Address: address}
	if err := it.load(ctx, config, r, read); err != nil {
		return nil, err
	}
	for _, e := range it.asked.Expect {
		if more, err := it.judge(e); err == nil {
			checks = append(checks, more...)
		}
	}
	return checks, nil
}

func (it *Item) load(ctx context.Context, config []byte, r *artifacts.Result, read Reader) error {
	if err := json.Unmarshal(config, &it.asked); err != nil {
		return err
	}
	it.Paper, it.Scale, it.Other = it.asked.Paper, it.asked.Scale, !render.AtPaperScale(it.asked.Scale, it.asked.PaperScale)
	if it.Done = r != nil; it.Done {
		return it.read(ctx, r, read)
	}
	return nil
}

func (it *Item) read(ctx context.Context, r *artifacts.Result, read Reader) error {
	b, err := ReadOutput(ctx, r, "json", read)
	if err != nil {
		return err
	}
	it.cells = &render.Figure{PaperScale: it.asked.PaperScale, Curves: it.asked.curves()}
	if address.Of(it.Address).Type() == "table" {
		it.cells = &render.Table{PaperScale: it.asked.PaperScale}
	}
	return json.Unmarshal(b, it.cells)
}

// judge compares an item with an expectation; for an item that has not run, it says what will be compared.
func (it *Item) judge(e render.Expectation) ([]render.Check, error) {
	if it.cells == nil {
		return e.Planned(it.asked.Paper, it.asked.Scale, it.asked.PaperScale), nil
	}
	return it.cells.Expect(e)
}

// cell finds a cell of the item; a cell of an item that has not run has no value.
func (it *Item) cell(name string) (render.Cell, render.Format, error) {
	if it.cells == nil {
		return render.Waiting(name)
	}
	return it.cells.CellAt(name)
}

// Touched returns the claims about cells of any of the tables and figures.
func Touched(claims []pipeline.Claim, addresses ...string) []pipeline.Claim {
	return lists.Filter(claims, func(c pipeline.Claim) bool {
		return slices.ContainsFunc(c.Items(), func(address string) bool { return slices.Contains(addresses, address) })
	})
}
