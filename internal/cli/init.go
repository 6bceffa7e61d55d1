package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/starter"
	"github.com/redsi/redsi/internal/system/fault"
)

func newInitCmd(a *app) *cobra.Command {
	var nq bool
	var corpus string
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a small, runnable study to start from",
		Long: `Write a small, runnable study to start from: a program that is run with several
seeds, a table and a figure of its numbers, expectations, and a test. With --nq it
has the first steps of the ReDSI paper on a generated corpus.

With --corpus it is a retrieval study on your own data: BM25, a dense ranking, three
types of identifiers with a model each, scores, significance and a table. The folder
has documents, queries and judgments as JSON lines, in BEIR's, TREC's or MS MARCO's
layout, as TSV or as Parquet; all of it is read first, and what was found is
reported. Missing splits are drawn.

A .gitignore keeps state, results and ` + pipeline.LocalFile + ` out of the repository.
Existing files are never overwritten.`,
		Example: `  redsi init study && cd study && redsi run
  redsi init --nq corpus
  redsi init --corpus examples/postgresql manual`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, study := ".", starter.Small
			if len(args) == 1 {
				dir = args[0]
			}
			if corpus != "" && nq {
				return fault.Input(errors.New("give either --nq or --corpus, not both"))
			}
			if corpus != "" {
				return a.initCorpus(cmd.Context(), corpus, dir)
			}
			if nq {
				study = starter.Paper
			}
			files, err := starter.Files(study)
			if err != nil {
				return err
			}
			wrote, err := starter.Write(files, dir)
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, map[string]any{"wrote": wrote})
			}
			printWrote(a.Out, wrote, dir)
			return nil
		},
	}
	cmd.Flags().BoolVar(&nq, "nq", false, "the first steps of the ReDSI paper, on a generated corpus")
	cmd.Flags().StringVar(&corpus, "corpus", "", "a retrieval study on the documents, queries and judgments in this `folder`")
	return cmd
}

func printWrote(out io.Writer, wrote []string, dir string) {
	for _, file := range wrote {
		view.Printf(out, "wrote %s\n", file)
	}
	next := "redsi run"
	if dir != "." {
		next = "cd " + quoted(dir) + " && " + next
	}
	view.Printf(out, "next: %s\n", next)
}

// initCorpus writes a study on the corpus in a folder into dir.
func (a *app) initCorpus(ctx context.Context, corpus, dir string) error {
	found, err := starter.Find(ctx, corpus)
	if err != nil {
		return err
	}
	files, err := found.Study(dir)
	if err != nil {
		return err
	}
	wrote, err := starter.Write(files, dir)
	if err != nil {
		return err
	}
	if a.JSON {
		return view.WriteJSON(a.Out, map[string]any{"wrote": wrote, "corpus": found})
	}
	printCorpus(a.Out, found)
	printWrote(a.Out, wrote, dir)
	return nil
}

// printCorpus says what a corpus has, and where its splits come from.
func printCorpus(out io.Writer, c *starter.Corpus) {
	for _, f := range c.Files {
		as := map[collect.Role]string{collect.Documents: "documents", collect.Queries: "queries", collect.Judgments: "judgments"}[f.Role]
		if f.Split != "" {
			as = string(f.Split) + " " + as
		}
		view.Printf(out, "found %s: %d %s (%s)\n", f.Name, f.Records, as, f.Format)
	}
	view.Printf(out, "%s", view.Count(int(c.Documents.Union), "document"))
	if n := c.Documents.Untitled; n > 0 {
		view.Printf(out, ", %d without a title", n)
	}
	if n := c.Documents.Empty; n > 0 {
		view.Printf(out, ", %d without words", n)
	}
	view.Printf(out, "\n")
	for _, s := range collect.Splits() {
		r := c.Questions.Of(s)
		noun := "queries"
		if r.Asked == 1 {
			noun = "query"
		}
		view.Printf(out, "%d %s %s with %s", r.Asked, s, noun, view.Count(int(r.Judgments), "judgment"))
		if r.Several > 0 {
			view.Printf(out, ", %d of them with several documents", r.Several)
		}
		if r.InTrain > 0 {
			view.Printf(out, ", %d with the words of a train query", r.InTrain)
		}
		view.Printf(out, "\n")
	}
	if n := c.Questions.Unjudged; n > 0 {
		view.Printf(out, "left out, without a relevant document: %d %s\n", n, map[bool]string{true: "query", false: "queries"}[n == 1])
	}
	view.Printf(out, "splits: %s\n", c.Splits)
}
