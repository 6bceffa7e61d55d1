package collection

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// formatExampleConfig shows one example in both published formats.
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
	Check: func(c formatExampleConfig) error {
		if _, err := strconv.ParseInt(c.ExampleID, 10, 64); err != nil && c.ExampleID != "" {
			return step.Problem{Path: "example_id", Detail: "is not a whole number"}
		}
		return nil
	},
	Run: func(ctx context.Context, x *step.IO, c formatExampleConfig) error {
		id := c.ExampleID
		simplified, err := findLine(ctx, x, "simplified", c.Simplified, &id)
		if err != nil {
			return err
		}
		full, err := findLine(ctx, x, "full", c.Full, &id)
		if err != nil {
			return err
		}
		rep := formatExampleReport{ExampleID: id}
		if rep.Full, err = c.abridged(x, "full", id, full); err != nil {
			return err
		}
		if rep.Simplified, err = c.abridged(x, "simplified", id, simplified); err != nil {
			return err
		}
		return inout.WriteJSON(x, "report", rep)
	},
})

// formatExampleReport has the example's two texts.
type formatExampleReport struct {
	ExampleID  string                `json:"example_id"`
	Full       inout.Example[string] `json:"full"`
	Simplified inout.Example[string] `json:"simplified"`
}

// abridged is a line as it is shown, or, if the format's files have none, absent.
func (c formatExampleConfig) abridged(x *step.IO, format, id string, line []byte) (inout.Example[string], error) {
	if line == nil {
		return inout.ExampleOf(x, "", fmt.Errorf("no %s file has example %s", format, id)), nil
	}
	var b strings.Builder
	if err := (nq.Abridged{Items: c.Items, Characters: c.Characters}).Print(&b, line); err != nil {
		return inout.Example[string]{}, step.Permanent(fmt.Errorf("%s, example %s: %w", format, id, err))
	}
	return inout.ExampleOf(x, b.String(), nil), nil
}

// findLine reads files until the example, or, with an empty id, the first line,
// whose id it then sets; nil if none has it.
func findLine(ctx context.Context, x *step.IO, name string, ins step.Inputs, id *string) ([]byte, error) {
	for _, in := range ins {
		for _, f := range x.Files(in, name) {
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
	}
	if *id == "" {
		return nil, step.Permanent(fmt.Errorf("the %s files have no records", name))
	}
	return nil, nil
}
