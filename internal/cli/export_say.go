package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/fault"
)

// exportTo writes an archive and says what is in it.
func (a *app) exportTo(cmd *cobra.Command, o archiveOptions) error {
	if cmd.Flags().Changed("namespace") {
		return fault.Input(fmt.Errorf("--namespace can be used only with --hub"))
	}
	x, err := a.exportArchive(cmd.Context(), o)
	if err != nil {
		return err
	}
	if a.JSON {
		return view.WriteJSON(a.Out, x)
	}
	view.Printf(a.Out, "%s  %s, %s: %s of %s, %s of %s, %s of the pipeline\n", x.Archive, view.Size(x.Size), x.Digest, view.Count(x.Results, "result"),
		view.Count(x.Steps, "step"), view.Count(x.Blobs, "blob"), view.Size(x.Bytes), view.Count(x.Files, "file"))
	if x.Signer != "" {
		view.Printf(a.Out, "signed by %s\n", x.Signer)
	} else {
		view.Printf(a.Out, "not signed: a reader cannot tell who made it\n")
	}
	for i, l := range x.LeftOut {
		if i == mostNamed {
			view.Printf(a.Out, "%d more steps have files left out: --json lists all\n", len(x.LeftOut)-i)
			break
		}
		where := "a reader runs it again"
		if from := l.Fetched(); from != "" {
			where = "a reader fetches it from " + from
		}
		view.Printf(a.Out, "left out: %s of %s, %s; %s\n", view.Count(l.Blobs, "file"), l.Step, view.Size(l.Bytes), where)
	}
	if n := len(x.Missing); n > 0 {
		view.Printf(a.Out, "%s no result and are not in it: %s\n", view.Count(n, "step")+map[bool]string{true: " has", false: " have"}[n == 1], a.hint("run", targets(x.Missing)...))
	}
	for _, n := range x.Notes {
		view.Printf(a.Out, "note: %s\n", n)
	}
	if len(x.Upload) > 0 {
		view.Printf(a.Out, "%s  metadata for Zenodo; to upload a draft, with a token in ZENODO_TOKEN:\n", x.Deposit)
		for _, c := range x.Upload {
			view.Printf(a.Out, "  %s\n", c)
		}
	}
	return nil
}
