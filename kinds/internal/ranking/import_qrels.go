package ranking

import (
	"context"
	"io"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/qrels"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// importQrelsConfig imports judgments.
type importQrelsConfig struct {
	Files     step.Inputs `hcl:"files" accepts:"files,file" help:"judgments, plain or compressed"`
	File      string      `hcl:"file,optional" help:"name, or pattern with *, of the file to read; default: all"`
	Format    string      `hcl:"format,optional" enum:",trec,beir,json" help:"query 0 document grade; query, document, grade with tabs, after a header or not; {query: {document: grade}}; default: told by the first line"`
	Documents step.Input  `hcl:"documents,optional" accepts:"nq/documents" help:"collection whose documents the judgments name; default: names stay"`
	Queries   step.Input  `hcl:"queries,optional" accepts:"nq/queries" help:"collection whose queries they name; default: names stay"`
	Split     string      `hcl:"split,optional" enum:",train,dev,test" help:"whose queries these are, if queries of several splits share a name"`
	Unknown   string      `hcl:"unknown,optional" enum:"fail,leave_out" help:"what to do with lines with a name that the collection lacks"`
}

type importQrelsReport struct {
	importReport
	Grades map[string]int `json:"grades"` // judgments by grade
}

var ImportQrels = step.Define(step.Kind[importQrelsConfig]{
	Name:    "import_qrels",
	Version: 1,
	Doc: `Import judgments: TREC qrels, BEIR's TSV, JSON of ranx and pytrec_eval.
Documents and queries get the numbers that the collection has for their names
(Document.Key, Query.Name). Grades stay, 0 and negative ones too. A document that is
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
	Defaults: importQrelsConfig{Unknown: unknownFail},
	Run: func(_ context.Context, x *step.IO, c importQrelsConfig) error {
		var judged qrels.Judgments
		report := importQrelsReport{Grades: map[string]int{}}
		s := importSource{c.Files, c.File, c.Format, c.Documents, c.Queries, c.Split, c.Unknown}
		queries := map[string]bool{}
		err := s.each(x, true, &report.importReport, func(row trec.Row, _ string) error {
			report.Grades[strconv.Itoa(row.Grade)]++
			queries[row.Query] = true
			return judged.Judge(row.Query, row.Document, row.Grade)
		})
		if err != nil {
			return err
		}
		report.Queries = len(queries)
		return inout.WriteAll(x, map[string]func(io.Writer) error{"qrels": judged.Write, "report": inout.JSON(report)})
	},
})
