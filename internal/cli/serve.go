package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/ranking/search/server"
	"github.com/redsi/redsi/internal/system/fault"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen  string
	hosts   []string
	limits  server.Limits
	timeout time.Duration
}

func newServeCmd(a *app) *cobra.Command {
	var m modelFlags
	var s serveFlags
	cmd := &cobra.Command{
		Use:   "serve [--model STEP]",
		Short: "Serve search with a trained model: a page for people and JSON for programs, until Ctrl-C",
		Long: `It serves over HTTP, on this machine only unless --listen says otherwise. There is no login: anyone
who can reach the address may search.

  GET /                    a page
  GET /search?q=…&k=10     {"query", "took_ms", "results": [{"rank", "score",
                           "probability", "title", "identifier", "document", "text"}]}
  GET /healthz             200 while the server is up

An error is {"status", "error"}. Queries that arrive while the model is busy are answered in
batches. A query that would have to wait longer than --within, or with more than --queue others,
gets 503 with Retry-After at once.

Requests must be made to localhost, to the address itself, or to a name given with --allow-host, so
that other web pages cannot send queries from a reader's browser.`,
		Example: `  redsi serve --model 'step.train.dsi["title/nci_norm/tiny/atomic/42"]'
  curl 'http://127.0.0.1:8080/search?q=who+sings&k=3'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.check(); err != nil {
				return err
			}
			if err := s.check(); err != nil {
				return err
			}
			return a.serve(cmd.Context(), m, s)
		},
	}
	m.add(a, cmd)
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:8080", "address to serve at; port 0: any free one")
	f.StringArrayVar(&s.hosts, "allow-host", nil, "host name that requests may use, besides localhost and the address; may be repeated")
	f.IntVar(&s.limits.Batch, "batch", 32, "most queries answered together")
	f.IntVar(&s.limits.Queue, "queue", 256, "most queries waiting")
	f.DurationVar(&s.limits.Within, "within", 2*time.Second, "longest wait for an answer; a query that would wait longer gets 503")
	f.DurationVar(&s.timeout, "timeout", 30*time.Second, "longest time for a query, including waiting")
	return cmd
}

func (s serveFlags) check() error {
	switch {
	case s.limits.Batch < 1 || s.limits.Queue < 1:
		return fault.Input(errors.New("--batch and --queue must be at least 1"))
	case s.timeout <= 0 || s.limits.Within <= 0:
		return fault.Input(fmt.Errorf("--timeout %s, --within %s: must be positive", s.timeout, s.limits.Within))
	}
	return nil
}

func (a *app) serve(ctx context.Context, m modelFlags, s serveFlags) (err error) {
	// The address first: opening a model takes longer than finding out that it is in use.
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fault.Input(fmt.Errorf("--listen: %w", err))
	}
	defer l.Close()
	t, e, err := a.openModel(ctx, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	examples, err := t.Examples(ctx, a.modelCopies())
	if err != nil {
		return err
	}
	b := server.NewBatcher(e, s.limits)
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
	h := server.NewHandler(b, server.Options{Model: t.Address, About: e.About(), Examples: examples,
		Results: m.results, Timeout: s.timeout, Hosts: s.hosts, Log: a.Log})
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		a.Log.Warn("other machines can reach this address, which has no login", "address", l.Addr())
	}
	view.Printf(a.Out, "http://%s/\n", l.Addr())
	err = server.Serve(ctx, l, h)
	a.Log.Info("stopped")
	return err
}
