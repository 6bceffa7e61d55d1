package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Trace is where a number comes from or, with only address and steps, a step.
type Trace struct {
	Address string         `json:"address"`
	Cell    string         `json:"cell,omitempty"`
	Value   *float64       `json:"value,omitempty"` // not rounded, before the column's scale
	Typed   string         `json:"typed,omitempty"` // Value as its file has it, if a float64 is written differently
	Std     *float64       `json:"std,omitempty"`
	N       int            `json:"n,omitempty"`
	Text    string         `json:"text,omitempty"`
	Check   *render.Check  `json:"check,omitempty"`
	Claims  []expect.Claim `json:"claims,omitempty"` // about this cell
	Sources []Source       `json:"sources"`
	Steps   []Node         `json:"steps"` // all steps that it depends on, nearest first
}

// UnknownCell is the error for a name that is not a cell of the results.
type UnknownCell struct{ Name, Why string }

func (e *UnknownCell) Error() string { return e.Name + ": " + e.Why }

// TraceCell traces ADDRESS:CELL, a table's ROW.COLUMN or a figure's SERIES.POINT.x or y, to its sources.
func TraceCell(ctx context.Context, v *plan.Preview, claims []pipeline.Claim, read Reader, name string) (*Trace, error) {
	item, cell, ok := address.Cell(name)
	if !ok {
		return nil, &UnknownCell{name, "write table.NAME:ROW.COLUMN or figure.NAME:SERIES.POINT.y"}
	}
	nodes, it, err := renderedItem(ctx, v, read, item)
	if err != nil {
		return nil, err
	}
	var c render.Cell
	if it.Table != nil {
		_, c, err = it.Table.Find(cell)
	} else {
		c, _, err = it.Figure.Find(cell)
	}
	if err != nil {
		return nil, &UnknownCell{name, err.Error()}
	}
	t := &Trace{Address: item, Cell: cell, Value: c.Value, Typed: c.Typed, Std: c.Std, N: c.N, Text: c.Text, Sources: sources(nodes, it.Index, c.Inputs)}
	judged, err := expect.Judge(ctx, v, claims, read)
	if err != nil {
		return nil, err
	}
	it.Checks = judged.Of(it.Index)
	t.Check = it.ofCells()[cell]
	for i, c := range claims {
		if slices.Contains(c.Cells, name) {
			t.Claims = append(t.Claims, judged.Claims[i])
		}
	}
	t.Steps = behind(nodes, lists.Map(t.Sources, func(s Source) int { return s.Index }))
	return t, nil
}

func behind(nodes []Node, from []int) []Node {
	return lists.Map(upstream(nodes, from), func(i int) Node { return nodes[i] })
}

// TraceStep traces a step, or the instances of a block, to everything that it comes from.
func TraceStep(v *plan.Preview, target string) (*Trace, error) {
	nodes, err := Nodes(v)
	if err != nil {
		return nil, err
	}
	named := lists.Filter(lists.Places(len(nodes)), func(i int) bool { return plan.Matches(target, nodes[i].Address) })
	from := lists.Filter(named, func(i int) bool { return v.Items[i].Result != nil })
	switch {
	case len(named) == 0:
		return nil, &UnknownCell{target, "there is no such step, table or figure"}
	case len(from) == 0:
		return nil, &NotRunError{Address: target}
	}
	return &Trace{Address: target, Sources: []Source{}, Steps: behind(nodes, from)}, nil
}

// ReadPackages reads the packages of the environments that the steps ran in.
func (t *Trace) ReadPackages(ctx context.Context, open func(context.Context, artifacts.Digest) (io.ReadCloser, error)) (err error) {
	packages := map[artifacts.Digest][]environment.Package{}
	for i := range t.Steps {
		f, ok := environment.ListOf(t.Steps[i].result)
		if !ok {
			continue
		}
		list, read := packages[f.Digest]
		if !read {
			if list, err = environment.ReadList(ctx, f, open); err != nil {
				return fmt.Errorf("the packages of %s: %w", t.Steps[i].Address, err)
			}
			packages[f.Digest] = list
		}
		t.Steps[i].Packages = list
	}
	return nil
}

// ReadFields adds to a cell's sources the fields that the configuration reads for it, and sorts sources with the same
// bytes so that the read one comes first.
func (t *Trace) ReadFields(v *plan.Preview, kinds *step.Registry) error {
	for _, s := range v.Plan.Steps {
		if s.Address != t.Address {
			continue
		}
		tree, err := s.Task.Tree()
		if err != nil {
			return err
		}
		reads, err := kinds.Lookup(s.Task.Kind).Reads(tree)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Address, err)
		}
		for _, r := range reads {
			if !slices.Contains(r.Of, t.Cell) || r.Input.Ref == nil {
				continue
			}
			for i, from := range t.Sources {
				if from.Step == r.Input.Ref.Step && from.Output == r.Input.Ref.OutputName() && !slices.Contains(from.Fields, r.Field()) {
					t.Sources[i].Fields = append(from.Fields, r.Field())
				}
			}
		}
	}
	slices.SortStableFunc(t.Sources, func(x, y Source) int {
		if x.Digest != y.Digest {
			return 0
		}
		return cmp.Compare(min(len(y.Fields), 1), min(len(x.Fields), 1))
	})
	seen := map[string]bool{}
	for i, s := range t.Sources {
		t.Sources[i].Same = seen[s.Digest]
		seen[s.Digest] = true
	}
	return nil
}
