package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// publishOptions say what is published.
type publishOptions struct {
	without    string // "": all blobs
	over       int64  // leave out larger blobs; 0: none
	incomplete bool
	dry        bool
	url        string // where readers will find it
}

func newPublishCmd(a *app) *cobra.Command {
	var o publishOptions
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
readers would have to run are listed.`,
		Example: `  redsi publish public
  redsi publish public --target table.dedup_counts --without-blobs-over 100MB
  redsi publish public --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.without != "" {
				var err error
				if o.over, err = sizeOf("--without-blobs-over", o.without, "100MB"); err != nil {
					return err
				}
			}
			if strings.Contains(args[0], "://") {
				return fault.Input(fmt.Errorf("%s is not a folder: publish into one and copy it to where it is served; `%s` copies results between stores", args[0], a.hint("push", args[0])))
			}
			return a.publish(cmd.Context(), args[0], o)
		},
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	a.fromFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.without, "without-blobs-over", "", "leave out files over this `SIZE` that readers can download")
	f.BoolVar(&o.incomplete, "incomplete", false, "publish even if results are missing, or files without an address are left out")
	f.StringVar(&o.url, "url", "", "address that the folder will have, for index.html")
	f.BoolVarP(&o.dry, "dry-run", "n", false, "say what would be written, write nothing")
	return cmd
}

// publication is what is published and what is left out.
type publication struct {
	Folder  string                `json:"folder"`
	Tables  int                   `json:"tables"`
	Figures int                   `json:"figures"`
	Signer  string                `json:"signer,omitempty"`
	Signed  int                   `json:"signed"`
	Left    []unpublished         `json:"left_out"`
	Must    []string              `json:"readers_run"` // steps that readers would have to run
	Hosts   []string              `json:"hosts"`       // named in the records
	Done    artifacts.Transferred `json:"transferred"`
	DryRun  bool                  `json:"dry_run"`
	All     int                   `json:"results"`           // in the folder
	Rebuilt string                `json:"rebuilt,omitempty"` // by whom, as text
	skipped map[int]bool
	must    []bool
	keys    []artifacts.Digest
	out     map[artifacts.Digest]bool
}

// unpublished is a blob that is not published.
type unpublished struct {
	Step   string           `json:"step"`
	Name   string           `json:"name"`
	Digest artifacts.Digest `json:"digest"`
	Size   int64            `json:"size"`
	URL    string           `json:"url,omitempty"` // where readers fetch it
}

// needed are the steps that readers must have: without targets, tables, figures and what they
// need. Other steps are published if they have results.
func (a *app) needed(pl *plan.Plan) ([]bool, error) {
	needed := make([]bool, len(pl.Steps))
	found := false
	for i := len(pl.Steps) - 1; i >= 0; i-- { // readers of a step come after it
		if len(a.Targets) > 0 || isRendered(pl.Steps[i].Address) {
			needed[i], found = true, true
		}
		if needed[i] {
			for _, d := range pl.Steps[i].Deps {
				needed[d] = true
			}
		}
	}
	if !found {
		return nil, fault.Input(errors.New("the pipeline has neither tables nor figures: say what to publish with --target"))
	}
	return needed, nil
}

