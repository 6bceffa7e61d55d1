package cli

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/fault"
)

// Diagnostics prints those of a pipeline; an error if it cannot be used.
func (a *app) Diagnostics(ds pipeline.Diagnostics) error {
	if ds.HasErrors() && a.JSON {
		if err := view.WriteJSON(a.Out, map[string]any{"diagnostics": ds}); err != nil {
			return err
		}
		return fault.Printed(fault.CodeInput)
	}
	if err := a.printDiagnostics(ds); err != nil {
		return err
	}
	if ds.HasErrors() {
		return fault.Printed(fault.CodeInput)
	}
	return nil
}

// printDiagnostics prints diagnostics for people, with a count at the end.
func (a *app) printDiagnostics(ds pipeline.Diagnostics) error {
	if len(ds.List) == 0 {
		return nil
	}
	err := ds.Write(a.Err, pipeline.Style{Width: min(terminal(a.Err), 100), Color: a.style(a.Err).Color})
	if n, _ := ds.Count(); n > 0 {
		view.Printf(a.Err, "%s: %s\n", a.File, ds.Summary())
		undeclared := slices.ContainsFunc(ds.List, func(d *hcl.Diagnostic) bool { return strings.HasPrefix(d.Summary, "Undeclared ") })
		if around := pipeline.Around(a.File); undeclared && around != "" {
			view.Printf(a.Err, "%s was read alone. To read it as part of the pipeline in its folder: -f %s\n", a.File, around)
		}
	}
	return err
}
