package collection

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/corpora/synth"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type synthConfig synth.Config

var Synth = step.Define(step.Kind[synthConfig]{
	Name:    "synth",
	Version: 3,
	Doc: `Generate a corpus in the formats of Natural Questions, with a matching dump.
Its pages are six articles of Wikipedia under many titles and with exchanged words. It
has every case that the paper studies (renamed pages, shared titles, missing revisions,
rewritten tokens, pronunciations) and its counts are known by construction: output
truth. The same bytes on every machine.`,
	Example: `step "synth" "nq" {
  pages           = 300
  train_questions = 1200
  dev_questions   = 200
}`,
	Outputs: []step.Output{
		{Name: "train", Type: "files", Tree: true, Help: "full format, train: nq-train-00.jsonl.gz and so on"},
		{Name: "dev", Type: "files", Tree: true, Help: "full format, dev"},
		{Name: "simplified", Type: "files", Tree: true, Help: "simplified format, train"},
		{Name: "stub", Type: "files", Tree: true, Help: "stub-meta-history dump, schema 0.10"},
		{Name: "truth", Type: "synth/truth", Help: "counts that the pipeline must find, as JSON", Fields: step.FieldsOf[synth.Truth]()},
	},
	Defaults: synthConfig(synth.Default()),
	Check:    func(c synthConfig) error { return synth.Config(c).Validate() },
	Work: func(c synthConfig) step.Work { // how large the collection will be
		exactly := func(n int) step.Amount { return step.Exactly(float64(n)) }
		return step.Work{Counts: map[string]step.Amount{"documents": exactly(c.Pages), "records.train": exactly(c.TrainQuestions), "records.dev": exactly(c.DevQuestions)}}
	},
	Run: func(_ context.Context, x *step.IO, c synthConfig) error {
		truth, err := synth.Generate(synth.Config(c),
			func(name string) (io.WriteCloser, error) {
				output, err := synthOutput(name)
				if err != nil {
					return nil, err
				}
				return x.CreateFile(output, name)
			},
			func(done, total int64) { x.Report(step.Progress{Done: done, Total: total, Unit: "records"}) })
		if err != nil {
			return err
		}
		return inout.WriteJSON(x, "truth", truth)
	},
})

func synthOutput(name string) (string, error) {
	for prefix, output := range map[string]string{"nq-train": "train", "nq-dev": "dev", "simplified-": "simplified"} {
		if strings.HasPrefix(name, prefix) {
			return output, nil
		}
	}
	if strings.Contains(name, "stub-meta-history") {
		return "stub", nil
	}
	return "", step.Permanent(fmt.Errorf("the generator made a file %q that belongs to no output", name))
}
