package collection

import (
	"bytes"
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// fieldsConfig samples the two formats for the fields they have.
type fieldsConfig struct {
	Full       step.Inputs `hcl:"full" accepts:"files" help:"files in the full format"`
	Simplified step.Inputs `hcl:"simplified,optional" accepts:"files" help:"files in the simplified format"`
	Lines      int         `hcl:"lines,optional" help:"how many records of each file are read"`
}

// fieldsReport is what each format has.
type fieldsReport struct {
	Full       formatFields `json:"full"`
	Simplified formatFields `json:"simplified"`
}

type formatFields struct {
	Counts nq.FieldCounts      `json:"counts"`
	Fields map[nq.Field]string `json:"fields"` // ✓ or –; without records none
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
			for _, in := range to.ins {
				for _, f := range x.Files(in, name) {
					if err := sampleFields(x, f, c.Lines, &to.into.Counts); err != nil {
						return err
					}
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
