package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/lsp"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/testfile"
)

func newLSPCmd(a *app) *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors: mistakes, completion, hover with HIT and RUN, definitions, formatting",
		Long: `A language server for pipeline files, over standard input and output. Editors
start it; docs/editors.md has their configurations. It checks what is being typed
as ` + "`redsi validate`" + ` does, and looks results up in the store without starting
anything. Flags give variables their values, as for other verbs. It ends with its
client.`,
		Example: `  redsi lsp
  redsi lsp --var scale=toy --store s3://bucket/prefix`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			vars, files, err := a.given()
			if err != nil {
				return err
			}
			mods := a.reader(a.File)
			mods.Accept = func(string) error { return nil } // what is typed is not fetched: repositories are those that are pinned
			return lsp.Serve(cmd.Context(), os.Stdin, a.Out, lsp.Options{
				Load:    a.options(cmd.Context(), vars, files, mods),
				Version: revision(), Log: a.Log, Outcomes: a.outcomes,
				CheckTest: func(name string, src []byte) pipeline.Diagnostics { _, ds := testfile.Parse(name, src); return ds },
			})
		},
	}
	f := cmd.Flags()
	a.variableFlags(cmd)
	f.BoolVar(&stdio, "stdio", true, "for editors that pass it; standard input and output are always used")
	return cmd
}

// outcomes looks up the results of an editor's pipeline. Relative folders are of the one
// that the editor has open. A store that is not there yet is not made.
func (a *app) outcomes(ctx context.Context, root, file string, p *pipeline.Pipeline) (map[string]lsp.Outcome, error) {
	within := func(path string) string {
		if filepath.IsAbs(path) || strings.Contains(path, "://") {
			return path
		}
		return filepath.Join(root, path)
	}
	b := &app{Registry: a.Registry, Out: a.Err, Err: a.Err, Log: a.Log, StateDir: within(a.StateDir), StoreURL: within(a.StoreURL), secrets: p.Secrets}
	pl, err := b.planOf(ctx, p, file, nil)
	if err != nil {
		return nil, err
	}
	lookup := func(context.Context, []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return nil, nil
	}
	if _, err := os.Stat(b.StoreURL); err == nil || strings.Contains(b.StoreURL, "://") {
		store, err := b.openStore(ctx)
		if err != nil {
			return nil, err
		}
		lookup = func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
			return artifacts.LookupMany(ctx, store, keys)
		}
	}
	out := map[string]lsp.Outcome{}
	v, err := pl.Follow(ctx, b.Registry, lookup, func(i int, it *plan.Item) bool {
		out[pl.Steps[i].Address] = lsp.Outcome{Word: "HIT", Finished: it.Result.Finished, Took: it.Took}
		return false
	})
	if err != nil {
		return nil, err
	}
	for i, it := range v.Items {
		if it.Outcome != plan.Hit {
			out[pl.Steps[i].Address] = lsp.Outcome{Word: strings.ToUpper(string(it.Outcome))}
		}
	}
	return out, nil
}
