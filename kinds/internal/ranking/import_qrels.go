package ranking

import (
	"context"
	"io"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// importQrelsConfig imports judgments.
type importQrelsConfig struct {
	importSource
	Format string `hcl:"format,optional" enum:",trec,beir,json" help:"query 0 document grade; query, document, grade with tabs, after a header or not; {query: {document: grade}}; default: told by the first line"`
}

type importQrelsReport struct {
	importReport
	Grades map[string]int `json:"grades"` // judgments by grade
}

var ImportQrels = step.Define(step.Kind[importQrelsConfig]{
	Name:    "import_qrels",
	Version: 3,
	Doc: `Import judgments: TREC qrels, BEIR's TSV, JSON of ranx and pytrec_eval.
Documents and queries get the numbers that the collection has for their names
(Document.Key, Query.Name). Lines that begin with # are comments, as for trec_eval
10, and a row of a query such as #2 is an error. Grades stay, 0 and negative ones too. A document that is
judged twice for a query fails the step, with file and line. Cost: memory grows with
the judgments, 100 bytes each.`,
	Example: `step "import_qrels" "trec_dl" {
  files     = step.download.trec_dl.files
  documents = step.import_corpus.passages.documents
  queries   = step.import_corpus.passages.queries
}`,
	Outputs: []step.Output{
		{Name: "qrels", Type: "trec/qrels", Help: "TREC qrels by number"},
		{Name: "report", Type: "import/report", Help: "what was read and left out, as JSON", Fields: step.FieldsOf[importQrelsReport]()},
	},
	Defaults: importQrelsConfig{importSource: importSource{Unknown: "fail"}},
	Run: func(_ context.Context, x *step.IO, c importQrelsConfig) error {
		var judged trec.Judgments
		report := importQrelsReport{Grades: map[string]int{}}
		err := c.each(x, trec.Qrels.Rows, c.Format, &report.importReport, func(row trec.Row, _ string) error {
			report.Grades[strconv.Itoa(row.Grade)]++
			return judged.Judge(row.Query, row.Document, row.Grade)
		})
		if err != nil {
			return err
		}
		report.Queries = len(judged.Judged())
		return inout.WriteAll(x, map[string]func(io.Writer) error{"qrels": judged.Write, "report": inout.JSON(report)})
	},
})
