package collect

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

func fileAt(path, name string) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(path) }, Path: func() (string, error) { return path, nil }}
}

// memory is a file that is nowhere.
func memory(name, text string) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// result is a collection as text.
type result struct {
	text      string
	questions *Questions
	coll      *Collection
	formats   map[string]Format
}

// imported reads what a folder has, as its names say.
func imported(t *testing.T, folder string, o Options, how map[Role]Reading) (result, error) {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(folder, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	testkit.None(t, err)
	parts, err := Arrange(names, "", false, func(name string) bool {
		return Judges(t.Context(), fileAt(filepath.Join(folder, filepath.FromSlash(name)), name))
	})
	if err != nil {
		return result{}, err
	}
	files := map[Role][]File{}
	splits := map[string]nq.Split{}
	slices.SortStableFunc(names, func(a, b string) int { return parts[a].Compare(parts[b]) })
	for _, name := range names {
		if p, ok := parts[name]; ok {
			files[p.Role] = append(files[p.Role], fileAt(filepath.Join(folder, filepath.FromSlash(name)), name))
			splits[name] = p.Split
		}
	}
	return collected(t, files, splits, o, how)
}

func collected(t *testing.T, files map[Role][]File, splits map[string]nq.Split, o Options, how map[Role]Reading) (result, error) {
	t.Helper()
	r := result{formats: map[string]Format{}}
	reading := func(role Role) Reading {
		if h, ok := how[role]; ok {
			if h.Format == "" {
				h.Format = Auto
			}
			return h
		}
		return Reading{Format: Auto}
	}
	r.questions = NewQuestions(o)
	for _, f := range files[Queries] {
		said, err := r.questions.ReadQueries(t.Context(), f, reading(Queries), splits[f.Name])
		if err != nil {
			return r, err
		}
		r.formats[f.Name] = said.Format
	}
	for _, f := range files[Judgments] {
		said, err := r.questions.ReadJudgments(t.Context(), f, reading(Judgments), splits[f.Name])
		if err != nil {
			return r, err
		}
		r.formats[f.Name] = said.Format
	}
	r.questions.Settle()
	r.coll = NewCollection(r.questions)
	var b strings.Builder
	for _, f := range files[Documents] {
		said, err := r.coll.ReadDocuments(t.Context(), f, reading(Documents), func(d *Document) error {
			fmt.Fprintf(&b, "document %d %q %q %q %d %d %d\n", d.Doc, d.Key, d.Title, d.Text, d.Train, d.Dev, d.Test)
			return nil
		})
		if err != nil {
			return r, err
		}
		r.formats[f.Name] = said.Format
	}
	if err := r.coll.Finish(); err != nil {
		return r, err
	}
	if err := r.coll.EachQuery(func(q *dedup.Query) error {
		fmt.Fprintf(&b, "query %d %q %s %q %d %d\n", q.ExampleID, q.Name, q.Split, q.Question, q.Doc, q.Grade)
		return nil
	}); err != nil {
		return r, err
	}
	for _, split := range Splits() {
		qrels, err := r.coll.Qrels(split)
		if err != nil {
			return r, err
		}
		fmt.Fprintf(&b, "%s\n", split)
		if err := qrels.Write(&b); err != nil {
			return r, err
		}
	}
	r.text = b.String()
	return r, nil
}

// TestFormats: the same fables in every format are the same collection.
func TestFormats(t *testing.T) {
	o := Options{Relevant: 1}
	want, err := imported(t, "testdata/beir", o, nil)
	testkit.None(t, err)
	for _, line := range []string{
		`document 1 "pitcher" "The Crow and the Pitcher" "A CROW perishing with thirst`, `" 1 0 1` + "\n",
		`document 3 "42" "" "A DOG, crossing`,
		`query 1 "q2" train "how did the bird raise the water?" 1 2`,
		`query 2 "q3" dev "a small animal repays <a great one>" 2 0`,
		`query 3 "q4" test "animals near water" 3 2`,
		"train\n0 0 0 1\n1 0 1 2\n1 0 3 0\ndev\n2 0 2 1\ntest\n3 0 1 1\n3 0 3 2\n3 0 0 0\n",
	} {
		testkit.Says(t, want.text, line)
	}
	if r := want.questions.Report; r.Unjudged != 1 || r.Test.Queries != 1 || r.Test.Several != 1 || r.Train.Irrelevant != 1 || r.Dev.Targets != 1 {
		t.Errorf("%+v", r)
	}
	if r := want.coll.Report; r.Union != 5 || r.Judged != 4 || r.Others != 1 || r.Untitled != 1 || r.Lines.Records != 5 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		folder string
		how    map[Role]Reading
		format Format // of the documents
		file   string
	}{
		{"jsonl", nil, JSONL, "documents.jsonl.gz"},
		{"msmarco", nil, TSV, "collection.tsv.bz2"},
		{"trec", nil, TREC, "documents.trec"},
		{"csv", nil, CSV, "documents.csv"},
		{"parquet", nil, Parquet, "corpus/corpus-00001-of-00002.parquet"},
	} {
		t.Run(c.folder, func(t *testing.T) {
			got, err := imported(t, "testdata/"+c.folder, o, c.how)
			testkit.None(t, err)
			testkit.Deep(t, got.text, want.text)
			testkit.Is(t, got.formats[c.file], c.format, c.file)
		})
	}
}

