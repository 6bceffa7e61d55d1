package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/system/fault"
)

// modelFlags are the flags of verbs that search with a trained model.
type modelFlags struct {
	model                      string
	results                    int
	constrained, unconstrained bool
	options                    search.Options
}

func (m *modelFlags) add(a *app, cmd *cobra.Command) {
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&m.model, "model", "m", "", `train step whose model to use: step.train.NAME["key"]; optional if only one is trained`)
	f.IntVarP(&m.results, "results", "k", 10, "documents shown per query, at most as many as beams")
	f.IntVar(&m.options.Beams, "beams", 40, "beam width of the search")
	f.BoolVar(&m.constrained, "constrained", true, "generate only identifiers of the collection, so that every beam is a document")
	f.BoolVar(&m.unconstrained, "unconstrained", false, "generate over the whole vocabulary, as the paper's main evaluation does; hypotheses that are not identifiers are left out")
	f.StringVar(&m.options.Device, "device", "auto", "cpu, cuda, cuda:1 …; auto: the first card, even if in use, else the CPU")
}

func (m *modelFlags) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("constrained") && cmd.Flags().Changed("unconstrained"):
		return fault.Input(errors.New("give either --constrained or --unconstrained, not both"))
	case m.options.Beams < 1:
		return fault.Input(fmt.Errorf("--beams %d: at least 1 is needed", m.options.Beams))
	case m.results < 1:
		return fault.Input(fmt.Errorf("-k %d: at least 1 is needed", m.results))
	case m.results > m.options.Beams:
		return fault.Input(fmt.Errorf("-k %d: %d beams find at most %d documents; use --beams %d", m.results, m.options.Beams, m.options.Beams, m.results))
	}
	for _, p := range device.Check(m.options.Device) {
		return fault.Input(fmt.Errorf("--device %s: %s", m.options.Device, p.Detail))
	}
	m.options.Unconstrained = m.unconstrained || !m.constrained
	return nil
}

// present reports, before anything is fetched, if the requested card does not exist.
func present(name string, look func() (device.CUDA, error)) error {
	number, ok := strings.CutPrefix(name, "cuda")
	if !ok {
		return nil
	}
	c, err := look()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(cmp.Or(strings.TrimPrefix(number, ":"), "0"))
	switch {
	case c.Cards == 0:
		return fault.Input(fmt.Errorf("--device %s: no card found: %s", name, c.Why))
	case err != nil || n >= c.Cards:
		return fault.Input(fmt.Errorf("--device %s: this process has %s, from cuda:0 on; CUDA_VISIBLE_DEVICES may hide others", name, view.Count(c.Cards, "card")))
	}
	return nil
}

// openModel finds a trained model, fetches its files and opens it.
func (a *app) openModel(ctx context.Context, m modelFlags) (*trained, *engine, error) {
	t, err := a.findModel(ctx, m.model)
	if err != nil {
		return nil, nil, err
	}
	if err := present(m.options.Device, func() (device.CUDA, error) { return a.secondProgram().Cards(ctx) }); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	cards, err := a.cards(ctx, t)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	f, done, err := a.modelFiles(ctx, t)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	e, err := a.openEngine(ctx, f, done, cards, m.options)
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	about := e.About()
	a.Log.Info("model opened", "step", t.Address, "identifiers", about.Identifiers, "documents", about.Documents,
		"device", about.Device, "search", about.Explain(), "took", view.Seconds(time.Since(start)))
	return t, e, nil
}

// modelFiles are verified local files of a model, its tokenizer and identifiers. done removes
// the folder with the model's files.
func (a *app) modelFiles(ctx context.Context, t *trained) (f search.Files, done func(), err error) {
	for name, path := range map[string]*string{"ids": &f.IDs, "tokenizer": &f.Tokenizer} {
		art, err := t.input(name)
		if err != nil {
			return f, nil, err
		}
		if *path, err = a.localFile(ctx, t.store, art); err != nil {
			return f, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	f.Model, err = os.MkdirTemp("", "redsi-model-")
	if err != nil {
		return f, nil, err
	}
	done = func() {
		if err := os.RemoveAll(f.Model); err != nil {
			a.Log.Warn("a temporary folder was left behind", "path", f.Model, "err", err)
		}
	}
	if err := a.stage(ctx, t.store, t.result().Outputs["model"], f.Model); err != nil {
		done()
		return f, nil, fmt.Errorf("model: %w", err)
	}
	return f, done, nil
}

// localFile is a verified local file of a single-file artifact.
func (a *app) localFile(ctx context.Context, store artifacts.Store, art artifacts.Artifact) (string, error) {
	d := art.Digest
	if art.Files != nil {
		if len(art.Files) != 1 {
			return "", fmt.Errorf("it must be a single file, but is %d files", len(art.Files))
		}
		d = art.Files[0].Digest
	}
	return artifacts.Fetch(ctx, store.Blobs, d, a.CacheDir())
}

// stage links verified local files into a folder under their names in a tree.
func (a *app) stage(ctx context.Context, store artifacts.Store, tree artifacts.Artifact, folder string) error {
	for _, file := range tree.Files {
		path, err := artifacts.Fetch(ctx, store.Blobs, file.Digest, a.CacheDir())
		if err != nil {
			return err
		}
		if err := artifacts.Link(folder, file.Name, path); err != nil {
			return err
		}
	}
	return nil
}
