package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// importRunConfig imports a run.
type importRunConfig struct {
	importSource
	Format     string `hcl:"format,optional" enum:",trec,msmarco,json" help:"query Q0 document rank score tag; query document rank; {query: {document: score}}; default: told by the first line"`
	Order      string `hcl:"order,optional" enum:"trec_eval,rank" help:"what orders the documents of a query: score as float32, then name, both descending, as in trec_eval; or the rank"`
	Duplicates string `hcl:"duplicates,optional" enum:"fail,first" help:"of a document that a query's ranking names again: fails the step, or only its best place counts"`
}

type importRunReport struct {
	importReport
	TiedRows   int `json:"tied_rows"`  // with the score, as float32, of the row above
	Duplicates int `json:"duplicates"` // lines left out that name a document again
}

var ImportRun = step.Define(step.Kind[importRunConfig]{
	Name:    "import_run",
	Version: 2,
	Doc: `Import a run: TREC, MS MARCO's query document rank, JSON of ranx and pytrec_eval.
Documents and queries get the numbers that the collection has for their names
(Document.Key, Query.Name). Lines may be in any order. With order = "trec_eval", the
default, the rankings are those that trec_eval makes of the file, so that its numbers
stay; of MS MARCO's files the rank is the order. Scores that contradict the order, and
equal ones, are set below the one before. Cost: memory grows with the lines, 150 bytes
each, so 1 GB for 6,980 queries x 1,000 documents.`,
	Example: `step "import_run" "splade" {
  files     = step.download.splade_run.files
  documents = step.import_corpus.passages.documents
  queries   = step.import_corpus.passages.queries
}`,
	Outputs: []step.Output{
		{Name: "run", Type: "trec/run", Help: "TREC run by number"},
		{Name: "report", Type: "import/report", Help: "what was read and left out, as JSON", Fields: step.FieldsOf[importRunReport]()},
	},
	Defaults: importRunConfig{Order: string(metrics.ByTrecEval), Duplicates: duplicatesFail, importSource: importSource{Unknown: "fail"}},
	Run:      runImportRun,
})

// duplicatesFail is what becomes of documents that a query's ranking names again.
const duplicatesFail = "fail"

// importedRow is a row under its names outside, which trec_eval orders by.
type importedRow struct {
	document, outside string
	rank              int
	score             float64
	line              int
}

func runImportRun(_ context.Context, x *step.IO, c importRunConfig) error {
	var report importRunReport
	var order []string
	byQuery := map[string][]importedRow{}
	err := c.each(x, trec.ReadRun, c.Format, &report.importReport, func(row trec.Row, outside string) error {
		rows, ok := byQuery[row.Query]
		if !ok {
			order = append(order, row.Query)
		}
		byQuery[row.Query] = append(rows, importedRow{row.Document, outside, row.Rank, row.Score, row.Line})
		return nil
	})
	if err != nil {
		return err
	}
	report.Queries = len(order)
	rankings := make([]metrics.Ranking, len(order))
	for i, q := range order {
		if rankings[i], err = c.ranking(q, byQuery[q], &report); err != nil {
			return step.Permanent(err)
		}
		delete(byQuery, q)
	}
	if err := inout.WriteRun(x, rankings); err != nil {
		return err
	}
	return inout.WriteReport(x, report, map[string]int{"duplicates": report.Duplicates, "tied_rows": report.TiedRows})
}

// ranking brings a query's rows in order.
func (c importRunConfig) ranking(query string, rows []importedRow, report *importRunReport) (metrics.Ranking, error) {
	byScore := func(a, b importedRow) int {
		return cmp.Or(cmp.Compare(float32(b.score), float32(a.score)), strings.Compare(b.outside, a.outside))
	}
	byRank := func(a, b importedRow) int { return cmp.Compare(a.rank, b.rank) }
	if c.Order == string(metrics.ByTrecEval) {
		slices.SortStableFunc(rows, byScore)
	} else {
		slices.SortStableFunc(rows, byRank)
	}
	r := metrics.Ranking{Query: query, Hypotheses: make([]metrics.Hypothesis, 0, len(rows))}
	at := make(map[string]importedRow, len(rows))
	rises := false
	for i, row := range rows {
		if first, again := at[row.document]; again {
			if c.Duplicates == duplicatesFail {
				return r, fmt.Errorf("query %.80q has document %.80q on lines %d and %d; duplicates = \"first\" keeps its best place", query, row.outside, first.line, row.line)
			}
			report.Duplicates++
			continue
		}
		at[row.document] = row
		if i > 0 && float32(row.score) == float32(rows[i-1].score) {
			report.TiedRows++
		}
		rises = rises || i > 0 && row.score > rows[i-1].score
		r.Hypotheses = append(r.Hypotheses, metrics.Hypothesis{Document: row.document, Score: row.score})
	}
	if rises && c.Order != string(metrics.ByTrecEval) { // scores that do not say the order
		for i := range r.Hypotheses {
			r.Hypotheses[i].Score = -float64(i + 1)
		}
	}
	return r, nil
}
