package collection

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/nq"
	"github.com/redsi/redsi/internal/unpack"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// fieldsConfig samples the two formats for the fields they have.
type fieldsConfig struct {
	Full       step.Inputs `hcl:"full" accepts:"files" help:"files in the full format"`
	Simplified step.Inputs `hcl:"simplified,optional" accepts:"files" help:"files in the simplified format"`
	Lines      int         `hcl:"lines,optional" help:"records of each file that are looked at"`
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
	Outputs:  []step.Output{{Name: "report", Type: "nq/fields", Help: "per field and format: ✓ or –, and counts, as JSON"}},
	Defaults: fieldsConfig{Lines: 100},
	Run: func(_ context.Context, x *step.IO, c fieldsConfig) error {
		rep := map[string]any{}
		for name, ins := range map[string]step.Inputs{"full": c.Full, "simplified": c.Simplified} {
			var counts nq.FieldCounts
			for _, in := range ins {
				for _, f := range x.Files(in, name) {
					if err := sampleFields(x, f, c.Lines, &counts); err != nil {
						return err
					}
				}
			}
			fields := map[string]string{}
			for _, f := range nq.AllFields {
				if counts.With[f] > 0 {
					fields[string(f)] = "✓"
				} else if counts.Records > 0 {
					fields[string(f)] = "–"
				}
			}
			rep[name] = map[string]any{"fields": fields, "counts": counts}
			x.Count(name+"_records", counts.Records)
		}
		return inout.WriteJSON(x, "report", rep)
	},
})

func sampleFields(x *step.IO, f artifacts.File, lines int, into *nq.FieldCounts) error {
	r, err := x.OpenFile(f)
	if err != nil {
		return err
	}
	defer r.Close()
	z, err := unpack.Open(r)
	if err != nil {
		return inout.DataError(fmt.Errorf("%s: %w", f.Name, err))
	}
	defer z.Close()
	b := bufio.NewReaderSize(z, 1<<20)
	for n := 1; n <= lines; n++ {
		line, err := b.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if cerr := into.Count(line); cerr != nil {
				return step.Permanent(fmt.Errorf("%s, line %d: %w", f.Name, n, cerr))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return inout.DataError(fmt.Errorf("%s, line %d: %w", f.Name, n, err))
		}
	}
	return nil
}
