package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type importSource struct {
	Files     step.Inputs `hcl:"files" accepts:"files,file" help:"what is imported, plain or compressed; of several files one after another"`
	File      string      `hcl:"file,optional" help:"name, or pattern with *, of the file to read; default: all"`
	Documents step.Input  `hcl:"documents,optional" accepts:"nq/documents" help:"collection whose documents the files name; default: names stay"`
	Queries   step.Input  `hcl:"queries,optional" accepts:"nq/queries" help:"collection whose queries they name; default: names stay"`
	Split     string      `hcl:"split,optional" enum:",train,dev,test" help:"whose queries these are, if queries of several splits share a name"`
	Unknown   string      `hcl:"unknown,optional" enum:"fail,leave_out" help:"what to do with lines with a name that the collection lacks; of a run, ranks below them close up"`
}

type importReport struct {
	Format  string `json:"format"`
	Rows    int    `json:"rows"` // that were taken
	Queries int    `json:"queries"`

	UnknownDocuments int `json:"unknown_documents"` // lines left out: the collection lacks their document
	UnknownQueries   int `json:"unknown_queries"`   // or their query
}

// each visits the rows of all files, with the names of the collection. Errors name file and line.
func (s importSource) each(x *step.IO, read func(io.Reader, trec.Format, func(trec.Row) error) (trec.Format, error), format string, r *importReport, visit func(row trec.Row, outside string) error) error {
	n, err := collectionNames(x, s.Documents, s.Queries, s.Split)
	if err != nil {
		return err
	}
	files, err := inout.ChosenFiles(x, s.Files, "files", s.File, "*")
	if err != nil {
		return err
	}
	var formats []string // in which files are, each once
	for _, f := range files {
		in, err := x.OpenFile(f)
		if err != nil {
			return err
		}
		is, err := read(in, trec.Format(format), func(row trec.Row) error {
			query, document, err := n.inside(row.Query, row.Document)
			if unknown, ok := errors.AsType[*unknownError](err); ok && s.Unknown == "leave_out" {
				if unknown.what == "query" {
					r.UnknownQueries++
				} else {
					r.UnknownDocuments++
				}
				return nil
			}
			if err != nil {
				return err
			}
			outside := row.Document
			row.Query, row.Document = query, document
			r.Rows++
			return visit(row, outside)
		})
		in.Close()
		if err != nil {
			return inout.DataError(fmt.Errorf("%s: %w", f.Name, err))
		}
		if !slices.Contains(formats, string(is)) {
			formats = append(formats, string(is))
		}
	}
	r.Format = strings.Join(formats, ", ")
	if r.Rows == 0 {
		return step.Permanent(fmt.Errorf("no line of %d files was used; %d name unknown queries, %d unknown documents", len(files), r.UnknownQueries, r.UnknownDocuments))
	}
	inout.Count(x, map[string]int{"rows": r.Rows, "unknown_documents": r.UnknownDocuments,
		"unknown_queries": r.UnknownQueries})
	return nil
}

type importRunConfig struct {
	importSource
	Format     string `hcl:"format,optional" enum:",trec,msmarco,json" help:"query Q0 document rank score tag; query document rank; {query: {document: score}}; default: told by the first line"`
	Order      string `hcl:"order,optional" enum:"trec_eval,trec_eval_10,rank" help:"what orders the documents of a query: score, then name, both descending, with scores as float32, as in trec_eval up to 9 and pytrec_eval, or as float64, as in trec_eval 10; or the rank"`
	Duplicates string `hcl:"duplicates,optional" enum:"fail,first" help:"what a document that a query's ranking names twice does: fail the step, or count at its best place only"`
	ignoreIdentical
}

type importRunReport struct {
	importReport
	TiedRows   int `json:"tied_rows"`                     // with the score of the row above, as order compares it
	Duplicates int `json:"duplicates"`                    // lines left out: the query's ranking has their document
	Identical  int `json:"identical_documents,omitempty"` // lines left out: their document has the query's name
}

