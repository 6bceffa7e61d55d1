package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/dvc"
	"github.com/redsi/redsi/internal/pipeline/starter"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/fault"
)

func newInitCmd(a *app) *cobra.Command {
	var nq bool
	var corpus, from, paper string
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a small, runnable study to start from",
		Long: `The study is a program that is run with several seeds, a table and a figure of its numbers,
expectations, and a test. With --nq it has the first steps of the ReDSI paper on a generated corpus.

With --corpus it is a retrieval study on your own data: BM25, a dense ranking, three types of
identifiers with a model each, scores, significance and a table. The folder has documents, queries
and judgments as JSON lines, in BEIR's, TREC's or MS MARCO's layout, as TSV or as Parquet; all of it
is read first, and what was found is reported. Missing splits are drawn.

With --from dvc.yaml it is a pipeline of the stages there, beside that file: what each stage reads and leaves, its
parameters by name, foreach and matrix, and a table for metrics. Data that DVC tracks and nobody has checked out come
from its cache or remote. What could not be taken over is listed, and is a comment in the pipeline.

With --paper redsi it is the whole pipeline of the ReDSI paper, with what the paper prints, its
tokenizers and its tests.

A .gitignore keeps state, results and ` + syntax.LocalFile + ` out of the repository. Existing files are
never overwritten.`,
		Example: `  redsi init study && cd study && redsi run
  redsi init --nq corpus
  redsi init --corpus examples/postgresql manual
  redsi init --from dvc.yaml
  redsi init --paper redsi paper`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, dir := cmd.Context(), cmp.Or(first(args), ".")
			given := slices.DeleteFunc([]string{"nq", "corpus", "from", "paper"}, func(name string) bool { return !cmd.Flags().Changed(name) })
			if len(given) > 1 || from != "" && len(args) > 0 {
				return fault.Input(errors.New("give one of --nq, --corpus, --from and --paper; with --from no folder, since the pipeline belongs beside dvc.yaml"))
			}
			var files map[string][]byte
			var found *starter.Corpus
			var notes []string
			var err error
			said, next := map[string]any{}, "redsi run"
			switch {
			case from != "":
				var text []byte
				if text, notes, err = dvc.Convert(ctx, from); err != nil {
					return fault.Input(err)
				}
				dir, files, said["not_taken_over"] = filepath.Dir(from), map[string][]byte{syntax.DefaultFile: text}, notes
			case corpus != "":
				if found, err = starter.Find(ctx, corpus); err == nil {
					files, err = found.Study(dir)
				}
				said["corpus"] = found
			case nq:
				files, err = starter.Files(starter.Paper)
			case cmd.Flags().Changed("paper"):
				files, err = a.paper.files(paper)
				next = a.paper.Try
			default:
				files, err = starter.Files(starter.Small)
			}
			if err != nil {
				return err
			}
			wrote, err := starter.Write(files, dir)
			if err != nil {
				return err
			}
			said["wrote"] = wrote
			view.PrintEach(a.Err, "not taken over: %s\n", notes)
			if n := len(notes); n > 0 {
				view.Printf(a.Err, "%s not taken over: comments in %s say where\n", view.Count(n, "thing"), syntax.DefaultFile)
			}
			return a.print(said, nil, func(w io.Writer) {
				if found != nil {
					view.Corpus(w, found)
				}
				view.Wrote(w, wrote, dir, next)
			})
		},
	}
	cmd.Flags().BoolVar(&nq, "nq", false, "the first steps of the ReDSI paper, on a generated corpus")
	cmd.Flags().StringVar(&corpus, "corpus", "", "a retrieval study on the documents, queries and judgments in this `folder`")
	cmd.Flags().StringVar(&from, "from", "", "the stages of this `dvc.yaml`")
	cmd.Flags().StringVar(&paper, "paper", "", "the whole pipeline of the paper of this `NAME`")
	return cmd
}

// files are the files of the paper, if this is its name.
func (p Paper) files(name string) (map[string][]byte, error) {
	if name != p.Name || name == "" {
		return nil, fault.Input(fmt.Errorf("--paper %s: this redsi has %s", name, cmp.Or(p.Name, "none")))
	}
	files, err := starter.From(p.Files)
	maps.Copy(files, p.More)
	return files, err
}
