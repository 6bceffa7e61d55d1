package evaluate

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// cellsOf is what claims see of a table or figure: its cells, each with its own name as ADDRESS:CELL; unknown after an error.
func (f *frame) cellsOf(n *declare.Node) cty.Value {
	b, st := n.Block, f.of(n)
	if st.cells != cty.NilVal {
		return st.cells
	}
	st.cells = cty.DynamicVal
	if b.Spec == nil || len(st.steps) == 0 || slices.ContainsFunc(st.steps, func(s Step) bool { return s.Pending() }) {
		return st.cells
	}
	instances := map[string]cty.Value{}
	for _, s := range st.steps {
		names, err := b.Spec.Cells(s.tree())
		if err != nil {
			return st.cells // reported
		}
		cells := make(map[string]cty.Value, len(names))
		declared := make(map[string]bool, len(names))
		for _, name := range names {
			cells[name] = cty.StringVal(s.Address + ":" + name)
			declared[s.Address+":"+name] = true
		}
		f.cellNames[s.Address] = declared
		instances[s.Key] = cty.ObjectVal(cells)
	}
	if st.cells = instances[""]; b.ForEach != nil {
		st.cells = cty.ObjectVal(instances)
	}
	return st.cells
}

// cells reports names of cells that the block expects and no table or figure to which it refers has.
func (c *stepReader) cells(tree map[string]any) {
	names, err := c.Spec.CellNames(tree)
	if err != nil {
		c.Problems(err)
		return
	}
	for _, n := range names {
		item, _, _ := address.Cell(n.Cell)
		declared := c.f.cellNames[item]
		if declared[n.Cell] {
			continue
		}
		at := schema.ParsePath(n.Attr)
		detail := fmt.Sprintf(`%q is not a cell. Write table.NAME["ROW.COLUMN"] or figure.NAME["SERIES.POINT.y"].`, n.Cell)
		if declared != nil {
			detail = fmt.Sprintf("%s has no such cell. %s", item, syntax.Suggest(n.Cell, syntax.Keys(declared), "cell"))
		}
		c.Fail(at, c.Locate(at), "Unknown cell", detail)
	}
}

func (f *frame) claims() (list []Claim) {
	for _, n := range f.decl.Nodes {
		if n.Block == nil || n.Block.Type != "claim" {
			continue
		}
		for _, s := range f.of(n).steps {
			if s.Pending() {
				continue
			}
			c := Claim{Name: n.Block.Name, Config: s.Task.Config, Pos: s.Pos, AttrPos: s.AttrPos}
			if n.Block.ForEach != nil {
				c.Name += fmt.Sprintf("[%q]", s.Key)
			}
			if c.LeftOut = f.leftOut(n); len(c.LeftOut) == 0 {
				names, err := n.Block.Spec.CellNames(s.tree())
				if err != nil {
					panic(err) // cells has looked
				}
				c.Cells = lists.Map(names, func(name step.CellName) string { return name.Cell })
			}
			list = append(list, c)
		}
	}
	return list
}
