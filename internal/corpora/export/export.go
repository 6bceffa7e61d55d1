package export

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/corpora/trec"
)

// Document is one document of a collection. Zero OldID, PageID and an empty Text are left out where the format allows it.
type Document struct {
	ID    string `json:"id" parquet:"id"`
	Title string `json:"title" parquet:"title"`
	Text  string `json:"text,omitempty" parquet:"text,optional"`

	Key       string `json:"key,omitempty" parquet:"key"` // deduplication key
	URL       string `json:"url,omitempty" parquet:"url"`
	OldID     uint64 `json:"oldid,omitempty" parquet:"oldid,optional"`     // revision that represents it
	PageID    uint64 `json:"page_id,omitempty" parquet:"page_id,optional"` // Wikipedia page
	ExampleID int64  `json:"example_id" parquet:"example_id"`              // record that represents it
	Train     int32  `json:"train" parquet:"train"`                        // queries
	Dev       int32  `json:"dev" parquet:"dev"`
	Test      int32  `json:"test,omitempty" parquet:"test,optional"` // of collections that have this split

	URLTitle string  `json:"-" parquet:"-"` // title in its URL, for Redsi
	Examples []int64 `json:"-" parquet:"-"` // its records, dev first, without repeats, for Redsi
}

// Query is one question with a relevant document. A question with several documents is one Query for each, in succession.
type Query struct {
	ID    string   `json:"id"`
	Split nq.Split `json:"split"`
	Text  string   `json:"text"`
	DocID string   `json:"doc_id"`
	Grade int32    `json:"grade,omitempty"` // relevance of the document; 0: not given, means 1

	Graded bool       `json:"-"` // the collection has grades
	Judged []Judgment `json:"-"` // on a question's first line: all its judgments, if they name more than its documents
}

type Judgment struct {
	DocID string
	Grade int32
}

// judgments returns the judgments to write for a line of queries.
func (q *Query) judgments(sameQuestion bool) []Judgment {
	switch {
	case q.Judged == nil:
		return []Judgment{{q.DocID, max(q.Grade, 1)}}
	case sameQuestion:
		return nil
	}
	return q.Judged
}

// Identifier is the name that a model generates for a document.
type Identifier struct {
	DocID  string  `json:"doc_id" parquet:"doc_id"`
	Text   string  `json:"identifier" parquet:"identifier"`
	Tokens []int32 `json:"tokens" parquet:"tokens,list"` // of the model's tokenizer
}

type Identifiers struct {
	Name string // such as "naive"
	Each iter.Seq2[*Identifier, error]
}

// Collection is read once, in this order: documents, queries, identifiers. A yielded pointer is valid until the next.
type Collection struct {
	Documents   iter.Seq2[*Document, error]
	Queries     iter.Seq2[*Query, error]
	Identifiers []Identifiers
	Variant     nq320k.Variant // for Redsi
	Renamed     func() int     // number of names that differ from redsi's, once all was read; nil: none
}

// Sink creates a file by its slash-separated name.
type Sink func(name string) (io.WriteCloser, error)

// Format is a way to write a collection, into files in a folder of its name; Redsi's files are in data.
type Format string

const (
	JSONL   Format = "jsonl"   // documents.jsonl.gz, queries.{train,dev,test}.jsonl.gz
	Parquet Format = "parquet" // documents.parquet, queries-{train,dev,test}.parquet
	TREC    Format = "trec"    // topics.{train,dev,test}.{trec,tsv}, qrels.{train,dev,test}.txt
	BEIR    Format = "beir"    // corpus.jsonl, queries.jsonl, qrels/{train,dev,test}.tsv
	Redsi   Format = "redsi"   // the layout in which NQ320K was published; package nq320k

	// Croissant describes the other formats: WriteCroissant writes it after them.
	Croissant Format = "croissant"
)

func Formats() []Format { return []Format{JSONL, Parquet, TREC, BEIR, Redsi} }

type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

type Summary struct {
	Documents   int            `json:"documents"`
	Texts       int            `json:"texts"` // documents with a text
	Train       int            `json:"train"` // queries
	Dev         int            `json:"dev"`
	Test        int            `json:"test,omitempty"`
	Graded      bool           `json:"graded,omitempty"` // the judgments have grades
	Identifiers []string       `json:"identifiers"`      // types
	Variant     nq320k.Variant `json:"variant"`          // of Redsi, if that was written
	Files       []File         `json:"files"`            // by name
	// Respaced counts texts with white space that became one blank in TREC's line formats; other formats keep it.
	Respaced int `json:"respaced"`
	// Escaped counts questions with "&", "<" or ">", which are entities in TREC's topics.
	Escaped int `json:"escaped"`
	Renamed int `json:"renamed,omitempty"` // names whose white space or control characters are "_"
}

// writer writes one format; documents come before queries.
type writer interface {
	document(*Document) error
	query(q *Query, sameQuestion bool) error // sameQuestion: another document of the previous question
}

