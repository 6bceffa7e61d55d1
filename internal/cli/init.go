package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
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
			return a.print(map[string]any{"wrote": wrote}, func(w io.Writer) { view.Wrote(w, wrote, dir) })
		},
	}
	cmd.Flags().BoolVar(&nq, "nq", false, "the first steps of the ReDSI paper, on a generated corpus")
	cmd.Flags().StringVar(&corpus, "corpus", "", "a retrieval study on the documents, queries and judgments in this `folder`")
	return cmd
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
	return a.print(map[string]any{"wrote": wrote, "corpus": found}, func(w io.Writer) {
		view.Corpus(w, found)
		view.Wrote(w, wrote, dir)
	})
}