func (a *app) publish(ctx context.Context, folder string, o publishOptions) error {
	p, err := a.Load(ctx)
	if err != nil {
		return err
	}
	a.variables = shownVariables(p)
	pl, err := a.planOf(ctx, p, a.File, a.Targets)
	if err != nil {
		return err
	}
	needed, err := a.needed(pl)
	if err != nil {
		return err
	}
	if err := foreignPages(folder); err != nil {
		return err
	}
	index, err := readPublication(folder)
	if err != nil {
		return fault.Input(err)
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	g, err := a.gather(ctx, store, pl)
	if err != nil {
		return err
	}
	v, err := a.previewOf(ctx, store, pl, g.Keep)
	if err != nil {
		return err
	}
	if err := a.sayDown(store, mayHave(v, nil)); err != nil {
		return err
	}
	pub := &publication{Folder: folder, Left: []unpublished{}, Must: []string{}, Hosts: []string{}, DryRun: o.dry, skipped: map[int]bool{}, out: map[artifacts.Digest]bool{}}
	if err := pub.choose(ctx, a, store, v, o); err != nil {
		return err
	}
	if err := pub.check(a, v, needed, o); err != nil {
		return err
	}
	to, err := openOther(ctx, folder, true, o.dry)
	if err != nil {
		return fault.Input(err)
	}
	if to.URL == store.URL {
		return fault.Input(fmt.Errorf("%s is the store itself: publish into another folder", folder))
	}
	from := store
	if !o.dry {
		if err := a.bring(ctx, store, v, func(i int) bool { return !pub.skipped[i] }); err != nil {
			return err
		}
		from = store.Own()
	}
	if err := a.copyOut(ctx, from, to, pub); err != nil {
		return err
	}
	if !o.dry {
		if err := artifacts.ListAbout(ctx, to, pub.keys); err != nil { // a static host lists nothing
			return err
		}
		if err := index.write(folder, v, pub.skipped); err != nil {
			return err
		}
		if err := a.writePages(ctx, store, to, g, v, p, pub, o); err != nil {
			return err
		}
	}
	if a.JSON {
		return view.WriteJSON(a.Out, pub)
	}
	a.printPublication(pub, o)
	return nil
}

// choose lists what is published: each hit, except those with a blob left out that readers
// cannot fetch.
func (pub *publication) choose(ctx context.Context, a *app, store artifacts.Store, v *plan.Preview, o publishOptions) error {
	elsewhere, err := addressesOf(v.Plan)
	if err != nil {
		return err
	}
	hosts := map[string]bool{}
	var hits []int
	for i, it := range v.Items {
		if it.Outcome == plan.Hit {
			hits = append(hits, i)
		} else {
			pub.skipped[i] = true
		}
		switch block := pipeline.BlockType(v.Plan.Steps[i].Address); {
		case it.Outcome != plan.Hit:
		case block == "table":
			pub.Tables++
		case block == "figure":
			pub.Figures++
		}
	}
	for some := range slices.Chunk(hits, incomingMost) {
		results, err := resultsAt(ctx, store, v, some)
		if err != nil {
			return err
		}
		away, err := awayOf(ctx, store, results)
		if err != nil {
			return err
		}
		for n, i := range some {
			r := results[n]
			if r == nil {
				return fmt.Errorf("%s: its result has gone since it was looked up; publish again", v.Plan.Steps[i].Address)
			}
			if host := r.Env["host"]; host != "" {
				hosts[host] = true
			}
			pub.leaveOut(v.Plan.Steps[i].Address, i, r, elsewhere, away, o.over)
			if !pub.skipped[i] {
				pub.keys = append(pub.keys, v.Items[i].Key)
			}
		}
	}
	pub.Hosts = append(pub.Hosts, slices.Sorted(maps.Keys(hosts))...)
	must := make([]bool, len(v.Items)) // the keys of such a step's readers are known only once it has run
	pub.must = must
	for i, s := range v.Plan.Steps {
		if must[i] = pub.skipped[i] || slices.ContainsFunc(s.Deps, func(d int) bool { return must[d] }); must[i] {
			pub.Must = append(pub.Must, s.Address)
		}
	}
	return nil
}

// awayOf says where to find blobs of the own store's results that it lacks.
func awayOf(ctx context.Context, store artifacts.Store, results []*artifacts.Result) (map[artifacts.Digest]string, error) {
	var all []artifacts.Digest
	for _, r := range results {
		if r != nil && r.From == "" {
			all = slices.AppendSeq(all, maps.Keys(r.Sizes()))
		}
	}
	found, _, err := store.Away(ctx, all)
	away := make(map[artifacts.Digest]string, len(found))
	for _, e := range found {
		away[e.Digest] = e.URL
	}
	return away, err
}

// leaveOut records the blobs of a result that are too large to publish, and those that are
// elsewhere.
func (pub *publication) leaveOut(address string, i int, r *artifacts.Result, elsewhere, away map[artifacts.Digest]string, over int64) {
	if over == 0 && len(away) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		x := r.Outputs[name]
		files := x.Files
		if files == nil {
			files = []artifacts.File{{Name: "", Digest: x.Digest, Size: x.Size}}
		}
		for _, f := range files {
			if (over == 0 || f.Size <= over) && away[f.Digest] == "" {
				continue
			}
			url := cmp.Or(away[f.Digest], elsewhere[f.Digest])
			if url == "" {
				pub.skipped[i] = true
			}
			if !pub.out[f.Digest] {
				pub.Left = append(pub.Left, unpublished{Step: address, Name: strings.TrimSuffix(name+"/"+f.Name, "/"), Digest: f.Digest, Size: f.Size, URL: url})
				pub.out[f.Digest] = true
			}
		}
	}
}

