package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/ranking/search/server"
	"github.com/redsi/redsi/internal/session/model"
	"github.com/redsi/redsi/internal/system/fault"
)

const searchBatch = 32

func newSearchCmd(a *app) *cobra.Command {
	var m modelFlags
	cmd := &cobra.Command{
		Use:   "search [--model STEP] [QUERY …]",
		Short: "Search with a trained model, and show the documents that it returns",
		Long: `Documents are shown with title, identifier and first words. Queries are arguments, or lines of standard
input. The model, its identifiers, tokenizer and texts come from the store, verified; nothing is trained or run.

By default the search is constrained: only identifiers of the collection are generated, so every
beam is a document. --unconstrained searches the whole vocabulary, as the paper's main evaluation
does. All atomic identifiers are scored, so there is nothing to constrain.

Documents are ranked by score: the log-probability of the identifier divided by its number of
tokens. The percentage is the probability itself.`,
		Example: `  redsi search "who sings love will keep us alive"
  redsi search --model 'step.train.dsi["title/nci_norm/tiny/atomic/42"]' -k 3 "who sings it"
  echo "who sings it" | redsi search --json`,
		Args: cobra.ArbitraryArgs,
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
			defer e.Close()
			return a.search(cmd.Context(), t, e, queries, m.results)
		},
	}
	m.add(a, cmd)
	return cmd
}

// queries are the arguments or, without any, the lines of standard input.
func (a *app) queries(in io.Reader, args []string) ([]string, error) {
	if len(args) > 0 {
		queries, err := search.Queries(args)
		return queries, fault.Input(err)
	}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return nil, fault.Input(errors.New("give a query as an argument, or several, one per line, on standard input"))
	}
	queries, empty, err := search.ReadQueries(in)
	if empty > 0 {
		a.Log.Info("empty lines are left out", "lines", empty)
	}
	return queries, fault.Input(err)
}

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
			s := search.Answered{Query: part[i], Answer: x}
			if x.Truncated {
				a.Log.Warn("the model reads only the beginning of a query", "query", part[i])
			}
			if invalid += x.Invalid; a.JSON {
				report.Answers = append(report.Answers, s)
			} else {
				view.Answer(a.Out, a.style(a.Out), s, min(cmp.Or(terminal(a.Out), 100), 120))
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
	atLeast(cmd, 1, "beams", "results")
}

func (m *modelFlags) check() error {
	switch {
	case !slices.Contains([]string{"fp32", "bf16", "int8"}, m.options.Precision):
		return fault.Input(fmt.Errorf("--precision %s: want fp32, bf16 or int8", m.options.Precision))
	case m.results > m.options.Beams:
		return fault.Input(fmt.Errorf("-k %d: %d beams find at most %d documents; use --beams %d", m.results, m.options.Beams, m.options.Beams, m.results))
	}
	for _, p := range device.Check(m.options.Device) {
		return fault.Input(fmt.Errorf("--device %s: %s", m.options.Device, p.Detail))
	}
	return nil
}

func (a *app) openModel(ctx context.Context, m modelFlags) (*model.Trained, *model.Engine, error) {
	t, err := model.Of(ctx, a.Session, m.model)
	if err != nil {
		return nil, nil, err
	}
	if err := model.Present(m.options.Device, func() (device.CUDA, error) { return a.SecondProgram().Cards(ctx) }); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	e, err := t.Engine(ctx, a.SecondProgram(), m.options)
	if err != nil {
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

func newServeCmd(a *app) *cobra.Command {
	var m modelFlags
	var listen string
	var limits server.Limits
	var o server.Options
	cmd := &cobra.Command{
		Use:   "serve [--model STEP]",
		Short: "Serve search with a trained model: a page for people and JSON for programs, until Ctrl-C",
		Long: `It serves over HTTP, on this machine only unless --listen says otherwise. There is no login: anyone
who can reach the address may search.

  GET /                    a page
  GET /search?q=…&k=10     {"query", "took_ms", "results": [{"rank", "score",
                           "probability", "title", "identifier", "document", "text"}]}
  GET /healthz             200 while the server is up

An error is {"status", "error"}. Queries that arrive while the model is busy are answered in batches. A query that
would have to wait longer than --within, or with more than --queue others, gets 503 with Retry-After at once.

Requests must be made to localhost, to the address itself, or to a name given with --allow-host, so
that other web pages cannot send queries from a reader's browser.`,
		Example: `  redsi serve --model 'step.train.dsi["title/nci_norm/tiny/atomic/42"]'
  curl 'http://127.0.0.1:8080/search?q=who+sings&k=3'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.check(); err != nil {
				return err
			}
			return a.serve(cmd.Context(), m, listen, limits, o)
		},
	}
	m.add(a, cmd)
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8080", "address to serve at; port 0: any free one")
	f.StringArrayVar(&o.Hosts, "allow-host", nil, "host name that requests may use, besides localhost and the address; may be repeated")
	f.IntVar(&limits.Batch, "batch", 32, "most queries answered together")
	f.IntVar(&limits.Queue, "queue", 256, "most queries waiting")
	f.DurationVar(&limits.Within, "within", 2*time.Second, "longest wait for an answer; a query that would wait longer gets 503")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Second, "longest time for a query, including waiting")
	atLeast(cmd, 1, "batch", "queue", "within", "timeout")
	return cmd
}

func (a *app) serve(ctx context.Context, m modelFlags, listen string, limits server.Limits, o server.Options) error {
	// The address first: opening a model takes longer than finding out that it is in use.
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fault.Input(fmt.Errorf("--listen: %w", err))
	}
	defer l.Close()
	t, e, err := a.openModel(ctx, m)
	if err != nil {
		return err
	}
	defer e.Close()
	examples, err := t.Examples(ctx)
	if err != nil {
		return err
	}
	b := server.NewBatcher(e, limits)
	defer b.Close()
	for _, q := range examples { // the first are slower; and b learns how long a query takes
		if _, err := b.Search(ctx, q, m.results); err != nil {
			return err
		}
	}
	var together errgroup.Group // by which b learns that it takes less time in a batch
	for _, q := range examples {
		together.Go(func() error {
			_, err := b.Search(ctx, q, m.results)
			return err
		})
	}
	if err := together.Wait(); err != nil && !errors.As(err, new(*server.BusyError)) { // a slow model has no time for all
		return err
	}
	o.Model, o.About, o.Examples, o.Results, o.Log = t.Address, e.About(), examples, m.results, a.Log
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		a.Log.Warn("other machines can reach this address, which has no login", "address", l.Addr())
	}
	view.Printf(a.Out, "http://%s/\n", l.Addr())
	err = server.Serve(ctx, l, server.NewHandler(b, o))
	a.Log.Info("stopped")
	return err
}
