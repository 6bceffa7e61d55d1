package cli

import (
	"bufio"
	"bytes"
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
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/ranking/search/model"
	"github.com/redsi/redsi/internal/system/fault"
)

// searchBatch is how many queries are answered together.
const searchBatch = 32

// searchAnswer is the answer to one query in JSON.
type searchAnswer struct {
	Query     string       `json:"query"`
	Results   []search.Hit `json:"results"`
	Invalid   int          `json:"invalid"` // hypotheses that are not identifiers
	Truncated bool         `json:"truncated,omitempty"`
}

// searchReport is the JSON output of search.
type searchReport struct {
	Model   string         `json:"model"`
	Search  search.About   `json:"search"`
	TookMS  float64        `json:"took_ms"` // for the queries, not for opening the model
	Answers []searchAnswer `json:"answers"`
}

func newSearchCmd(a *app) *cobra.Command {
	var m modelFlags
	cmd := &cobra.Command{
		Use:   "search [--model STEP] [QUERY …]",
		Short: "Search with a trained model, and show the documents that it returns",
		Long: `Searches with a trained model and shows the documents that it returns, with title,
identifier and first words. Queries are arguments, or lines of standard input. The
model, its identifiers, tokenizer and texts come from the store, verified; nothing
is trained or run.

By default the search is constrained: only identifiers of the collection are
generated, so every beam is a document. --unconstrained searches the whole
vocabulary, as the paper's main evaluation does. All atomic identifiers are
scored, so there is nothing to constrain.

Documents are ranked by score: the log-probability of the identifier divided by
its number of tokens. The percentage is the probability itself.`,
		Example: `  redsi search "who sings love will keep us alive"
  redsi search --model 'step.train.dsi["title/nci_norm/tiny/atomic/42"]' -k 3 "who sings it"
  echo "who sings it" | redsi search --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.check(cmd); err != nil {
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
	var queries []string
	if len(args) > 0 {
		for i, text := range args {
			q, err := search.Clean(text)
			if err != nil {
				return nil, fault.Input(fmt.Errorf("query %d: %w", i+1, err))
			}
			queries = append(queries, q)
		}
		return queries, nil
	}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return nil, fault.Input(errors.New("give a query as an argument, or several, one per line, on standard input"))
	}
	sc := bufio.NewScanner(in)
	n, empty := 0, 0
	for sc.Scan() {
		n++
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			empty++
			continue
		}
		q, err := search.Clean(sc.Text())
		if err != nil {
			return nil, fault.Input(fmt.Errorf("standard input, line %d: %w", n, err))
		}
		queries = append(queries, q)
	}
	if err := sc.Err(); err != nil {
		return nil, fault.Input(fmt.Errorf("standard input, after line %d: %w", n, err))
	}
	if len(queries) == 0 {
		return nil, fault.Input(fmt.Errorf("standard input has no query in its %d lines; a query may also be an argument", n))
	}
	if empty > 0 {
		a.Log.Info("empty lines are left out", "lines", empty)
	}
	return queries, nil
}

// search answers the queries and prints the answers, in text form as they come.
func (a *app) search(ctx context.Context, t *model.Trained, e *engine, queries []string, k int) error {
	report := searchReport{Model: t.Address, Search: e.About()}
	start := time.Now()
	invalid := 0
	for part := range slices.Chunk(queries, searchBatch) {
		answers, err := e.Search(ctx, part, k)
		if err != nil {
			return err
		}
		for i, x := range answers {
			s := searchAnswer{Query: part[i], Results: x.Hits, Invalid: x.Invalid, Truncated: x.Truncated}
			if s.Results == nil {
				s.Results = []search.Hit{}
			}
			if x.Truncated {
				a.Log.Warn("the model reads only the beginning of a query", "query", part[i])
			}
			if invalid += x.Invalid; a.JSON {
				report.Answers = append(report.Answers, s)
			} else {
				a.printAnswer(s)
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

func (a *app) printAnswer(s searchAnswer) {
	st := a.style(a.Out)
	const indent = "      "
	width := 100
	if w := terminal(a.Out); w > 0 {
		width = min(w, 120)
	}
	view.Println(a.Out, st.Bold(s.Query))
	if len(s.Results) == 0 {
		view.Println(a.Out, indent+"the model returned no document")
	}
	for _, h := range s.Results {
		view.Printf(a.Out, "%4d. %s\n", h.Rank, h.Heading())
		view.Printf(a.Out, "%sscore %.3f (%s)  identifier %s  document %s\n", indent, h.Score, search.Percent(h.Probability), h.Identifier, h.Document)
		if h.Text != "" {
			view.Printf(a.Out, "%s%s\n", indent, st.Dim(search.FirstWords(h.Text, width-len(indent)-2)))
		}
	}
	view.Println(a.Out)
}
