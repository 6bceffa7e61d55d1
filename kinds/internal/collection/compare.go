package collection

import (
	"context"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// compareConfig checks the two published formats against each other.
type compareConfig struct {
	Full       step.Inputs `hcl:"full" accepts:"nq/records" help:"records of the full format"`
	Simplified step.Inputs `hcl:"simplified" accepts:"nq/records" help:"records of the simplified format"`
	Examples   int         `hcl:"examples,optional" help:"how many differing records to show"`
}

var Compare = step.Define(step.Kind[compareConfig]{
	Name:    "compare_formats",
	Version: 1,
	Doc: `Check that the full and the simplified format agree on each example.
Where a step reads both, the full record is what counts: this recomputes the
simplified one from it (document_text is document_tokens joined by blanks) and
compares. Cost: reading both once; memory is 50 bytes a record.`,
	Example: `step "compare_formats" "train" {
  full       = step.extract.train.records
  simplified = step.extract.train_simplified.records
}`,
	Outputs:  []step.Output{{Name: "report", Type: "nq/comparison", Help: "how many examples both have, are the same or differ, and where, as JSON", Fields: step.FieldsOf[nq.FormatReport]()}},
	Defaults: compareConfig{Examples: 20},
	Run:      runCompare,
})

func runCompare(ctx context.Context, x *step.IO, c compareConfig) error {
	f := nq.NewFormats(c.Examples)
	each := func(ins step.Inputs, visit func(*nq.Record) error) error {
		return eachRecord(ctx, x, ins, func(r *nq.Record) error { return step.Permanent(visit(r)) })
	}
	if err := each(c.Full, f.AddFull); err != nil {
		return err
	}
	if err := each(c.Simplified, f.AddSimplified); err != nil {
		return err
	}
	if f.Differ() {
		if err := each(c.Full, f.Show); err != nil {
			return err
		}
	}
	rep := f.Report()
	return inout.WriteReport(x, rep, map[string]int{"both": rep.Both, "same": rep.Same, "differ": rep.Both - rep.Same,
		"only_full": rep.Full - rep.Both, "only_simplified": rep.OnlySimplified})
}
