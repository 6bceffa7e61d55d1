package collection

import (
	"context"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/corpora/msmarco"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// msmarcoConfig makes a collection of MS MARCO's documents.
type msmarcoConfig struct {
	Files        step.Inputs `hcl:"files" accepts:"files" help:"msmarco-docs.tsv, plain or compressed: docid, url, title and body with tabs between them; several files are read one after another"`
	TrainQueries step.Inputs `hcl:"train_queries" accepts:"files" help:"msmarco-doctrain-queries.tsv: number, tab, query"`
	TrainQrels   step.Inputs `hcl:"train_qrels" accepts:"files" help:"msmarco-doctrain-qrels.tsv: query, 0, docid, relevance, as TREC has it; above 0 is relevant"`
	DevQueries   step.Inputs `hcl:"dev_queries,optional" accepts:"files" help:"the same for the development queries"`
	DevQrels     step.Inputs `hcl:"dev_qrels,optional" accepts:"files" help:"and for their judgments"`
	Form         string      `hcl:"form,optional" enum:"content,title_content" help:"text of a document: its body, or title and body with a blank between them"`
	Key          string      `hcl:"key,optional" enum:"exact,normalized_title" help:"when two documents are one: never, or if their titles are equal once BERT has tokenized and decoded them; the first stands for all. Titles without letters and digits are equal to none"`
	Tokenizer    step.Inputs `hcl:"tokenizer,optional" accepts:"files" help:"bert-base-uncased tokenizer.json, plain or compressed; needed by normalized_title"`
	Documents    string      `hcl:"documents,optional" enum:"judged,all" help:"which documents are taken: those that are relevant to a query, or others too"`
	Limit        int         `hcl:"limit,optional" help:"for documents all: how many others are taken at most, drawn by seed; 0: all of them"`
	TrainLimit   int         `hcl:"train_limit,optional" help:"train queries that are taken at most, drawn by seed from those that have a relevant document; 0: all"`
	DevLimit     int         `hcl:"dev_limit,optional" help:"the same for development queries"`
	Seed         int         `hcl:"seed,optional" help:"for what is drawn"`
	EmptyBody    string      `hcl:"empty_body,optional" enum:"drop,keep" help:"what becomes of a document whose body has no words"`
	OnBadInput   string      `hcl:"on_bad_record,optional" enum:"fail,skip" help:"what to do with a line that cannot be read, a second one of a document or query, and a file without lines: fail and name it, or leave it out, counted and named in the report; a damaged or cut file always fails"`
	OnMissing    string      `hcl:"on_missing,optional" enum:"skip,fail" help:"what to do with a judgment whose query or document is in none of the files: leave it out, counted, or fail and name it"`
}

var MSMarco = step.Define(step.Kind[msmarcoConfig]{
	Name:    "msmarco",
	Version: 1,
	Doc: `Make a collection from MS MARCO's document ranking data.
The kinds of identifiers, training, evaluation and export take it as they take one of Natural Questions.
Documents are numbered in the order of their files; example_id of a document is the
number in its docid (D301595: 301595), of a query its own. A query with several relevant documents is a training example
with each, and is evaluated once. The paper has no MS MARCO; defaults are what its released code does.
One part per file of documents keeps the lines that are taken; another form or key reads only those. Cost: near
the speed of gunzip on one core per file, and twice through what is kept; memory grows with the documents
and queries that are taken, not with their bodies: 3.2 million documents took 0.7 GB, and 1.2 GB with their
titles under normalized_title.`,
	Example: `step "msmarco" "documents" {
  files         = step.download.msmarco["docs"].files
  train_queries = step.download.msmarco["train_queries"].files
  train_qrels   = step.download.msmarco["train_qrels"].files
  dev_queries   = step.download.msmarco["dev_queries"].files
  dev_qrels     = step.download.msmarco["dev_qrels"].files
  form          = "title_content"
}`,
	Outputs: []step.Output{
		{Name: "documents", Type: "nq/documents", Help: "documents.jsonl.zst: one line per document; key is its docid, or its normalized title"},
		{Name: "queries", Type: "nq/queries", Help: "queries.jsonl.zst: every query and its document; with several documents it has a line for each"},
		{Name: "corpus", Type: "nq/corpus", Help: "corpus.jsonl.zst: doc, title and text, by document number"},
		{Name: "counts", Type: "dedup/counts", Help: "JSON: records, that is lines of queries, documents and coverage, by split and union", Fields: step.FieldsOf[dedupCounts]()},
		{Name: "report", Type: "report", Help: "what was read, left out and why, as JSON", Fields: step.FieldsOf[msmarcoReport]()},
	},
	Defaults: msmarcoConfig{Form: string(msmarco.Content), Key: msmarco.Exact, Documents: judgedDocuments, Seed: 42,
		EmptyBody: "drop", OnBadInput: "fail", OnMissing: "skip"},
	Check: checkMSMarco,
	Parts: []step.Spec{msmarcoFile.Spec},
	Split: splitMSMarco,
	Run:   joinMSMarco,
})

// judgedDocuments takes the documents that are relevant to a query.
const judgedDocuments = "judged"

func checkMSMarco(c msmarcoConfig) error {
	var ps step.Problems
	bad := func(path, detail string) { ps = append(ps, step.Problem{Path: path, Detail: detail}) }
	if c.Key == msmarco.NormalizedTitle && len(c.Tokenizer) == 0 {
		bad("tokenizer", "is needed by key normalized_title")
	}
	if (len(c.DevQueries) == 0) != (len(c.DevQrels) == 0) {
		bad("dev_qrels", "give dev_queries and dev_qrels, or neither")
	}
	if c.Limit != 0 && c.Documents == judgedDocuments {
		bad("limit", `applies only to documents = "all"; judged documents are always all taken`)
	}
	if len(c.DevQueries) == 0 && c.DevLimit != 0 {
		bad("dev_limit", "there are no dev_queries")
	}
	for _, a := range []struct {
		path string
		n    int
	}{{"limit", c.Limit}, {"train_limit", c.TrainLimit}, {"dev_limit", c.DevLimit}, {"seed", c.Seed}} {
		if a.n < 0 {
			bad(a.path, "must not be negative")
		}
	}
	return ps.Err()
}

// msmarcoFileConfig is one file of documents. Its name appears in errors and in the report,
// so it is part of the key.
type msmarcoFileConfig struct {
	File         step.Input  `hcl:"file" help:"documents"`
	Name         string      `hcl:"name" help:"file name, for errors"`
	TrainQueries step.Inputs `hcl:"train_queries" help:"queries"`
	TrainQrels   step.Inputs `hcl:"train_qrels" help:"judgments"`
	DevQueries   step.Inputs `hcl:"dev_queries,optional" help:"queries"`
	DevQrels     step.Inputs `hcl:"dev_qrels,optional" help:"judgments"`
	Documents    string      `hcl:"documents" help:"judged or all"`
	Limit        int         `hcl:"limit" help:"of documents that no query asks for"`
	TrainLimit   int         `hcl:"train_limit" help:"of queries"`
	DevLimit     int         `hcl:"dev_limit" help:"of queries"`
	Seed         int         `hcl:"seed" help:"for what is drawn"`
	EmptyBody    string      `hcl:"empty_body" help:"drop or keep"`
	OnBadInput   string      `hcl:"on_bad_record" help:"fail or skip"`
	OnMissing    string      `hcl:"on_missing" help:"skip or fail"`
}

var msmarcoFile = step.DefinePart(step.Kind[msmarcoFileConfig]{
	Name:    "msmarco_file",
	Version: 1,
	Doc:     "One file of documents of an msmarco step.",
	Outputs: []step.Output{
		{Name: "kept", Type: "msmarco/documents", Help: "the lines of documents that may be taken, compressed with zstd"},
		{Name: "report", Type: "report", Help: "msmarcoFileReport as JSON"},
	},
	Run: runMSMarcoFile,
})

// msmarcoFileReport is what a part says of its file.
type msmarcoFileReport struct {
	Lines nq.Counts `json:"lines"`
	Empty int64     `json:"empty"` // documents whose body has no words
}

var newline = []byte{'\n'}

// msmarcoFileName names a file that has no name of its own.
func msmarcoFileName(i int) string { return fmt.Sprintf("msmarco-docs-%02d.tsv", i) }

func splitMSMarco(_ context.Context, x *step.IO, c msmarcoConfig) ([]step.Task, error) {
	return taskOfEach(x, c.Files, msmarcoFileName, "errors name them", func(f step.Input, name string) (step.Task, error) {
		part := c.part()
		part.File, part.Name = f, name
		return msmarcoFile.Task(part)
	})
}

// part is what the parts are given, without their file.
func (c msmarcoConfig) part() msmarcoFileConfig {
	return msmarcoFileConfig{TrainQueries: c.TrainQueries, TrainQrels: c.TrainQrels, DevQueries: c.DevQueries, DevQrels: c.DevQrels,
		Documents: c.Documents, Limit: c.Limit, TrainLimit: c.TrainLimit, DevLimit: c.DevLimit, Seed: c.Seed,
		EmptyBody: c.EmptyBody, OnBadInput: c.OnBadInput, OnMissing: c.OnMissing}
}

// msmarcoQuestions are the queries of both splits with their judgments.
type msmarcoQuestions struct {
	train, dev             msmarco.Questions
	trainCounts, devCounts msmarco.QuestionCounts
}

// questions reads queries and judgments, which a part needs for the documents that they name.
func (c msmarcoFileConfig) questions(x *step.IO) (*msmarcoQuestions, error) {
	q := &msmarcoQuestions{}
	for _, s := range []struct {
		name           string
		queries, qrels step.Inputs
		limit          int
		into           *msmarco.Questions
		counts         *msmarco.QuestionCounts
	}{
		{"train", c.TrainQueries, c.TrainQrels, c.TrainLimit, &q.train, &q.trainCounts},
		{"dev", c.DevQueries, c.DevQrels, c.DevLimit, &q.dev, &q.devCounts},
	} {
		if err := c.eachLine(x, s.queries, s.name+"-queries", &s.counts.Queries, s.into.AddQuery); err != nil {
			return nil, err
		}
		err := c.eachLine(x, s.qrels, s.name+"-qrels", &s.counts.Judgments, func(line []byte) error {
			return s.into.AddJudgment(line, c.OnMissing == "fail", s.counts)
		})
		if err != nil {
			return nil, err
		}
		s.into.Draw(s.limit, uint64(c.Seed), s.counts)
	}
	return q, nil
}

// policy is what becomes of bad lines.
func (c msmarcoFileConfig) policy() msmarco.Policy {
	return msmarco.Policy{Skip: c.OnBadInput == "skip"}
}

// eachLine visits the lines of files of queries or judgments.
func (c msmarcoFileConfig) eachLine(x *step.IO, ins step.Inputs, name string, counts *nq.Counts, visit func([]byte) error) error {
	for i, in := range ins {
		for _, f := range x.Files(in, fmt.Sprintf("%s-%02d.tsv", name, i)) {
			r, err := x.OpenFile(f)
			if err != nil {
				return err
			}
			err = inout.DataError(c.policy().EachLine(r, f.Name, counts, visit))
			r.Close()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted are the documents that queries name.
func (q *msmarcoQuestions) wanted() map[int64]struct{} {
	all := map[int64]struct{}{}
	for _, s := range []*msmarco.Questions{&q.train, &q.dev} {
		for _, ids := range s.Relevant {
			for _, id := range ids {
				all[id] = struct{}{}
			}
		}
	}
	return all
}

// others draws the documents that no query names.
func (c msmarcoFileConfig) others() *msmarco.Sample {
	n := c.Limit
	switch {
	case c.Documents == judgedDocuments:
		n = 0
	case n == 0:
		n = -1
	}
	return msmarco.NewSample(n, uint64(c.Seed))
}

// runMSMarcoFile keeps the lines of the documents that queries name, empty ones too, and of
// those others that may be drawn: a sample of all files is one of the samples of each.
func runMSMarcoFile(ctx context.Context, x *step.IO, c msmarcoFileConfig) error {
	questions, err := c.questions(x)
	if err != nil {
		return err
	}
	wanted, others := questions.wanted(), c.others()
	in, err := x.Open(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := x.Create("kept")
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	var report msmarcoFileReport
	kept := map[int64]struct{}{}
	var unwritten error // the disk's or the store's, which another attempt may not meet
	seen := func(n int64) {
		x.Report(step.Progress{Done: n, Total: c.File.Artifact.Size, Unit: "bytes", Note: c.Name})
	}
	err = c.policy().EachLine(readers.WithContext(ctx, readers.Counted(in, seen)), c.Name, &report.Lines, func(line []byte) error {
		d, err := msmarco.ParseDocument(line)
		if err != nil {
			return err
		}
		if d.Empty() {
			report.Empty++
		}
		if _, ok := kept[d.ID]; ok {
			return msmarco.Repeated(d.ID)
		}
		if _, ok := wanted[d.ID]; !ok && (d.Empty() && c.EmptyBody == "drop" || !others.Offer(d.ID)) {
			return nil
		}
		kept[d.ID] = struct{}{}
		if _, unwritten = z.Write(line); unwritten == nil {
			_, unwritten = z.Write(newline)
		}
		return unwritten
	})
	if unwritten == nil {
		err = inout.DataError(err)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	x.Count("documents", report.Lines.Records)
	x.Count("kept", int64(len(kept)))
	return errors.Join(out.Close(), inout.WriteJSON(x, "report", report))
}
