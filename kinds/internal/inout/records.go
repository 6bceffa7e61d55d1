package inout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/step"
)

// Record is a line of a file from elsewhere, about the document that it names.
type Record struct {
	Place    string // "FILE, line N"
	Document string
	fields   map[string]json.RawMessage
	columns  []string // after the document, of a line without JSON
}

// documentNames are the fields that may have a document's name.
var documentNames = []string{"document", "doc_id", "docid", "text_id", "_id", "id"}

// EachRecord visits the lines of files, plain or compressed, one file after another; of a tree, the files that match
// a pattern of path.Match, "" for all. A file whose first line begins with { is JSON lines, each with the document's
// name, a text or a number, as one of documentNames; any other has columns with tabs between them, the document's
// name first. Blank lines count and are passed over.
func EachRecord(x *step.IO, files step.Inputs, what, pattern string, visit func(Record) error) error {
	chosen, err := ChosenFiles(x, files, what, pattern, "*")
	if err != nil {
		return err
	}
	for _, f := range chosen {
		asJSON, begun := false, false
		err := EachLine(x, f, func(n int, line []byte) (bool, error) {
			r := Record{Place: fmt.Sprintf("%s, line %d", f.Name, n)}
			if n == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(bytes.TrimSpace(line)) == 0 {
				return true, nil
			}
			if !begun {
				asJSON, begun = line[0] == '{', true
			}
			if err := r.parse(line, asJSON); err != nil {
				return false, DataError(fmt.Errorf("%s: %w", r.Place, err))
			}
			return true, DataError(visit(r))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ChosenFiles returns an attribute's files whose names match a pattern of path.Match or, without one, the usual
// pattern. A file that is not part of a tree has no name of its own, and is always chosen.
func ChosenFiles(x *step.IO, ins step.Inputs, attribute, pattern, usual string) (chosen []artifacts.File, err error) {
	var all []string
	for _, in := range ins {
		for _, f := range x.Files(in, attribute) {
			all = append(all, f.Name)
			fits := f.Name == pattern || in.Artifact.Files == nil
			if !fits {
				if fits, err = path.Match(cmp.Or(pattern, usual), f.Name); err != nil {
					return nil, step.Permanent(fmt.Errorf("%s: %q is not a pattern of names: %w", attribute, pattern, err))
				}
			}
			if pattern == "" && !fits {
				fits, _ = path.Match(usual, path.Base(f.Name))
			}
			if fits {
				chosen = append(chosen, f)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, step.Permanent(fmt.Errorf("%s: no file is named %q; there are %q", attribute, cmp.Or(pattern, usual), all[:min(10, len(all))]))
	}
	return chosen, nil
}

func (r *Record) parse(line []byte, asJSON bool) error {
	if !asJSON {
		r.columns = strings.Split(string(line), "\t")
		r.Document, r.columns = r.columns[0], r.columns[1:]
		if r.Document == "" || len(r.columns) == 0 {
			return errors.New("want a document's name, a tab and its value; or JSON lines")
		}
		return nil
	}
	if err := json.Unmarshal(line, &r.fields); err != nil {
		return fmt.Errorf("is not a JSON object: %w", err)
	}
	raw, name := r.field(documentNames)
	if raw == nil {
		return fmt.Errorf("names no document: want one of the fields %s", strings.Join(documentNames, ", "))
	}
	if raw[0] != '"' {
		var number json.Number
		if err := json.Unmarshal(raw, &number); err != nil {
			return fmt.Errorf("field %s is neither a text nor a number", name)
		}
		r.Document = number.String()
		return nil
	}
	return json.Unmarshal(raw, &r.Document)
}

// field returns the first of the named fields that the line has, and its name; nil without any.
func (r *Record) field(names []string) (json.RawMessage, string) {
	for _, name := range names {
		if raw, ok := r.fields[name]; ok && string(raw) != "null" {
			return raw, name
		}
	}
	return nil, ""
}

// Text returns the first of the named fields of a line of JSON or, of other lines, a column, counted from 0 after
// the document's name; "" if the line lacks it.
func (r *Record) Text(column int, names ...string) (text string, err error) {
	if r.fields != nil {
		err = r.read(&text, "a text", names)
	} else if column < len(r.columns) {
		text = r.columns[column]
	}
	return text, err
}

// List decodes the first of the named fields of a line of JSON into a list, which stays as it is without any.
func (r *Record) List(of any, names ...string) error {
	return r.read(of, "the expected list", names)
}

func (r *Record) read(into any, what string, names []string) error {
	raw, name := r.field(names)
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: field %s is not %s: %w", r.Place, name, what, err)
	}
	return nil
}

// Texts are the attributes for what becomes vectors: the documents of a corpus, or queries. Kinds embed it.
type Texts struct {
	Corpus    step.Input `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the collection's documents"`
	Queries   step.Input `hcl:"queries,added" accepts:"nq/queries" help:"instead of a corpus: queries, one row for each query of the split, in order"`
	Split     string     `hcl:"split,added" enum:"train,dev,test" help:"which of the queries"`
	Documents step.Input `hcl:"documents,optional" accepts:"nq/documents" help:"the collection, for titles from its URLs, or its own titles where there are no URLs"`
	Title     bool       `hcl:"title,optional" help:"a document's title and a blank come before the text, which in NQ mostly begins with a title too"`
}

// Check adds which attributes do not go together.
func (t Texts) Check(ps *step.Problems) {
	switch {
	case !t.Queries.Set() && !t.Corpus.Set():
		Add(ps, "corpus", "set either corpus or queries; exactly one of them is embedded")
	case !t.Queries.Set() && t.Title && !t.Documents.Set():
		Add(ps, "documents", "is needed for titles; or give title = false")
	case t.Queries.Set() && t.Corpus.Set():
		Add(ps, "queries", "and corpus are both given: a step embeds one of them, so use another step for the other")
	case t.Queries.Set() && t.Documents.Set():
		Add(ps, "documents", "applies only to a corpus: queries have no titles")
	}
}

// Unit says what the texts are, in the plural.
func (t Texts) Unit() string {
	if t.Queries.Set() {
		return "queries"
	}
	return "documents"
}

// Each yields the texts, in order; an error ends them.
func (t Texts) Each(x *step.IO) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		each := t.eachDocument
		if t.Queries.Set() {
			each = t.eachQuery
		}
		if err := each(x, func(text string) bool { return yield(text, nil) }); err != nil {
			yield("", err)
		}
	}
}

func (t Texts) eachQuery(x *step.IO, yield func(string) bool) error {
	questions, err := ReadQuestions(x, t.Queries, nq.Split(t.Split), nil)
	for _, q := range questions {
		if !yield(q.Text) {
			return nil
		}
	}
	return err
}

// eachDocument checks that the corpus has every document, and titles for all of them.
func (t Texts) eachDocument(x *step.IO, yield func(string) bool) error {
	var titles []string
	if t.Title {
		err := EachRow(x, t.Documents, "", func(d *dedup.Document) error {
			title := d.Title
			if d.URL != "" {
				title, _ = wikipedia.URLTitle(d.URL)
			}
			titles = append(titles, title)
			return nil
		})
		if err != nil {
			return err
		}
	}
	rd, done, err := OpenCorpus(x, t.Corpus)
	if err != nil {
		return err
	}
	defer done()
	read := 0
	for d, err := range rd.All() {
		text := d.Text
		switch {
		case err != nil:
			return DataError(err)
		case int(d.Doc) != read:
			return step.Permanent(fmt.Errorf("corpus: document %d where %d was expected: all documents need a vector, in order", d.Doc, read))
		case t.Title && read >= len(titles):
			return step.Permanent(fmt.Errorf("document %d of corpus is not one of the %d in documents: take both from the same collection", d.Doc, len(titles)))
		case t.Title:
			text = titles[read] + " " + text
		}
		read++
		if !yield(text) {
			return nil
		}
	}
	if t.Title && read != len(titles) {
		return step.Permanent(fmt.Errorf("corpus has %d documents, documents %d: take both from the same collection", read, len(titles)))
	}
	return nil
}

// Question is a query of a split with its relevant documents.
type Question struct {
	Name      string // as runs, qrels and exports by number have it: the decimal ExampleID
	Key       string // its name outside of redsi; Name if it has none
	Text      string
	Documents []int32 // numbers in the collection, in the order of the queries' lines
	Grades    []int   // of Documents, at least 1
	Seen      bool    // one of Documents has a training query
}

// ReadQuestions reads the queries of a split. A query has a line for each of its documents, one after another.
// check, if not nil, sees each line of every split; what it returns is an error of the data.
func ReadQuestions(x *step.IO, in step.Input, split nq.Split, check func(*dedup.Query) error) ([]Question, error) {
	var out []Question
	asked, trained := map[int64]bool{}, map[int32]bool{}
	err := EachQuery(x, in, "queries", func(q *dedup.Query) error {
		if check != nil {
			if err := check(q); err != nil {
				return fmt.Errorf("%s example %d: %w", q.Split, q.ExampleID, err)
			}
		}
		if q.Split == nq.Train {
			trained[q.Doc] = true
		}
		if q.Split != split {
			return nil
		}
		name, grade := strconv.FormatInt(q.ExampleID, 10), max(1, int(q.Grade))
		if last := len(out) - 1; last >= 0 && out[last].Name == name && out[last].Text == q.Question && !slices.Contains(out[last].Documents, q.Doc) {
			out[last].Documents = append(out[last].Documents, q.Doc)
			out[last].Grades = append(out[last].Grades, grade)
			return nil
		}
		if asked[q.ExampleID] {
			return fmt.Errorf("%s example %d occurs twice: runs name queries by it", split, q.ExampleID)
		}
		asked[q.ExampleID] = true
		out = append(out, Question{Name: name, Key: cmp.Or(q.Name, name), Text: q.Question, Documents: []int32{q.Doc}, Grades: []int{grade}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, step.Permanent(fmt.Errorf("there are no %s queries to evaluate", split))
	}
	for i := range out {
		out[i].Seen = slices.ContainsFunc(out[i].Documents, func(d int32) bool { return trained[d] })
	}
	return out, nil
}

// WriteQrels writes the questions' relevant documents, by number, as output "qrels", and returns them.
func WriteQrels(x *step.IO, questions []Question) (*trec.Judgments, error) {
	judged := &trec.Judgments{}
	for _, q := range questions {
		for i, d := range q.Documents {
			if err := judged.Judge(q.Name, strconv.Itoa(int(d)), q.Grades[i]); err != nil {
				return nil, step.Permanent(err)
			}
		}
	}
	return judged, Write(x, "qrels", judged.Write)
}

// RunTag is the last field of a run's lines.
const RunTag = "redsi"

// WriteRun writes rankings, best first and documents by number, as output "run". trec.Untie sets equal scores apart,
// which trec_eval would order by name.
func WriteRun(x *step.IO, rankings []trec.Ranking) error {
	return WriteRuns(x, func(put func([]trec.Ranking) error) error { return put(rankings) })
}

// WriteRuns is WriteRun in pieces, each with the rankings of further queries.
func WriteRuns(x *step.IO, each func(put func([]trec.Ranking) error) error) error {
	return Write(x, "run", func(w io.Writer) error {
		return each(func(rankings []trec.Ranking) error {
			untied, moved := trec.Untie(rankings)
			x.Count("scores_untied", int64(moved))
			return step.Permanent(trec.WriteRun(w, RunTag, untied, trec.EncodeName))
		})
	})
}
