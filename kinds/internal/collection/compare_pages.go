package collection

import (
	"context"

	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// comparePagesConfig checks two tables of revisions against each other.
type comparePagesConfig struct {
	A        step.Input `hcl:"a" accepts:"wikipedia/pages" help:"one table, such as a pages step's"`
	B        step.Input `hcl:"b" accepts:"wikipedia/pages" help:"another table, such as a page_table step's"`
	Examples int        `hcl:"examples,optional" help:"how many revisions of each kind to show"`
}

var ComparePages = step.Define(step.Kind[comparePagesConfig]{
	Name:    "compare_pages",
	Version: 1,
	Inline:  true,
	Doc: `Check that two tables of revisions name the same pages.
Counts the revisions that both have, with the same page or another, and those that
only one has, with examples. Takes a second for all of NQ.`,
	Example: `step "compare_pages" "nq" {
  a = step.pages.nq.table
  b = step.page_table.nq.table
}`,
	Outputs:  []step.Output{{Name: "report", Type: "wikipedia/comparison", Help: "counts and examples, as JSON", Fields: step.FieldsOf[wikipedia.Comparison]()}},
	Defaults: comparePagesConfig{Examples: 20},
	Run: func(_ context.Context, x *step.IO, c comparePagesConfig) error {
		a, err := readPages(x, c.A, "a")
		if err != nil {
			return err
		}
		b, err := readPages(x, c.B, "b")
		if err != nil {
			return err
		}
		rep := wikipedia.Compare(a, b, c.Examples)
		return inout.WriteReport(x, rep, map[string]int{"same": rep.Same, "different": rep.Different, "only_a": rep.OnlyA,
			"only_b": rep.OnlyB})
	},
})