var ImportRun = step.Define(step.Kind[importRunConfig]{
	Name:    "import_run",
	Version: 3,
	Doc: `Import a run: TREC, MS MARCO's query document rank, JSON of ranx and pytrec_eval.
Documents and queries get the numbers that the collection has for their names
(Document.Key, Query.Name). Lines may be in any order; lines that begin with # are
comments, as for trec_eval 10, and a row of a query such as #2 is an error. With order = "trec_eval", the default, the rankings are as trec_eval 9
makes them of the file, so that its numbers stay, and with "trec_eval_10" as version 10 does,
which tells more scores apart; of MS MARCO's files the rank is the order, and JSON has no
ranks. Scores that contradict the order, and equal ones, are set below the one before. Cost: memory grows with the lines, 150 bytes
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
	Defaults: importRunConfig{Order: orderTrecEval, Duplicates: duplicatesFail, importSource: importSource{Unknown: "fail"}},
	Run:      runImportRun,
})

// The orders of a query's documents.
const (
	orderTrecEval   = "trec_eval"
	orderTrecEval10 = "trec_eval_10"
	orderRank       = "rank"
)

// compare compares scores as trec_eval 10 does, or as earlier versions do, which read them as float32.
func (c importRunConfig) compare(a, b float64) int {
	if c.Order == orderTrecEval10 {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(float32(a), float32(b))
}

// duplicatesFail is the value of duplicates for which a repeated document is an error.
const duplicatesFail = "fail"

// importedRow is a row with its document's name outside, by which trec_eval orders.
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
	read := func(r io.Reader, format trec.Format, yield func(trec.Row) error) (trec.Format, error) {
		is, err := trec.Runs.Rows(r, format, func(row trec.Row) error {
			if c.Ignore && row.Query == row.Document {
				report.Identical++
				return nil
			}
			return yield(row)
		})
		if err == nil && is == trec.JSON && c.Order == orderRank {
			err = errors.New("JSON has no ranks, by which order = \"rank\" orders: take order = \"trec_eval\"")
		}
		return is, err
	}
	err := c.each(x, read, c.Format, &report.importReport, func(row trec.Row, outside string) error {
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
	rankings := make([]trec.Ranking, len(order))
	for i, q := range order {
		if rankings[i], err = c.ranking(q, byQuery[q], &report); err != nil {
			return step.Permanent(err)
		}
		delete(byQuery, q)
	}
	return errors.Join(inout.WriteRun(x, rankings),
		inout.WriteReport(x, report, map[string]int{"duplicates": report.Duplicates, "tied_rows": report.TiedRows}))
}

func (c importRunConfig) ranking(query string, rows []importedRow, report *importRunReport) (trec.Ranking, error) {
	slices.SortStableFunc(rows, func(a, b importedRow) int {
		if c.Order == orderRank {
			return cmp.Compare(a.rank, b.rank)
		}
		return cmp.Or(c.compare(b.score, a.score), strings.Compare(b.outside, a.outside))
	})
	r := trec.Ranking{Query: query, Hypotheses: make([]trec.Hypothesis, 0, len(rows))}
	at := make(map[string]importedRow, len(rows))
	rises := false
	for i, row := range rows {
		if first, twice := at[row.document]; twice {
			if c.Duplicates == duplicatesFail {
				return r, fmt.Errorf("query %.80q has document %.80q on lines %d and %d; duplicates = \"first\" keeps its best place", query, row.outside, first.line, row.line)
			}
			report.Duplicates++
			continue
		}
		at[row.document] = row
		if i > 0 && c.compare(row.score, rows[i-1].score) == 0 {
			report.TiedRows++
		}
		rises = rises || i > 0 && row.score > rows[i-1].score
		r.Hypotheses = append(r.Hypotheses, trec.Hypothesis{Document: row.document, Score: row.score})
	}
	if rises && c.Order == orderRank { // the scores contradict the ranks
		for i := range r.Hypotheses {
			r.Hypotheses[i].Score = -float64(i + 1)
		}
	}
	return r, nil
}

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
		report.Queries = len(judged.Judged)
		return inout.WriteAll(x, map[string]func(io.Writer) error{"qrels": judged.Write, "report": inout.JSON(report)})
	},
})

// names maps names of documents and queries outside of redsi to numbers inside; without a collection names stay.
type names struct {
	documents, queries map[string]string // nil: names stay
	ambiguous          map[string]bool   // queries of several splits
}

// collectionNames reads the names. Either input may be missing; split "" stands for all.
func collectionNames(x *step.IO, documents, queries step.Input, split string) (*names, error) {
	n := &names{ambiguous: map[string]bool{}}
	if documents.Set() {
		n.documents = map[string]string{}
		err := inout.EachRow(x, documents, "documents", func(d *dedup.Document) error {
			if _, twice := n.documents[d.Key]; twice {
				return fmt.Errorf("two documents are named %q", d.Key)
			}
			n.documents[d.Key] = strconv.Itoa(int(d.Doc))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if queries.Set() {
		n.queries = map[string]string{}
		err := eachName(x, queries, split, func(outside, inside string) error {
			if other, ok := n.queries[outside]; ok && other != inside {
				n.ambiguous[outside] = true
			}
			n.queries[outside] = inside
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

// eachName visits the lines of the queries of a split; "" stands for all.
func eachName(x *step.IO, queries step.Input, split string, visit func(outside, inside string) error) error {
	return inout.EachQuery(x, queries, "queries", func(q *dedup.Query) error {
		if split == "" || q.Split == nq.Split(split) {
			inside := strconv.FormatInt(q.ExampleID, 10)
			return visit(cmp.Or(q.Name, inside), inside)
		}
		return nil
	})
}

type unknownError struct{ what, name string }

func (e *unknownError) Error() string {
	return fmt.Sprintf("the collection has no %s named %.80q; unknown = \"leave_out\" leaves such lines out", e.what, e.name)
}

// inside returns the numbers of a query and a document; an *unknownError if the collection lacks one.
func (n *names) inside(query, document string) (q, d string, err error) {
	q, d = query, document
	if n.queries != nil {
		if n.ambiguous[query] {
			return q, d, fmt.Errorf("queries of several splits are named %.80q; say which split is meant", query)
		}
		found := false
		if q, found = n.queries[query]; !found {
			return q, d, &unknownError{"query", query}
		}
	}
	if n.documents != nil {
		found := false
		if d, found = n.documents[document]; !found {
			return q, d, &unknownError{"document", document}
		}
	}
	return q, d, nil
}

// ignoreIdentical leaves documents with the query's own name out of rankings.
type ignoreIdentical struct {
	Ignore bool `hcl:"ignore_identical_ids,optional,added" help:"leaves out of each ranking the document that has the query's own name, and counts it: for collections whose queries are documents, such as ArguAna and Quora; as ignore_identical_ids of BEIR and --remove-query of Pyserini"`
}

// identicalOf is ignoreIdentical where runs have numbers for names.
type identicalOf struct {
	ignoreIdentical
	Documents step.Input `hcl:"documents,optional,added" accepts:"nq/documents" help:"the collection, whose documents' names ignore_identical_ids compares"`
}

func (c identicalOf) check(ps *step.Problems) {
	inout.Check(ps, "documents", c.Ignore == c.Documents.Set(), "goes with ignore_identical_ids = true: give both")
}

// own returns the documents with the name of a query, by its number; nil if none is left out. split "" is for all.
func (c identicalOf) own(x *step.IO, queries step.Input, split string) (map[string]string, error) {
	if !c.Ignore {
		return nil, nil
	}
	n, err := collectionNames(x, c.Documents, queries, split)
	if err != nil {
		return nil, err
	}
	own := map[string]string{}
	for name, number := range n.queries {
		if d, ok := n.documents[name]; ok && n.ambiguous[name] {
			return nil, step.Permanent(fmt.Errorf("queries of several splits are named %.80q: have the step that made the run ignore identical ids", name))
		} else if ok {
			own[number] = d
		}
	}
	return own, nil
}