// TestComments: lines that begin with # are comments of TREC's judgments, and not of a query such as #2.
func TestComments(t *testing.T) {
	got, err := collected(t, map[Role][]File{
		Queries:   {memory("q", "id\ttext\nq1\twhat\n#2\twho\n")},
		Judgments: {memory("r", "# of 2026\n\nq1 0 a 1\n# q1 0 b 1\n#2 0 b 1\n#end\n")},
		Documents: {memory("d", "id\ttext\na\tone\nb\ttwo\n")},
	}, nil, Options{Relevant: 1}, nil)
	testkit.None(t, err)
	if !strings.HasSuffix(got.text, "\n0 0 0 1\n1 0 1 1\n") {
		t.Error(got.text)
	}
}

// TestListOfDocuments: a column of Parquet may be a list of the relevant ones.
func TestListOfDocuments(t *testing.T) {
	got, err := collected(t, map[Role][]File{
		Queries: {fileAt("testdata/relevant.parquet", "relevant.parquet")}, Documents: {fileAt("testdata/beir/corpus.jsonl", "corpus.jsonl")},
	}, nil, Options{Relevant: 1}, nil)
	testkit.None(t, err)
	if want := "train\n0 0 0 1\n1 0 1 1\ndev\n2 0 2 1\ntest\n3 0 1 1\n3 0 3 1\n"; !strings.HasSuffix(got.text, want) {
		t.Errorf("%s\nwant\n%s", got.text, want)
	}
}

