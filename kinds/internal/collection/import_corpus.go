package collection

import (
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type importCorpusConfig struct {
	importing
	Key       string      `hcl:"key,added" enum:"exact,normalized_title" help:"when two documents are one: never, or if their titles are equal once BERT has tokenized and decoded them; the first stands for all. Titles without letters and digits are equal to none"`
	Tokenizer step.Inputs `hcl:"tokenizer,added" accepts:"files" help:"bert-base-uncased tokenizer.json, plain or compressed; needed by normalized_title"`
}

// importing is what an import_corpus step and its parts have in common: what decides which documents are taken.
type importing struct {
	Files        step.Inputs         `hcl:"files,optional" accepts:"files,file,hub/dataset" help:"a tree that has it all, each file recognised by its name: BEIR's layout (corpus.jsonl, queries.jsonl, qrels/test.tsv), the hub's (corpus/, queries/, and data/test-*.parquet with query-id and corpus-id), MS MARCO's, and those of export. The following attributes are for files that are named otherwise"`
	Folder       string              `hcl:"folder,optional" help:"with files: only what is below this folder, such as beir of an export"`
	Documents    step.Inputs         `hcl:"documents,optional" accepts:"files,file,hub/dataset" help:"documents, plain or compressed; of a tree, the files whose names say so, or else all that say nothing"`
	Queries      step.Inputs         `hcl:"queries,optional" accepts:"files,file,hub/dataset" help:"queries of every split: a field split, the file that judges a query, or a draw says which split it is in; their documents may be in a field document"`
	TrainQueries step.Inputs         `hcl:"train_queries,optional" accepts:"files,file,hub/dataset" help:"queries of the train split"`
	DevQueries   step.Inputs         `hcl:"dev_queries,optional" accepts:"files,file,hub/dataset" help:"queries of the dev split"`
	TestQueries  step.Inputs         `hcl:"test_queries,optional" accepts:"files,file,hub/dataset" help:"queries of the test split"`
	Qrels        step.Inputs         `hcl:"qrels,optional" accepts:"files,file,hub/dataset" help:"judgments of any split"`
	TrainQrels   step.Inputs         `hcl:"train_qrels,optional" accepts:"files,file,hub/dataset" help:"judgments of train queries"`
	DevQrels     step.Inputs         `hcl:"dev_qrels,optional" accepts:"files,file,hub/dataset" help:"judgments of dev queries"`
	TestQrels    step.Inputs         `hcl:"test_qrels,optional" accepts:"files,file,hub/dataset" help:"judgments of test queries"`
	Pick         map[string][]string `hcl:"pick,optional" help:"which files of a tree are what, where names do not say it; the other files stay what their names say: patterns of their names by attribute, such as { documents = [\"part-*.jsonl\"], test_qrels = [\"gold.tsv\"] }"`

	Format       string            `hcl:"format,optional" enum:"auto,jsonl,tsv,csv,trec,parquet" help:"for documents: one JSON object a line; columns with tabs, nothing quoted; with commas or tabs, and quotes; <DOC> elements; a Parquet table. auto: each file by its contents and name"`
	QueryFormat  string            `hcl:"query_format,optional" enum:"auto,jsonl,tsv,csv,trec,parquet" help:"the same for queries; trec is <top> elements"`
	QrelsFormat  string            `hcl:"qrels_format,optional" enum:"auto,jsonl,tsv,csv,trec,parquet" help:"the same for judgments; trec is query, 0, document and grade with blanks between them"`
	Fields       map[string]string `hcl:"fields,optional" help:"names in the files of documents, where they are not the usual ones, of id, title, text, url, oldid and page_id"`
	QueryFields  map[string]string `hcl:"query_fields,optional" help:"the same for queries, of id, text, split, document and grade"`
	QrelsFields  map[string]string `hcl:"qrels_fields,optional" help:"the same for judgments, of query, document and grade; of files that have other fields and no grade, grade is any name that they do not have"`
	Columns      []string          `hcl:"columns,optional" enum:",id,title,text,url,oldid,page_id" help:"columns of tables of documents that have no line of names, by the names of fields, \"\" for others; default: id and text; id, title and text; id, url, title and text"`
	QueryColumns []string          `hcl:"query_columns,optional" enum:",id,text,split,document,grade" help:"the same for queries; default: id and text"`
	QrelsColumns []string          `hcl:"qrels_columns,optional" enum:",query,document,grade" help:"the same for judgments; default: query and document; with grade; query, \"\", document and grade"`

	Form       string               `hcl:"form,optional" enum:"content,title_content" help:"text of a document: as it is, or title and text with a blank between them"`
	Relevant   int                  `hcl:"relevant,optional" min:"1" help:"the least grade of a relevant document; others are in the qrels only"`
	Split      map[nq.Split]float64 `hcl:"split,optional" min:"0" max:"1" help:"shares of dev and test that are drawn by seed, such as { dev = 0.1, test = 0.2 }; the rest is train. Queries with the same words are drawn together"`
	SplitFrom  string               `hcl:"split_from,optional" enum:"unsplit,train" help:"which queries they are drawn from: those whose split nothing says, or train's"`
	Limit      map[nq.Split]int     `hcl:"limit,added" min:"1" help:"how many queries of train, dev and test with a relevant document are taken at most, and how many documents beside the judged ones, such as { train = 95000, documents = 100000 }; drawn by seed"`
	Seed       int                  `hcl:"seed,optional" min:"0" help:"for what is drawn"`
	Keep       string               `hcl:"keep,optional" enum:"all,judged,relevant" help:"which documents are taken: all, judged documents, relevant or not, or documents that are relevant to a query that is taken"`
	Empty      string               `hcl:"empty,optional" enum:"keep,drop,drop_body" help:"what becomes of a document whose text has no words; drop_body leaves out those too of which only the title has some"`
	OnBadInput string               `hcl:"on_bad_record,optional" enum:"fail,skip" help:"what to do with a record that cannot be read, a second one of a document or query, and a file without records: fail and name it, or leave it out, counted and named in the report; a damaged or cut file always fails"`
	OnMissing  string               `hcl:"on_missing,optional" enum:"skip,fail" help:"what to do with a judgment whose query or document is in none of the files: leave it out, counted, or fail and name it"`
}

var ImportCorpus = step.Define(step.Kind[importCorpusConfig]{
	Name:    "import_corpus",
	Version: 3,
	Doc: `Make a collection from any files of documents, queries and judgments.
The kinds of identifiers, training, evaluation and export take it as they take one of Natural Questions.
JSON lines, BEIR's layout, TREC's elements, MS MARCO's tables, TSV,
CSV and Parquet; each plain or compressed with gzip, bzip2 or zstd, and told by its contents. Documents are numbered in
the order of their files; those that no query asks for are kept. A query with several relevant documents is a training
example with each, and is evaluated once. The report says what each file was read as, and counts what was left out.
Names of documents and queries stay in the collection; export with ids = "key" gives them back. MS MARCO's document
ranking data are four columns: id, url, title and text.
Where documents are left out by keep or limit, a part for each of their files keeps what may be taken, and another
key reads only that; a document of two files is then found if both keep it. Cost: one pass over
documents, two of what is kept with a limit of documents or key = "normalized_title";  1 million passages of 350 bytes in 9 seconds on one core; memory is that of the queries, the judgments and
the documents' names, not of their texts: 0.3 GB for those with 107,000 queries.`,
	Example: `step "import_corpus" "mine" {
  documents = step.download.mine["documents"].files
  queries   = step.download.mine["queries"].files
  qrels     = step.download.mine["qrels"].files
  split     = { dev = 0.1, test = 0.2 }
  form      = "title_content"
}`,
	Outputs: []step.Output{
		{Name: "documents", Type: "nq/documents", Help: "documents.jsonl.zst: one line per document; key is its name, or its normalized title"},
		{Name: "queries", Type: "nq/queries", Help: "queries.jsonl.zst: every query and a relevant document; with several documents it has a line for each. name is that in its file, example_id its place among all that were read"},
		{Name: "corpus", Type: "nq/corpus", Help: "corpus.jsonl.zst: doc, title and text, by document number"},
		{Name: "counts", Type: "dedup/counts", Help: "JSON: records, that is lines of queries, documents and coverage, by split and union", Fields: step.FieldsOf[dedupCounts]()},
		{Name: "train_qrels", Type: "trec/qrels", Help: "TREC qrels of the train queries by number: all judgments, including documents that are not relevant; empty if there are none"},
		{Name: "dev_qrels", Type: "trec/qrels", Help: "the same for the dev queries"},
		{Name: "test_qrels", Type: "trec/qrels", Help: "the same for the test queries"},
		{Name: "report", Type: "report", Help: "what was read as what, what was left out and why, as JSON", Fields: step.FieldsOf[importCorpusReport]()},
	},
	Defaults: importCorpusConfig{importing: importing{Format: string(collect.Auto), QueryFormat: string(collect.Auto), QrelsFormat: string(collect.Auto),
		Relevant: 1, SplitFrom: "unsplit", Seed: 42, Keep: string(collect.KeepAll), Empty: "keep", OnBadInput: "fail", OnMissing: "skip",
		Form: string(collect.Content)}, Key: collect.Exact},
	Check: inout.Checks(checkImportCorpus),
	Parts: []step.Spec{importFile.Spec},
	Split: splitImportCorpus,
	Run:   runImportCorpus,
})

type importCorpusReport struct {
	Files     []collect.FileReport    `json:"files"`
	Documents collect.DocumentsReport `json:"documents"`
	collect.QuestionsReport
}

func checkImportCorpus(c importCorpusConfig, ps *step.Problems) {
	inout.Check(ps, "documents", len(c.Files)+len(c.Documents) > 0, "give files, a tree that has documents, queries and judgments, or documents")
	inout.Check(ps, "folder", c.Folder == "" || len(c.Files) > 0, "applies only together with files")
	attributes := lists.Map(c.sources(), func(s importSource) string { return s.attribute })
	slices.Sort(attributes)
	for _, name := range slices.Sorted(maps.Keys(c.Pick)) {
		inout.Check(ps, "pick", slices.Contains(attributes, name), "%q is not one of %v", name, attributes)
		for _, pattern := range c.Pick[name] {
			inout.CheckPattern(ps, "pick", pattern)
		}
	}
	for _, r := range []struct {
		fields string
		role   collect.Role
	}{{"fields", collect.Documents}, {"query_fields", collect.Queries}, {"qrels_fields", collect.Judgments}} {
		fields := collect.FieldNames(r.role)
		for _, name := range slices.Sorted(maps.Keys(c.reading(r.role).Fields)) {
			inout.Check(ps, r.fields, slices.Contains(fields, name), "%q is not one of %v", name, fields)
		}
	}
	inout.Check(ps, "tokenizer", c.Key != collect.NormalizedTitle || len(c.Tokenizer) > 0, "is needed by key normalized_title")
	for _, name := range slices.Sorted(maps.Keys(c.Limit)) {
		switch {
		case name != limitDocuments && !slices.Contains(collect.Splits(), name):
			inout.Add(ps, "limit", "%q is not one of train, dev, test and documents", name)
		case name == limitDocuments && c.Keep != string(collect.KeepAll):
			inout.Add(ps, "limit", `documents applies only to keep = "all"; judged documents are always all taken`)
		}
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(c.Split)) {
		inout.Check(ps, "split", name == nq.Dev || name == nq.Test, "%q is neither dev nor test; what is not drawn is train", name)
		sum += c.Split[name]
	}
	inout.Check(ps, "split", sum <= 1, "the shares add up to more than 1")
	inout.Check(ps, "split_from", c.SplitFrom == "unsplit" || len(c.Split) > 0, "applies only together with split")
}

type importSource struct {
	attribute string
	role      collect.Role
	split     nq.Split
	inputs    step.Inputs
}

// sources returns the attributes that have files of one role, in the order in which they are read.
func (c importing) sources() []importSource {
	return []importSource{
		{"queries", collect.Queries, "", c.Queries}, {"train_queries", collect.Queries, nq.Train, c.TrainQueries},
		{"dev_queries", collect.Queries, nq.Dev, c.DevQueries}, {"test_queries", collect.Queries, nq.Test, c.TestQueries},
		{"qrels", collect.Judgments, "", c.Qrels}, {"train_qrels", collect.Judgments, nq.Train, c.TrainQrels},
		{"dev_qrels", collect.Judgments, nq.Dev, c.DevQrels}, {"test_qrels", collect.Judgments, nq.Test, c.TestQrels},
		{"documents", collect.Documents, "", c.Documents},
	}
}

func (c importing) reading(role collect.Role) collect.Reading {
	return map[collect.Role]collect.Reading{
		collect.Documents: {Format: collect.Format(c.Format), Fields: c.Fields, Columns: c.Columns},
		collect.Queries:   {Format: collect.Format(c.QueryFormat), Fields: c.QueryFields, Columns: c.QueryColumns},
		collect.Judgments: {Format: collect.Format(c.QrelsFormat), Fields: c.QrelsFields, Columns: c.QrelsColumns},
	}[role]
}

// limitDocuments is the name in limit for documents that no judgment names.
const limitDocuments = "documents"

func (c importing) options() collect.Options {
	o := collect.Options{Policy: collect.Policy{Skip: c.OnBadInput == "skip"}, AllKnown: c.OnMissing == "fail", Relevant: int32(c.Relevant),
		Seed: uint64(c.Seed), Keep: collect.Keep(c.Keep), Others: c.Limit[limitDocuments], Limit: c.Limit, Draw: c.Split,
		Drop: c.Empty != "keep", Bodies: c.Empty == "drop_body", Form: collect.Form(c.Form)}
	if c.SplitFrom == string(nq.Train) {
		o.DrawFrom = nq.Train
	}
	return o
}
