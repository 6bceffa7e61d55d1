package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// importSource is what import_run and import_qrels have in common: which files are read.
type importSource struct {
	Files     step.Inputs `hcl:"files" accepts:"files,file" help:"what is imported, plain or compressed; of several files one after another"`
	File      string      `hcl:"file,optional" help:"name, or pattern with *, of the file to read; default: all"`
	Documents step.Input  `hcl:"documents,optional" accepts:"nq/documents" help:"collection whose documents the files name; default: names stay"`
	Queries   step.Input  `hcl:"queries,optional" accepts:"nq/queries" help:"collection whose queries they name; default: names stay"`
	Split     string      `hcl:"split,optional" enum:",train,dev,test" help:"whose queries these are, if queries of several splits share a name"`
	Unknown   string      `hcl:"unknown,optional" enum:"fail,leave_out" help:"what to do with lines with a name that the collection lacks; of a run, ranks below them close up"`
}

// importReport is what was read.
type importReport struct {
	Format  string `json:"format"`
	Rows    int    `json:"rows"` // that were taken
	Queries int    `json:"queries"`

	UnknownDocuments int `json:"unknown_documents"` // lines left out for a document that the collection lacks
	UnknownQueries   int `json:"unknown_queries"`   // for a query
}

// each visits the rows of all files, with the names of the collection. Errors name file
// and line.
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
			var unknown *unknownError
			if errors.As(err, &unknown) && s.Unknown == "leave_out" {
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
	Duplicates string `hcl:"duplicates,optional" enum:"fail,first" help:"of a document that a query's ranking names again: fails the step, or only its best place counts"`
	ignoreIdentical
}

type importRunReport struct {
	importReport
	TiedRows   int `json:"tied_rows"`                     // with the score, as order compares it, of the row above
	Duplicates int `json:"duplicates"`                    // lines left out that name a document again
	Identical  int `json:"identical_documents,omitempty"` // lines left out that have the query's name
}

