package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/publish"
	"github.com/redsi/redsi/internal/sharing/transfer"
	"github.com/redsi/redsi/internal/system/fault"
)

func newPublishCmd(a *app) *cobra.Command {
	var o publish.Options
	var over size
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Write tables, figures and everything behind them as a folder that any web server can serve",
		Long: `Write tables, figures and everything behind them as a folder that any web server can serve.

The folder has the layout of a store: anyone with the pipeline can pass its address to
--from, and each step whose result is there is a HIT. It also has report.html, index.html,
a page on how to use it, and index.json, the key of each step's result. Without --target, all tables and figures are published with what they need, and
other steps that have results. Existing files are not written again, so an interrupted publication can be continued and extended; other files in the
folder stay.

With a key (redsi key new) each result is signed, so that readers who trust the key can use
the folder wherever it is served. Run records and failures are not published. Records of
results name the machines that made them.

--without-blobs-over leaves out large files that steps download: their address and digest
are published instead, and readers fetch them from there. Other large files are refused,
since they have no address; with --incomplete they are left out as well, and the steps that
readers would have to run are listed. Files of tables and figures are always published.`,
		Example: `  redsi publish public
  redsi publish public --target table.dedup_counts --without-blobs-over 100MB
  redsi publish public --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Folder, o.Targets, o.Over, o.Limit = args[0], a.Targets, over.n, over.text
			if strings.Contains(args[0], "://") {
				return fault.Input(fmt.Errorf("%s is not a folder: publish into one and copy it to where it is served; `%s` copies results between stores", args[0], a.hint("push", args[0])))
			}
			pub, err := a.publish(cmd.Context(), o)
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, pub)
			}
			view.Publication(a.Out, pub, a.hint)
			return nil
		},
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	a.fromFlags(cmd)
	f := cmd.Flags()
	over.flag(f, "without-blobs-over", "100MB", "leave out files over this `SIZE` that readers can download")
	f.BoolVar(&o.Incomplete, "incomplete", false, "publish even if results are missing, or files without an address are left out")
	f.StringVar(&o.URL, "url", "", "address that the folder will have, for index.html")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "say what would be written, write nothing")
	return cmd
}

func (a *app) publish(ctx context.Context, o publish.Options) (*publish.Publication, error) {
	pl, p, err := a.LoadPlan(ctx)
	if err != nil {
		return nil, err
	}
	pub, err := publish.New(pl, o)
	if err != nil {
		return nil, err
	}
	store, err := a.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	g, err := a.gather(ctx, store, pl)
	if err != nil {
		return nil, err
	}
	v, err := a.PreviewOf(ctx, store, pl, g.Keep)
	if err != nil {
		return nil, err
	}
	if err := a.SayDown(store, session.MayHave(v, nil)); err != nil {
		return nil, err
	}
	results := func(ctx context.Context, steps []int) ([]*artifacts.Result, error) {
		return session.ResultsAt(ctx, store, v, steps)
	}
	if err := pub.Choose(ctx, store, v, results); err != nil {
		return nil, err
	}
	if err := pub.Check(v); errors.Is(err, publish.ErrNothing) {
		return nil, fault.Input(fmt.Errorf("%w: %s", err, a.hint("run", targetArgs(a.Targets)...)))
	} else if err != nil {
		return nil, err
	}
	to, err := transfer.Open(ctx, o.Folder, true, o.DryRun)
	if err != nil {
		return nil, fault.Input(err)
	}
	if to.URL == store.URL {
		return nil, fault.Input(fmt.Errorf("%s is the store itself: publish into another folder", o.Folder))
	}
	if o.DryRun {
		return pub, a.copyOut(ctx, store, to, pub)
	}
	if err := a.Bring(ctx, store, v, pub.Publishes); err != nil {
		return nil, err
	}
	if err := a.copyOut(ctx, store.Own(), to, pub); err != nil {
		return nil, err
	}
	if err := pub.WriteIndex(ctx, to, v); err != nil {
		return nil, err
	}
	r, err := g.Build(ctx, v, store.Blobs.Open, report.Options{Store: "this folder", Paper: p.Paper, Claims: p.Claims})
	if err != nil {
		return nil, err
	}
	return pub, pub.WritePages(ctx, to, r, p)
}

// copyOut copies what is published, and signs it with the user's key, if there is one.
func (a *app) copyOut(ctx context.Context, from, to artifacts.Store, pub *publish.Publication) error {
	k, err := a.Signer()
	if err != nil {
		return err
	}
	m := a.newMeter("written", 0)
	err = pub.Copy(ctx, from, to, m.add)
	m.close()
	if err != nil || k == nil || pub.DryRun {
		return err
	}
	return pub.Sign(ctx, to, k)
}
