package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/session/model"
	"github.com/redsi/redsi/internal/system/fault"
)

// searchBatch is how many queries are answered together.
const searchBatch = 32

func newSearchCmd(a *app) *cobra.Command {
	var m modelFlags
	cmd := &cobra.Command{
		Use:   "search [--model STEP] [QUERY …]",
		Short: "Search with a trained model, and show the documents that it returns",
		Long: `Documents are shown with title, identifier and first words. Queries are arguments, or lines of
standard input. The model, its identifiers, tokenizer and texts come from the store, verified;
nothing is trained or run.

By default the search is constrained: only identifiers of the collection are generated, so every
beam is a document. --unconstrained searches the whole vocabulary, as the paper's main evaluation
does. All atomic identifiers are scored, so there is nothing to constrain.

Documents are ranked by score: the log-probability of the identifier divided by its number of
tokens. The percentage is the probability itself.`,
		Example: `  redsi search "who sings love will keep us alive"
  redsi search --model 'step.train.dsi["title/nci_norm/tiny/atomic/42"]' -k 3 "who sings it"
  echo "who sings it" | redsi search --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.check(); err != nil {
				return err
			}
			queries, err := a.queries(cmd.InOrStdin(), args)
			if err != nil {
				return err
			}
			t, e, err := a.openModel(cmd.Context(), m)
			if err != nil {
				return err
			}
			return errors.Join(a.search(cmd.Context(), t, e, queries, m.results), e.Close())
		},
	}
	m.add(a, cmd)
	return cmd
}

// queries are the arguments or, without any, the lines of standard input.
func (a *app) queries(in io.Reader, args []string) ([]string, error) {
	if len(args) > 0 {
		queries, err := search.Queries(args)
		if err != nil {
			return nil, fault.Input(err)
		}
		return queries, nil
	}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return nil, fault.Input(errors.New("give a query as an argument, or several, one per line, on standard input"))
	}
	queries, empty, err := search.ReadQueries(in)
	if err != nil {
		return nil, fault.Input(err)
	}
	if empty > 0 {
		a.Log.Info("empty lines are left out", "lines", empty)
	}
	return queries, nil
}

// search answers the queries and prints the answers, in text form as they come.
func (a *app) search(ctx context.Context, t *model.Trained, e *model.Engine, queries []string, k int) error {
	report := search.Found{Model: t.Address, Search: e.About()}
	start := time.Now()
	invalid := 0
	for part := range slices.Chunk(queries, searchBatch) {
		answers, err := e.Search(ctx, part, k)
		if err != nil {
			return err
		}
		for i, x := range answers {
			s := search.Answered{Query: part[i], Results: x.Hits, Invalid: x.Invalid, Truncated: x.Truncated}
			if x.Truncated {
				a.Log.Warn("the model reads only the beginning of a query", "query", part[i])
			}
			if invalid += x.Invalid; a.JSON {
				report.Answers = append(report.Answers, s)
			} else {
				view.Answer(a.Out, a.style(a.Out), s, answerWidth(terminal(a.Out)))
			}
		}
	}
	took := time.Since(start)
	if a.JSON {
		report.TookMS = float64(took.Microseconds()) / 1000
		return view.WriteJSON(a.Out, report)
	}
	facts := []any{"queries", len(queries), "took", view.Seconds(took)}
	if invalid > 0 {
		facts = append(facts, "hypotheses_without_document", invalid)
	}
	a.Log.Info("answered", facts...)
	return nil
}

// answerWidth is how wide answers are shown: on a terminal of width columns, or elsewhere (0).
func answerWidth(columns int) int {
	if columns == 0 {
		return 100
	}
	return min(columns, 120)
}

// modelFlags are the flags of verbs that search with a trained model.
type modelFlags struct {
	model   string
	results int
	options search.Options
}

func (m *modelFlags) add(a *app, cmd *cobra.Command) {
	with(cmd, a.pipelineFlags, a.fromFlags)
	f := cmd.Flags()
	f.StringVarP(&m.model, "model", "m", "", `train step whose model to use: step.train.NAME["key"]; optional if only one is trained`)
	f.IntVarP(&m.results, "results", "k", 10, "documents shown per query, at most as many as beams")
	f.IntVar(&m.options.Beams, "beams", 40, "beam width of the search")
	f.BoolVar(&m.options.Unconstrained, "unconstrained", false, "generate over the whole vocabulary, as the paper's main evaluation does; hypotheses that are not identifiers are left out")
	f.StringVar(&m.options.Precision, "precision", "fp32", "of matrix products: fp32; bf16, faster on cards and on processors with instructions for it; or int8, faster still, on processors only")
	f.StringVar(&m.options.Device, "device", "auto", "cpu, cuda, cuda:1 …; auto: the first card, even if in use, else the CPU")
}

func (m *modelFlags) check() error {
	switch {
	case m.options.Beams < 1:
		return fault.Input(fmt.Errorf("--beams %d: at least 1 is needed", m.options.Beams))
	case !slices.Contains([]string{"fp32", "bf16", "int8"}, m.options.Precision):
		return fault.Input(fmt.Errorf("--precision %s: fp32, bf16 or int8", m.options.Precision))
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
	cards, err := t.Cards(ctx, a.modelCopies())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	f, done, err := t.Files(ctx, a.modelCopies())
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
		"device", about.Device, "precision", about.Precision, "search", about.Explain(), "took", view.Seconds(time.Since(start)))
	if about.Warning != "" {
		a.Log.Warn(about.Warning)
	}
	return t, e, nil
}

// modelCopies is where copies of a model's files are kept.
func (a *app) modelCopies() model.Copies { return model.Copies{Cache: a.CacheDir(), Log: a.Log} }
