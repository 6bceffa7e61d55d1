package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/session/model"
	"github.com/redsi/redsi/internal/system/fault"
)

// modelFlags are the flags of verbs that search with a trained model.
type modelFlags struct {
	model   string
	results int
	options search.Options
}

func (m *modelFlags) add(a *app, cmd *cobra.Command) {
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&m.model, "model", "m", "", `train step whose model to use: step.train.NAME["key"]; optional if only one is trained`)
	f.IntVarP(&m.results, "results", "k", 10, "documents shown per query, at most as many as beams")
	f.IntVar(&m.options.Beams, "beams", 40, "beam width of the search")
	f.BoolVar(&m.options.Unconstrained, "unconstrained", false, "generate over the whole vocabulary, as the paper's main evaluation does; hypotheses that are not identifiers are left out")
	f.StringVar(&m.options.Device, "device", "auto", "cpu, cuda, cuda:1 …; auto: the first card, even if in use, else the CPU")
}

func (m *modelFlags) check() error {
	switch {
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
	return nil
}

// openModel finds a trained model, fetches its files and opens it.
func (a *app) openModel(ctx context.Context, m modelFlags) (*model.Trained, *model.Engine, error) {
	t, err := model.Of(ctx, a.Session, m.model)
	if err != nil {
		return nil, nil, err
	}
	if err := model.Present(m.options.Device, func() (device.CUDA, error) { return a.SecondProgram().Cards(ctx) }); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	cards, err := t.Cards(ctx, a.modelPlace())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	f, done, err := t.Files(ctx, a.modelPlace())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	e, err := model.OpenEngine(ctx, a.SecondProgram(), f, done, cards, m.options)
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	about := e.About()
	a.Log.Info("model opened", "step", t.Address, "identifiers", about.Identifiers, "documents", about.Documents,
		"device", about.Device, "search", about.Explain(), "took", view.Seconds(time.Since(start)))
	return t, e, nil
}

// modelPlace is where copies of a model's files are kept.
func (a *app) modelPlace() model.Place { return model.Place{Cache: a.CacheDir(), Log: a.Log} }