// Write writes all given formats in one pass. The first invalid document or query ends it, with incomplete files.
func Write(c Collection, formats []Format, create Sink) (Summary, error) {
	out := &files{create: create}
	var s Summary
	var ws []writer
	fail := func(err error) (Summary, error) { return Summary{}, errors.Join(err, out.close()) }
	for i, f := range formats {
		if slices.Contains(formats[:i], f) {
			return fail(fmt.Errorf("export format %q is given twice", f))
		}
		w, err := open(f, out, &s, c.Variant)
		if err != nil {
			return fail(err)
		}
		ws = append(ws, w)
	}
	ids := map[string]struct{}{}
	for d, err := range c.Documents {
		if err == nil {
			err = checkDocument(d, ids)
		}
		for i := 0; i < len(ws) && err == nil; i++ {
			err = ws[i].document(d)
		}
		if err != nil {
			return fail(err)
		}
		s.Documents++
		if d.Text != "" {
			s.Texts++
		}
	}
	asked := map[string]struct{}{}
	var last Query
	var answers []string // of the last question
	for q, err := range c.Queries {
		sameQuestion := false
		if err == nil {
			sameQuestion = len(answers) > 0 && q.ID == last.ID && q.Split == last.Split && q.Text == last.Text && !slices.Contains(answers, q.DocID)
			err = checkQuery(q, sameQuestion, ids, asked)
		}
		for i := 0; i < len(ws) && err == nil; i++ {
			err = ws[i].query(q, sameQuestion)
		}
		if err != nil {
			return fail(err)
		}
		switch {
		case sameQuestion:
		case q.Split == nq.Train:
			s.Train++
		case q.Split == nq.Dev:
			s.Dev++
		default:
			s.Test++
		}
		s.Graded = s.Graded || q.Graded
		if last = *q; !sameQuestion {
			answers = answers[:0]
		}
		answers = append(answers, q.DocID)
	}
	err := out.close()
	for _, set := range c.Identifiers {
		if err == nil {
			err = errors.Join(writeIdentifiers(out, set, slices.Contains(formats, Parquet), ids), out.close())
			s.Identifiers = append(s.Identifiers, set.Name)
		}
	}
	if err != nil {
		return Summary{}, err
	}
	if c.Renamed != nil {
		s.Renamed = c.Renamed()
	}
	s.Files = out.sorted()
	return s, nil
}

func open(f Format, out *files, s *Summary, v nq320k.Variant) (writer, error) {
	switch f {
	case JSONL:
		return openJSONL(out)
	case Parquet:
		return openParquet(out)
	case TREC:
		return openTREC(out, s)
	case BEIR:
		return openBEIR(out)
	case Redsi:
		s.Variant = v
		return openRedsi(out, v)
	}
	return nil, fmt.Errorf("there is no export format %q; the formats are %v", f, Formats())
}

func checkDocument(d *Document, ids map[string]struct{}) error {
	if err := checkID(d.ID); err != nil {
		return fmt.Errorf("document %q (%s): %w", d.ID, d.Title, err)
	}
	if _, ok := ids[d.ID]; ok {
		return fmt.Errorf("two documents have the id %q; the second is %s", d.ID, d.Title)
	}
	for _, s := range []string{d.Title, d.Text, d.Key, d.URL} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("document %q: %.40q is not valid UTF-8", d.ID, s)
		}
	}
	ids[strings.Clone(d.ID)] = struct{}{}
	return nil
}

func checkQuery(q *Query, sameQuestion bool, ids, asked map[string]struct{}) error {
	if err := checkID(q.ID); err != nil {
		return fmt.Errorf("query %q: %w", q.ID, err)
	}
	if !slices.Contains(nq.Splits, q.Split) {
		return fmt.Errorf("query %q is in the unknown split %q; the splits are %v", q.ID, q.Split, nq.Splits)
	}
	if _, ok := ids[q.DocID]; !ok {
		return fmt.Errorf("query %q of %s has the target %q, which is not a document", q.ID, q.Split, q.DocID)
	}
	if _, ok := asked[q.ID]; ok && !sameQuestion {
		return fmt.Errorf("two queries have the id %q; the second is of %s", q.ID, q.Split)
	}
	if !utf8.ValidString(q.Text) {
		return fmt.Errorf("query %q: its text is not valid UTF-8", q.ID)
	}
	asked[strings.Clone(q.ID)] = struct{}{}
	return nil
}

// checkID accepts ids that all formats can hold as one word.
func checkID(id string) error {
	switch {
	case id == "":
		return errors.New("the id is empty")
	case !utf8.ValidString(id):
		return errors.New("the id is not valid UTF-8")
	case strings.ContainsFunc(id, trec.Cuts):
		return errors.New("the id contains white space or a control character, which TREC and TSV files cannot hold")
	}
	return nil
}

// files creates files, and keeps their sizes, digests and closers.
type files struct {
	create  Sink
	closers []func() error
	done    []File
}

// close finishes every file, also if an earlier write failed.
func (f *files) close() (err error) {
	for _, c := range f.closers {
		err = errors.Join(err, c())
	}
	f.closers = nil
	return err
}

func (f *files) open(name string) (io.WriteCloser, error) {
	w, err := f.create(name)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	return &file{w: w, name: name, hash: sha256.New(), files: f}, nil
}

func (f *files) sorted() []File {
	slices.SortFunc(f.done, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return f.done
}

type file struct {
	w     io.WriteCloser
	name  string
	bytes int64
	hash  hash.Hash
	files *files
}

func (f *file) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	f.bytes += int64(n)
	f.hash.Write(p[:n])
	if err != nil {
		err = fmt.Errorf("write %s: %w", f.name, err)
	}
	return n, err
}

func (f *file) Close() error {
	if err := f.w.Close(); err != nil {
		return fmt.Errorf("close %s: %w", f.name, err)
	}
	f.files.done = append(f.files.done, File{f.name, f.bytes, hex.EncodeToString(f.hash.Sum(nil))})
	return nil
}
