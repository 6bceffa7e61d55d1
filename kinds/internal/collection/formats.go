package collection

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

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
	Run: func(ctx context.Context, x *step.IO, c compareConfig) error {
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
		return inout.WriteReport(x, rep, map[string]int{"both": rep.Both, "same": rep.Same,
			"differ": rep.Both - rep.Same, "only_full": rep.Full - rep.Both, "only_simplified": rep.OnlySimplified})
	},
})

type fieldsConfig struct {
	Full       step.Inputs `hcl:"full" accepts:"files" help:"files in the full format"`
	Simplified step.Inputs `hcl:"simplified,optional" accepts:"files" help:"files in the simplified format"`
	Lines      int         `hcl:"lines,optional" help:"how many records of each file are read"`
}

type fieldsReport struct {
	Full       formatFields `json:"full"`
	Simplified formatFields `json:"simplified"`
}

type formatFields struct {
	Counts nq.FieldCounts      `json:"counts"`
	Fields map[nq.Field]string `json:"fields"` // ✓ or –; empty without records
}

var Fields = step.Define(step.Kind[fieldsConfig]{
	Name:    "format_fields",
	Version: 1,
	Doc: `Find which fields each format of Natural Questions has (tab:nq-format-fields).
Looks at the first records of each file; a field counts as there if any of them
has it.`,
	Example: `step "format_fields" "nq" {
  full       = step.download.nq["dev"].files
  simplified = step.download.nq["simplified"].files
}`,
	Outputs:  []step.Output{{Name: "report", Type: "nq/fields", Help: "per field and format: ✓ or –, and counts, as JSON", Fields: step.FieldsOf[fieldsReport]()}},
	Defaults: fieldsConfig{Lines: 100},
	Run: func(_ context.Context, x *step.IO, c fieldsConfig) error {
		var rep fieldsReport
		for name, to := range map[string]struct {
			ins  step.Inputs
			into *formatFields
		}{"full": {c.Full, &rep.Full}, "simplified": {c.Simplified, &rep.Simplified}} {
			for _, f := range inout.Files(x, to.ins, inout.Called(name)) {
				if err := sampleFields(x, f, c.Lines, &to.into.Counts); err != nil {
					return err
				}
			}
			to.into.Fields = to.into.Counts.Marks()
			x.Count(name+"_records", to.into.Counts.Records)
		}
		return inout.WriteJSON(x, "report", rep)
	},
})

func sampleFields(x *step.IO, f artifacts.File, lines int, into *nq.FieldCounts) error {
	if lines < 1 {
		return nil
	}
	return eachLine(x, f, nil, func(n int, line []byte) (bool, error) {
		if len(bytes.TrimSpace(line)) > 0 {
			if err := into.Count(line); err != nil {
				return false, step.Permanent(fmt.Errorf("%s, line %d: %w", f.Name, n, err))
			}
		}
		return n < lines, nil
	})
}

type formatExampleConfig struct {
	Full       step.Inputs `hcl:"full" accepts:"files" help:"files in the full format"`
	Simplified step.Inputs `hcl:"simplified" accepts:"files" help:"files in the simplified format"`
	ExampleID  string      `hcl:"example_id,optional" help:"example to show; default: the first of the simplified files"`
	Items      int         `hcl:"items,optional" min:"1" help:"items shown of each list"`
	Characters int         `hcl:"characters,optional" min:"1" help:"code points shown of each string"`
}

var FormatExample = step.Define(step.Kind[formatExampleConfig]{
	Name:    "format_example",
	Version: 1,
	Doc: `Show one example as both formats have it (fig:nq-format-example).
Pretty-printed, lists and strings cut. Reads the files until the example is
found; a format whose files do not have it says so.`,
	Example: `step "format_example" "nq" {
  full       = step.download.nq["train"].files
  simplified = step.download.nq["simplified"].files
  example_id = "6915606477668963399"
}`,
	Outputs:  []step.Output{{Name: "report", Type: "nq/example", Help: "example_id, and full and simplified as text, as JSON", Fields: step.FieldsOf[formatExampleReport]()}},
	Defaults: formatExampleConfig{Items: 1, Characters: 160},
	Check: inout.Checks(func(c formatExampleConfig, ps *step.Problems) {
		_, err := strconv.ParseInt(c.ExampleID, 10, 64)
		inout.Check(ps, "example_id", err == nil || c.ExampleID == "", "is not an integer")
	}),
	Run: func(ctx context.Context, x *step.IO, c formatExampleConfig) error {
		rep := formatExampleReport{ExampleID: c.ExampleID}
		err := c.show(ctx, x, "simplified", c.Simplified, &rep.ExampleID, &rep.Simplified)
		if err == nil {
			err = c.show(ctx, x, "full", c.Full, &rep.ExampleID, &rep.Full)
		}
		if err != nil {
			return err
		}
		return inout.WriteJSON(x, "report", rep)
	},
})

type formatExampleReport struct {
	ExampleID  string                `json:"example_id"`
	Full       inout.Example[string] `json:"full"`
	Simplified inout.Example[string] `json:"simplified"`
}

// show finds an example in a format's files, and sets to to its line, cut, or to absent.
func (c formatExampleConfig) show(ctx context.Context, x *step.IO, format string, files step.Inputs, id *string, to *inout.Example[string]) error {
	line, err := findLine(ctx, x, format, files, id)
	if err != nil {
		return err
	}
	var lacks error
	var b strings.Builder
	if line == nil {
		lacks = fmt.Errorf("no %s file has example %s", format, *id)
	} else if err := (nq.Abridged{Items: c.Items, Characters: c.Characters}).Print(&b, line); err != nil {
		return step.Permanent(fmt.Errorf("%s, example %s: %w", format, *id, err))
	}
	*to = inout.ExampleOf(x, b.String(), lacks)
	return nil
}

// findLine reads files until the example or, with an empty id, the first, whose id it sets; nil if no file has it.
func findLine(ctx context.Context, x *step.IO, name string, ins step.Inputs, id *string) ([]byte, error) {
	for _, f := range inout.Files(x, ins, inout.Called(name)) {
		var found []byte
		wanted := func(has string) bool { return *id == "" || has == *id }
		err := eachLine(x, f, wanted, func(n int, line []byte) (bool, error) {
			if has, ok := nq.ExampleID(line); ok {
				if *id == "" {
					*id = strconv.FormatInt(has, 10)
				}
				if strconv.FormatInt(has, 10) == *id {
					found = bytes.Clone(bytes.TrimSpace(line))
					return false, nil
				}
			}
			x.Report(step.Progress{Done: int64(n), Unit: "records", Note: f.Name})
			return true, ctx.Err()
		})
		if err != nil || found != nil {
			return found, err
		}
	}
	if *id == "" {
		return nil, step.Permanent(fmt.Errorf("the %s files have no records", name))
	}
	return nil, nil
}