// check refuses a publication that readers could not use in full.
func (pub *publication) check(a *app, v *plan.Preview, needed []bool, o publishOptions) error {
	if o.incomplete {
		if len(pub.keys) == 0 {
			return fault.Input(errors.New("nothing to publish has a result: " + a.hint("run", targetArgs(a.Targets)...)))
		}
		return nil
	}
	missing, of, first := 0, 0, ""
	for i, it := range v.Items {
		if needed[i] {
			of++
		}
		if !needed[i] || it.Outcome == plan.Hit {
			continue
		}
		if missing++; first == "" {
			first = v.Plan.Steps[i].Address
		}
	}
	if missing > 0 {
		return fault.Input(fmt.Errorf("%d of %d steps have no result, such as %s, so readers would have to run them: run them first, or publish without them with --incomplete", missing, of, first))
	}
	var names []string
	for _, l := range pub.Left {
		if l.URL == "" {
			names = append(names, fmt.Sprintf("  %s of %s, %s", l.Name, l.Step, view.Size(l.Size)))
		}
	}
	if len(names) > 0 {
		again := 0
		for i, must := range pub.must {
			if must && needed[i] {
				again++
			}
		}
		const most = 10
		more := ""
		if len(names) > most {
			more = fmt.Sprintf("\n  and %d more", len(names)-most)
		}
		return fault.Input(fmt.Errorf("%s over %s that no step downloads from an https address with a digest:\n%s%s\nWithout them readers would have to run %s; --incomplete leaves them out anyway",
			view.Count(len(names), "file"), o.without, strings.Join(names[:min(most, len(names))], "\n"), more, view.Count(again, "step")))
	}
	return nil
}

// foreignPages refuses a folder whose pages redsi publish did not write.
func foreignPages(folder string) error {
	for _, name := range []string{"index.html", "report.html"} {
		path := filepath.Join(folder, name)
		b, err := os.ReadFile(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return fault.Input(err)
		case !strings.Contains(string(b[:min(len(b), 4096)]), pageMark):
			return fault.Input(fmt.Errorf("%s was not written by redsi publish and would be overwritten: publish into a folder of its own", path))
		}
	}
	return nil
}

// writePages writes the report, the page about the folder, and the file that keeps some hosts
// from running a site generator on it.
func (a *app) writePages(ctx context.Context, store, to artifacts.Store, g *report.Gatherer, v *plan.Preview, p *pipeline.Pipeline, pub *publication, o publishOptions) error {
	r, err := g.Build(ctx, v, store.Blobs.Open, report.Options{Store: "this folder", Paper: p.Paper, Claims: p.Claims})
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(pub.Folder, "report.html"), 0o644, marked(r.HTML)); err != nil {
		return err
	}
	keys, err := artifacts.ResultKeys(ctx, to)
	if err != nil {
		return err
	}
	pub.All, pub.Rebuilt = len(keys), r.Rebuilt.Words()
	if err := atomicfile.Write(filepath.Join(pub.Folder, "index.html"), 0o644, a.indexPage(p, r, pub, o)); err != nil {
		return err
	}
	none := filepath.Join(pub.Folder, ".nojekyll")
	if _, err := os.Lstat(none); err == nil {
		return nil
	}
	return atomicfile.WriteFile(none, nil, 0o644)
}