// TestLayouts: what a file is, by its name.
func TestLayouts(t *testing.T) {
	for name, want := range map[string]Part{
		"corpus.jsonl": {Documents, ""}, "queries.jsonl": {Queries, ""}, "qrels/test.tsv": {Judgments, nq.Test},
		"qrels/train.tsv": {Judgments, nq.Train}, "collection.tsv": {Documents, ""}, "queries.dev.small.tsv": {Queries, nq.Dev},
		"qrels.dev.small.tsv": {Judgments, nq.Dev}, "msmarco-docs.tsv.gz": {Documents, ""},
		"msmarco-doctrain-queries.tsv.gz": {Queries, nq.Train}, "msmarco-docdev-qrels.tsv": {Judgments, nq.Dev},
		"trec/topics.test.trec": {Queries, nq.Test}, "trec/qrels.test.txt": {Judgments, nq.Test},
		"parquet/queries-train.parquet": {Queries, nq.Train}, "jsonl/documents.jsonl.gz": {Documents, ""},
		"corpus/corpus-00000-of-00002.parquet": {Documents, ""}, "qrels/validation-00000-of-00001.parquet": {Judgments, nq.Dev},
		"documents/part-0001.jsonl": {Documents, ""}, "Queries.Train.TSV.bz2": {Queries, nq.Train}, "qrels.test": {Judgments, nq.Test},
	} {
		if got, ok := PartOf(name); !ok || got != want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	for _, name := range []string{"README.md", "LICENSE", "image.png", "part-0001.jsonl", "identifiers/naive.jsonl.gz"} {
		if got, ok := PartOf(name); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
	judges := func(name string) bool { return !strings.Contains(name, "train") }
	for name, want := range map[string]Part{
		"data/test-00000-of-00001.parquet": {Judgments, nq.Test}, "a/data/dev.jsonl": {Judgments, nq.Dev}, "data/validation-0.parquet": {Judgments, nq.Dev},
		"data/train-00000.parquet": {"", nq.Train}, "data/README.md": {}, "data/corpus-test.parquet": {Documents, ""}, "test-00000-of-00001.parquet": {"", nq.Test},
	} {
		if got, ok := PartIn(name, judges); ok != (want.Role != "") || got != want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	export := []string{"README.md", "beir/corpus.jsonl", "beir/queries.jsonl", "beir/qrels/dev.tsv", "jsonl/documents.jsonl.gz", "jsonl/queries.dev.jsonl.gz", "trec/topics.dev.tsv"}
	testkit.ErrSays(t, testkit.Err(Arrange(export, "", false, judges)), `documents are in several folders: "beir", "jsonl"; choose one with folder`)
	for folder, want := range map[string]int{"beir": 3, "jsonl/": 2} {
		if parts, err := Arrange(export, folder, false, judges); err != nil || len(parts) != want {
			t.Errorf("%s: %v, %v", folder, parts, err)
		}
	}
	if parts, err := Arrange([]string{"a/corpus.jsonl", "a/queries.jsonl", "trec/topics.dev.tsv"}, "", false, judges); err != nil || len(parts) != 2 {
		t.Errorf("%v, %v", parts, err)
	}
	testkit.ErrSays(t, testkit.Err(Arrange([]string{"README.md", "x.bin"}, "", false, judges)), `none of the 2 files looks like documents: "README.md", "x.bin"`)
}

// TestJudges: what is in a file says that it has judgments, whatever its format.
func TestJudges(t *testing.T) {
	for text, want := range map[string]bool{
		`{"query-id": "q", "corpus-id": "d", "score": 1}`: true, `{"corpus_id": 1, "query_id": 2}`: true, "query-id\tcorpus-id\tscore\nq\td\t1\n": true,
		`{"query": "q", "document": "d"}`: false, "q\td\t1\n": false, "q 0 d 1\n": false, "": false, "<DOC>\n": false,
	} {
		testkit.Is(t, Judges(t.Context(), memory("data/test", text)), want, text)
	}
	if !Judges(t.Context(), fileAt("testdata/parquet/qrels/dev-00000.parquet", "d")) || Judges(t.Context(), fileAt("testdata/relevant.parquet", "d")) {
		t.Error("of Parquet")
	}
}

// TestForeign: files that are none of ours are told by what they are.
func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		"PK\x03\x04 and so on":            "d.jsonl:1: the file is a zip archive",
		"<!DOCTYPE html><html></html>":    "d.jsonl:1: the file is an HTML page",
		"PAR1 that is too short":          "d.jsonl:1: ",
		"\x1f\x8b\x08 no gzip at all ...": "d.jsonl:1: ",
	} {
		path := filepath.Join(t.TempDir(), "f")
		testkit.None(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := collected(t, map[Role][]File{Documents: {fileAt(path, "d.jsonl")}}, nil, Options{Policy: Policy{Skip: true}, Relevant: 1}, nil)
		testkit.ErrSays(t, err, want)
	}
}

// TestDamaged: a file that is cut fails, whatever is done with bad records.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"jsonl/documents.jsonl.gz", "msmarco/collection.tsv.bz2", "parquet/corpus/corpus-00000-of-00002.parquet"} {
		b, err := os.ReadFile("testdata/" + name)
		testkit.None(t, err)
		path := filepath.Join(t.TempDir(), "cut")
		testkit.None(t, os.WriteFile(path, bytes.Clone(b[:len(b)-9]), 0o600))
		_, err = collected(t, map[Role][]File{Documents: {fileAt(path, name)}}, nil, Options{Policy: Policy{Skip: true}, Relevant: 1}, nil)
		testkit.ErrSays(t, err, name+":", "(stream)")
	}
}

// TestCutLine: a file that is cut behind its first block names the line, not the first one.
func TestCutLine(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range 500 {
		fmt.Fprintf(z, "%d\t%x\n", i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	z.Close()
	_, err := collected(t, map[Role][]File{Documents: {memory("d.tsv.gz", b.String()[:b.Len()/2])}}, nil, Options{Relevant: 1}, nil)
	bad := (*nq.RecordError)(nil)
	if !errors.As(err, &bad) || bad.Line < 50 || bad.Line > 450 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}
