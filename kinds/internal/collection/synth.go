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

// synthConfig is a generated corpus: synth.Config field by field.
type synthConfig struct {
	Seed                 int `hcl:"seed,optional" min:"0" help:"every byte of the corpus follows from it and the sizes"`
	Pages                int `hcl:"pages,optional" help:"Wikipedia pages that questions are about"`
	TrainQuestions       int `hcl:"train_questions,optional" help:"records of the train split"`
	DevQuestions         int `hcl:"dev_questions,optional" help:"records of the dev split"`
	TrainShards          int `hcl:"train_shards,optional" help:"files of the train split"`
	DevShards            int `hcl:"dev_shards,optional" help:"files of the dev split"`
	MeanHTMLBytes        int `hcl:"mean_html_bytes,optional" help:"mean size of a page's HTML; real ones have about 150,000 bytes"`
	TrapEvery            int `hcl:"trap_every,optional" help:"put the designed cases into every n-th block of 60 pages; 0: plain pages only"`
	StubParts            int `hcl:"stub_parts,optional" help:"files of the dump"`
	StubMembers          int `hcl:"stub_members,optional" help:"gzip members of each, at most"`
	StubRevisionsPerPage int `hcl:"stub_revisions_per_page,optional" help:"revisions per page that no record has"`
	StubFillerPages      int `hcl:"stub_filler_pages,optional" help:"pages that no record has"`
}

var Synth = step.Define(step.Kind[synthConfig]{
	Name:    "synth",
	Version: 2,
	Doc: `Generate a corpus in the formats of Natural Questions, with a matching dump.
It has every case that the paper studies (renamed pages, shared titles, missing
revisions, rewritten tokens, infoboxes, tables, pronunciations) and its counts
are known by construction: output truth. The same bytes on every machine.`,
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
	Work:     synthConfig.work,
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

// synthOutput is the output that a generated file belongs to.
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
