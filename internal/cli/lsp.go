package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lsp"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/testfile"
)

func newLSPCmd(a *app) *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Language server for editors: diagnostics, completion, hover with HIT and RUN, definitions, formatting",
		Long: `A language server for pipeline files, over standard input and output. Editors
start it; docs/pipelines.md has their configurations. It checks what is being typed
like ` + "`redsi validate`" + `, and looks up results in the store without starting
anything. Flags set variables, as for other verbs. It ends with its client.`,
		Example: `  redsi lsp
  redsi lsp --var scale=toy --store s3://bucket/prefix`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := a.given()
			if err != nil {
				return err
			}
			mods := a.reader(a.File)
			mods.Accept = func(string) error { return nil } // only pinned repositories: nothing is fetched for what is being typed
			return lsp.Serve(cmd.Context(), os.Stdin, a.Out, lsp.Options{
				Load:    a.options(cmd.Context(), g, mods),
				Version: revision.Of(), Log: a.Log, Outcomes: a.outcomes,
				Local: a.localVariables, CheckOther: a.checkOther,
			})
		},
	}
	f := cmd.Flags()
	a.variableFlags(cmd)
	a.fromFlags(cmd)
	f.BoolVar(&stdio, "stdio", true, "accepted for editors that pass it; standard input and output are always used")
	return cmd
}

// localVariables are those of the settings next to an editor's pipeline; none if they are
// invalid, which the editor shows in their file.
func (a *app) localVariables(folder string) []pipeline.File {
	l, _, _ := a.localOf(folder)
	return l.Variables
}

// checkOther checks a file next to pipelines.
func (a *app) checkOther(name string, src []byte) (ds pipeline.Diagnostics) {
	if filepath.Base(name) == pipeline.LocalFile {
		_, ds = pipeline.ParseLocal(name, src, "")
	} else {
		_, ds = testfile.Parse(name, src)
	}
	return ds
}

// outcomes looks up the results of an editor's pipeline, as plan does. Relative folders start
// from the one that the editor has open. A store that does not exist yet is not created.
func (a *app) outcomes(ctx context.Context, root, file string, p *pipeline.Pipeline) (map[string]lsp.Outcome, error) {
	within := func(path string) string {
		if filepath.IsAbs(path) || strings.Contains(path, "://") {
			return path
		}
		return filepath.Join(root, path)
	}
	b := &app{Registry: a.Registry, Out: a.Err, Err: a.Err, Log: a.Log, StateDir: within(a.StateDir), StoreURL: within(a.StoreURL), secrets: p.Secrets, whose: p.Results}
	b.others.trust, b.others.untrusted, b.others.from = a.others.trust, a.others.untrusted, slices.Clone(a.others.from)
	for i, address := range b.others.from {
		b.others.from[i] = within(address)
	}
	if l, ds, err := a.localOf(projectDir(file)); err == nil && !ds.HasErrors() {
		b.local = l
		if l.State != "" && a.unset("state", "REDSI_STATE") {
			b.StateDir = l.beside(l.State)
		}
		if a.unset("store", "REDSI_STORE") {
			b.StoreURL = cmp.Or(l.beside(l.Store), filepath.Join(b.StateDir, "store"))
		}
	}
	pl, err := b.planOf(ctx, p, file, nil)
	if err != nil {
		return nil, err
	}
	own := mem.New()
	if _, err := os.Stat(b.StoreURL); err == nil || strings.Contains(b.StoreURL, "://") {
		if own, err = b.openOwn(ctx); err != nil {
			return nil, err
		}
	}
	store, err := b.withOthers(ctx, own)
	if err != nil {
		return nil, err
	}
	out := map[string]lsp.Outcome{}
	v, err := b.previewOf(ctx, store, pl, func(i int, it *plan.Item) bool {
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