var ImportRun = step.Define(step.Kind[importRunConfig]{
	Name:    "import_run",
	Version: 3,
	Doc: `Import a run: TREC, MS MARCO's query document rank, JSON of ranx and pytrec_eval.
Documents and queries get the numbers that the collection has for their names
(Document.Key, Query.Name). Lines may be in any order; those that begin with # are
comments, as for trec_eval 10, and a row of a query such as #2 is an error. With order = "trec_eval", the default, the rankings are those that trec_eval 9
makes of the file, so that its numbers stay, and with "trec_eval_10" those of version 10,
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

// compare compares scores as trec_eval 10 does, or as versions before it, which read them as
// float32.
func (c importRunConfig) compare(a, b float64) int {
	if c.Order == orderTrecEval10 {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(float32(a), float32(b))
}

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

// ranking brings a query's rows in order.
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
		if first, again := at[row.document]; again {
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
	if rises && c.Order == orderRank { // scores that do not say the order
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
		report.Queries = len(judged.Judged())
		return inout.WriteAll(x, map[string]func(io.Writer) error{"qrels": judged.Write, "report": inout.JSON(report)})
	},
})

// names are those of documents and queries outside of redsi, with the numbers that they
// have inside. Without a collection a name stays as it is.
type names struct {
	documents, queries map[string]string // outside to inside; nil: all stay
	ambiguous          map[string]bool   // queries of several splits
}

// collectionNames reads them. Either input may be missing; split "" is all.
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

// eachName visits the lines of queries of a split, or of all of them for "".
func eachName(x *step.IO, queries step.Input, split string, visit func(outside, inside string) error) error {
	return inout.EachQuery(x, queries, "queries", func(q *dedup.Query) error {
		if split == "" || q.Split == nq.Split(split) {
			inside := strconv.FormatInt(q.ExampleID, 10)
			return visit(cmp.Or(q.Name, inside), inside)
		}
		return nil
	})
}

// unknownError is a name that the collection lacks.
type unknownError struct{ what, name string }

func (e *unknownError) Error() string {
	return fmt.Sprintf("the collection has no %s named %.80q; unknown = \"leave_out\" leaves such lines out", e.what, e.name)
}

// inside are the numbers of a query and a document; an *unknownError if there are none.
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

// own are the documents that have the name of a query, by the query's number; nil for none to
// be left out. split "" is all.
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

type exportRunConfig struct {
	Runs      map[string]step.Input `hcl:"runs" accepts:"trec/run" help:"rankings by name, which is that of the file and the run's tag"`
	Qrels     step.Input            `hcl:"qrels,optional" accepts:"trec/qrels" help:"judgments, written as qrels.txt"`
	Documents step.Input            `hcl:"documents,optional" accepts:"nq/documents" help:"collection whose documents are written by their names; default: by number"`
	Queries   step.Input            `hcl:"queries,optional" accepts:"nq/queries" help:"collection whose queries are written by their names; default: by number"`
	Split     string                `hcl:"split,optional" enum:",train,dev,test" help:"whose queries these are, if queries of several splits share a number"`
	Metadata  bool                  `hcl:"metadata,optional" help:"begin each run with ir_metadata's header, which trec_eval skips from version 10 on"`
	PRIMAD    string                `hcl:"primad,optional" help:"what the header says of all runs: YAML, or jsonencode() of an object, with platform, research goal, implementation, method, actor, data"`
	PRIMADOf  map[string]string     `hcl:"primad_of,optional" help:"the same for a run by its name, in place of what primad says of a component"`
}

var ExportRun = step.Define(step.Kind[exportRunConfig]{
	Name:    "export_run",
	Version: 2,
	Doc: `Write rankings and judgments as files for other programs, under their original names.
trec_eval, ir_measures and ranx score the files as redsi does, ties included: where two
scores of a ranking are one as float32, the lower one is written as the next float32
below. Names are those that export writes with ids = "key": as they are, but that white
space and control characters of ASCII, and a # with which a query begins, are _ there,
which is counted as names_changed; where two would become one, the step fails. Judgments of queries that the collection does not list, as they
have no relevant document, are left out and counted. With metadata each run begins with the header of ir_metadata
(https://www.ir-metadata.org, version 0.1) as comments, which repro_eval reads; the six
components are there, without a value where nothing is given. Cost: memory grows with
a run, 150 bytes a row.`,
	Example: `step "export_run" "dev" {
  runs      = { bm25 = step.bm25.dev.run, dense = step.dense.dev.run }
  qrels     = step.import_corpus.passages.dev_qrels
  documents = step.import_corpus.passages.documents
  queries   = step.import_corpus.passages.queries
  metadata  = true
  primad    = jsonencode({ actor = { name = "Jane Doe", role = "experimenter" } })
  primad_of = { bm25 = jsonencode({ method = { automatic = true, retrieval = [{ name = "bm25", b = 0.4, k1 = 0.9 }] } }) }
}`,
	Outputs: []step.Output{{Name: "files", Type: "files", Tree: true, Help: "NAME.run, and qrels.txt"}},
	Check: inout.Checks(func(c exportRunConfig, ps *step.Problems) {
		inout.Check(ps, "runs", len(c.Runs) > 0, "needs at least one")
		for _, name := range slices.Sorted(maps.Keys(c.Runs)) {
			word := artifacts.CheckFileName(name) == nil && !strings.Contains(name, "/") && trec.EncodeName(name) == name
			inout.Check(ps, "runs", word, "%q is not a file name of one word", name)
		}
		inout.Check(ps, "metadata", c.Metadata || c.PRIMAD == "" && len(c.PRIMADOf) == 0, "must be true for primad to be written")
		_, err := trec.ParseMetadata(c.PRIMAD)
		inout.CheckError(ps, "primad", err)
		for _, name := range slices.Sorted(maps.Keys(c.PRIMADOf)) {
			_, ok := c.Runs[name]
			inout.Check(ps, "primad_of", ok, "%q is not one of the runs", name)
			_, err := trec.ParseMetadata(c.PRIMADOf[name])
			inout.CheckError(ps, fmt.Sprintf("primad_of[%q]", name), err)
		}
	}),
	Run: runExportRun,
})

// outsideNames are the names outside of documents or queries.
type outsideNames struct {
	trec.Outside
	what     string
	byNumber map[string]string // nil: there is no collection, names stay
}

func namesOutside(x *step.IO, c exportRunConfig) (documents, queries *outsideNames, err error) {
	documents, queries = &outsideNames{what: "document"}, &outsideNames{trec.Outside{Queries: true}, "query", nil}
	if c.Documents.Set() {
		documents.byNumber = map[string]string{}
		err = inout.EachRow(x, c.Documents, "documents", func(d *dedup.Document) error {
			return documents.add(strconv.Itoa(int(d.Doc)), d.Key)
		})
	}
	if c.Queries.Set() && err == nil {
		queries.byNumber = map[string]string{}
		err = eachName(x, c.Queries, c.Split, func(name, number string) error { return queries.add(number, name) })
	}
	return documents, queries, err
}

func (n *outsideNames) add(number, name string) error {
	out, err := n.Name(number, name)
	if other, ok := n.byNumber[number]; ok && other != out {
		return fmt.Errorf("queries of several splits have the number %s; say which split is meant", number)
	}
	n.byNumber[number] = out
	return err
}

// of is a name outside; an error if the collection has none.
func (n *outsideNames) of(inside string) (string, error) {
	if n.byNumber == nil {
		return n.Name(inside, inside)
	}
	if name, ok := n.byNumber[inside]; ok {
		return name, nil
	}
	return "", fmt.Errorf("the collection has no %s %.40s; do run and collection belong together?", n.what, inside)
}

func runExportRun(_ context.Context, x *step.IO, c exportRunConfig) error {
	documents, queries, err := namesOutside(x, c)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Runs)) {
		rankings, err := inout.Read(x, c.Runs[name], name, trec.ReadRun)
		if err != nil {
			return err
		}
		for i := range rankings {
			r := &rankings[i]
			if r.Query, err = queries.of(r.Query); err != nil {
				return step.Permanent(fmt.Errorf("%s: %w", name, err))
			}
			for k, h := range r.Hypotheses {
				if h.Document == "" {
					continue
				}
				if r.Hypotheses[k].Document, err = documents.of(h.Document); err != nil {
					return step.Permanent(fmt.Errorf("%s: %w", name, err))
				}
			}
		}
		untied, moved := trec.Untie(rankings)
		x.Count("scores_untied", int64(moved))
		header, err := c.header(name)
		if err != nil {
			return step.Permanent(err)
		}
		err = inout.WriteFile(x, "files", name+".run", func(w io.Writer) error {
			if _, err := w.Write(header); err != nil {
				return err
			}
			return step.Permanent(trec.WriteRun(w, name, untied, trec.AsItIs))
		})
		if err != nil {
			return err
		}
	}
	if c.Qrels.Set() {
		if err := exportQrels(x, c.Qrels, documents, queries); err != nil {
			return err
		}
	}
	x.Count("names_changed", int64(documents.Renamed+queries.Renamed))
	return nil
}

// header is empty without metadata.
func (c exportRunConfig) header(name string) ([]byte, error) {
	if !c.Metadata {
		return nil, nil
	}
	all, err := trec.ParseMetadata(c.PRIMAD)
	own, errOwn := trec.ParseMetadata(cmp.Or(c.PRIMADOf[name], "{}"))
	if err = cmp.Or(err, errOwn); err != nil {
		return nil, err
	}
	return all.With(own).Header(name)
}

func exportQrels(x *step.IO, in step.Input, documents, queries *outsideNames) error {
	judged, err := inout.Read(x, in, "", trec.ReadQrels)
	if err != nil {
		return err
	}
	var out trec.Judgments
	for j := range judged.Each {
		if _, known := queries.byNumber[j.Query]; queries.byNumber != nil && !known {
			x.Count("judgments_of_unlisted_queries", 1) // the collection lists queries with a relevant document
			continue
		}
		q, err := queries.of(j.Query)
		d, errDocument := documents.of(j.Document)
		if err = cmp.Or(err, errDocument); err != nil {
			return step.Permanent(fmt.Errorf("qrels: %w", err))
		}
		if err := out.Judge(q, d, j.Grade); err != nil {
			return step.Permanent(err)
		}
	}
	return inout.WriteFile(x, "files", "qrels.txt", func(w io.Writer) error { return out.WriteAs(w, trec.AsItIs) })
}
