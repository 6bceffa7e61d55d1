package collection

import (
	"context"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/corpora/synth"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// synthMSMarcoConfig is a generated collection in the formats of MS MARCO.
type synthMSMarcoConfig synth.MSMarcoConfig

var SynthMSMarco = step.Define(step.Kind[synthMSMarcoConfig]{
	Name:    "synth_msmarco",
	Version: 1,
	Doc: `Generate a collection in the formats of MS MARCO's document ranking data.
It has what makes a reading wrong (equal, empty and unknown titles, empty bodies, tabs and NULs in text, queries with
several documents or none, judgments of what does not exist), and its counts are known by construction: output truth.
The same bytes on every machine.`,
	Example: `step "synth_msmarco" "toy" {
  documents     = 1000
  train_queries = 3000
}`,
	Outputs: []step.Output{
		{Name: "documents", Type: "files", Tree: true, Help: "msmarco-docs-00.tsv.gz and so on"},
		{Name: "train_queries", Type: "files", Tree: true, Help: "msmarco-doctrain-queries.tsv.gz"},
		{Name: "train_qrels", Type: "files", Tree: true, Help: "msmarco-doctrain-qrels.tsv.gz"},
		{Name: "dev_queries", Type: "files", Tree: true, Help: "msmarco-docdev-queries.tsv.gz"},
		{Name: "dev_qrels", Type: "files", Tree: true, Help: "msmarco-docdev-qrels.tsv.gz"},
		{Name: "truth", Type: "synth/msmarco_truth", Help: "counts that a reader of the files must find, as JSON", Fields: step.FieldsOf[synth.MSMarcoTruth]()},
	},
	Defaults: synthMSMarcoConfig(synth.DefaultMSMarco()),
	Check:    func(c synthMSMarcoConfig) error { return synth.MSMarcoConfig(c).Validate() },
	Work:     synthMSMarcoConfig.work,
	Run: func(_ context.Context, x *step.IO, c synthMSMarcoConfig) error {
		truth, err := synth.GenerateMSMarco(synth.MSMarcoConfig(c),
			func(name string) (io.WriteCloser, error) { return x.CreateFile(synthMSMarcoOutput(name), name) },
			func(done, total int64) { x.Report(step.Progress{Done: done, Total: total, Unit: "documents"}) })
		if err != nil {
			return err
		}
		return inout.WriteJSON(x, "truth", truth)
	},
})

// synthMSMarcoOutput is the output that a generated file belongs to.
func synthMSMarcoOutput(name string) string {
	for _, split := range []string{"train", "dev"} {
		for _, what := range []string{"queries", "qrels"} {
			if strings.HasPrefix(name, "msmarco-doc"+split+"-"+what) {
				return split + "_" + what
			}
		}
	}
	return "documents"
}
