package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/pipeline/lsp"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/pipeline/testfile"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/open"
)

func newLSPCmd(a *app) *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Language server for editors: diagnostics, completion, hover with HIT and RUN, definitions",
		Long: `It speaks over standard input and output. Editors start it; docs/pipelines.md has their
configurations. It checks what is being typed like ` + "`redsi validate`" + `, and looks up results in the
store without starting anything. Flags set variables, as for other verbs. It ends with its client.`,
		Example: `  redsi lsp
  redsi lsp --var scale=toy --store s3://bucket/prefix`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := a.Given()
			if err != nil {
				return err
			}
			mods := a.Reader(a.File)
			mods.Accept = func(string) error { return nil } // only pinned repositories: nothing is fetched for what is being typed
			return lsp.Serve(cmd.Context(), os.Stdin, a.Out, lsp.Options{
				Load:    a.Options(cmd.Context(), g, mods),
				Version: revision.Of(), Log: a.Log, Outcomes: a.outcomes,
				Local: func(folder string) []pipeline.File { // no variables if the settings are invalid: the editor shows that in their file
					l, _, _ := a.LocalOf(folder)
					return l.Variables
				},
				CheckOther: func(name string, src []byte) (ds pipeline.Diagnostics) {
					if filepath.Base(name) == syntax.LocalFile {
						_, ds = local.Parse(name, src, "")
					} else {
						_, ds = testfile.Parse(name, src)
					}
					return ds
				},
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&stdio, "stdio", true, "accepted for editors that pass it; standard input and output are always used")
	return with(cmd, a.variableFlags, a.fromFlags)
}

// outcomes looks up the results of an editor's pipeline, as plan does. Relative folders start from the folder that the editor has
// open. It does not create the store.
func (a *app) outcomes(ctx context.Context, root, file string, p *pipeline.Pipeline) (map[string]lsp.Outcome, error) {
	within := func(path string) string { return open.Beside(root, path) }
	b := session.Session{Talk: session.Quiet{}, Registry: a.Registry, Log: a.Log, StateDir: within(a.StateDir), StoreURL: within(a.StoreURL), Secrets: p.Secrets, Results: p.Results}
	b.Others.Trust, b.Others.Untrusted, b.Others.From = a.Others.Trust, a.Others.Untrusted, slices.Clone(a.Others.From)
	for i, address := range b.Others.From {
		b.Others.From[i] = within(address)
	}
	if l, ds, err := a.LocalOf(session.ProjectDir(file)); err == nil && !ds.HasErrors() {
		b.Local = l
		if l.State != "" && a.unset("state", "REDSI_STATE") {
			b.StateDir = l.Beside(l.State)
		}
		if a.unset("store", "REDSI_STORE") {
			b.StoreURL = cmp.Or(l.Beside(l.Store), filepath.Join(b.StateDir, "store"))
		}
	}
	pl, err := b.PlanOf(ctx, p, file, nil)
	if err != nil {
		return nil, err
	}
	own := mem.New()
	folder := open.Folder(b.StoreURL)
	if _, err := os.Stat(folder); err == nil || folder == "" {
		at, err := b.OpenOwn(ctx)
		if err != nil {
			return nil, err
		}
		own = at.Own
	}
	store, err := b.WithOthers(own)
	if err != nil {
		return nil, err
	}
	out := map[string]lsp.Outcome{}
	v, err := b.PreviewOf(ctx, store, pl, func(i int, it *plan.Item) bool { // no result is kept
		out[pl.Steps[i].Address] = lsp.Outcome{Word: "HIT", Finished: it.Result.Finished, Took: it.Took}
		return false
	})
	if err != nil {
		return nil, err
	}
	for i, s := range v.Todo() {
		out[s.Address] = lsp.Outcome{Word: strings.ToUpper(string(v.Items[i].Outcome))}
	}
	return out, nil
}
