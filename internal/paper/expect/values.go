package expect

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
)

const textKept = 120 // bounds the texts that Values writes: the beginning of a longer text stands for all of it

// Values writes the cells of a preview's tables and figures as CSV: the address, the cell, and its number as it is
// printed or its text, in the form that expect takes. It writes only cells that were read from artifacts, since a
// constant of the pipeline is evidence of nothing, and leaves out what the data do not have.
func Values(ctx context.Context, v *plan.Preview, read Reader, w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"block", "cell", "value", "text"}) // Error tells
	for i, s := range v.Plan.Steps {
		if !s.IsRendered() || v.Items[i].Result == nil {
			continue
		}
		it := &Item{Address: s.Address}
		if err := it.read(ctx, v.Items[i].Result, read); err != nil {
			return fmt.Errorf("%s: %w", s.Address, err)
		}
		for _, n := range it.named() {
			cell, format, err := it.cell(n)
			if err != nil || len(cell.Inputs) == 0 || cell.Absent != "" {
				continue
			}
			value, text := cell.Expected(format, textKept)
			if value != "" || text != "" {
				c.Write([]string{s.Address, n, value, text})
			}
		}
	}
	c.Flush()
	return c.Error()
}

func (it *Item) named() []string {
	names := lists.Map(it.cells.Named(), func(n render.Named) string { return n.Name })
	if f, ok := it.cells.(*render.Figure); ok {
		for i := range f.Panels {
			names = append(names, fmt.Sprintf("panels.%d", i))
		}
		for i := range f.Flow {
			names = append(names, fmt.Sprintf("flow.%d", i))
		}
	}
	return names
}
