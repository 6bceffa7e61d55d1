package collect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestFaults: every bad record is named by file and line, or left out and counted.
func TestFaults(t *testing.T) {
	const docs = `{"id":"a","text":"one"}` + "\n"
	const queries = `{"id":"q","text":"what"}` + "\n"
	const qrels = "q\t0\ta\t1\n"
	for _, c := range []struct {
		name                  string
		docs, queries, qrels  string
		docFile               string
		how                   map[Role]Reading
		want                  string // of the error
		reason                nq.Reason
		role                  Role
		documents, stillAsked int64 // where bad records are skipped
	}{
		{name: "no JSON", docs: docs + `{"id":"b"` + "\n", want: "d:2: not one JSON object: ", reason: nq.BadJSON, role: Documents, documents: 1, stillAsked: 1},
		{name: "a list", docs: docs + "[1]\n", want: "d:2: the line begins with [", reason: nq.BadJSON, role: Documents, documents: 1, stillAsked: 1},
		{name: "a text", docs: docs + `"a"` + "\n", want: "d:2: the line is no JSON object", reason: nq.BadJSON, role: Documents, documents: 1, stillAsked: 1},
		{name: "two objects", docs: docs + `{"id":"b","text":"t"} {}` + "\n", want: "d:2: text after the JSON object", reason: nq.BadJSON, role: Documents, documents: 1, stillAsked: 1},
		{name: "a name twice", docs: docs + `{"id":"b","text":"t","text":"u"}` + "\n", want: "d:2: not one JSON object: ", reason: nq.BadJSON, role: Documents, documents: 1, stillAsked: 1},
		{name: "no UTF-8", docs: docs + "{\"id\":\"b\",\"text\":\"\xff\"}\n", want: "d:2: the line is not UTF-8", reason: nq.BadUTF8, role: Documents, documents: 1, stillAsked: 1},
		{name: "a name that is null", docs: docs + `{"id":null,"text":"t"}` + "\n", want: "d:2: the document has an empty name", reason: nq.MissingField, role: Documents, documents: 1, stillAsked: 1},
		{name: "no text", docs: docs + `{"id":"b","body_text":"t"}` + "\n", want: `d:2: no text: looked for text, contents, content, body, passage, segment, abstract, the fields are "id", "body_text"; say which it is by fields`, reason: nq.MissingField, role: Documents, documents: 1, stillAsked: 1},
		{name: "no name", docs: docs + `{"id":" ","text":"t"}` + "\n", want: "d:2: the document has an empty name", reason: nq.MissingField, role: Documents, documents: 1, stillAsked: 1},
		{name: "a list in place of a text", docs: docs + `{"id":"b","text":["t"]}` + "\n", want: "d:2: text is a list", reason: nq.BadType, role: Documents, documents: 1, stillAsked: 1},
		{name: "truth in place of a text", docs: docs + `{"id":"b","text":true}` + "\n", want: `d:2: "text": neither a text nor a number`, reason: nq.BadType, role: Documents, documents: 1, stillAsked: 1},
		{name: "a document twice", docs: docs + docs, want: `d:2: document "a" was there before`, reason: nq.Duplicate, role: Documents, documents: 1, stillAsked: 1},
		{name: "a page that begins as a number", docs: docs + `{"id":"b","text":"t","page_id":"12abc"}` + "\n", want: `d:2: page_id "12abc" is not an integer`, reason: nq.BadType, role: Documents, documents: 1, stillAsked: 1},
		{name: "two numbers for one", docs: docs + `{"id":"b","text":"t","oldid":"12 34","page_id":"x"}` + "\n", want: `d:2: oldid "12 34" is not an integer`, reason: nq.BadType, role: Documents, documents: 1, stillAsked: 1},
		{name: "an empty file", docs: "\n\n", want: "d:1: the file has no usable records", reason: nq.EmptyFile, role: Documents},
		{name: "a short line", docs: "a\tone\nb\n", want: "d:2: 1 columns, want 2", reason: nq.MissingField, role: Documents, documents: 1, stillAsked: 1},
		{name: "many columns", docs: "a\tb\tc\td\te\n", want: "d:1: 5 columns without names, in which redsi cannot find the fields of documents: name them in a first line, or by columns (stream)"},
		{name: "a text of another name in the header", docs: "doc_id\tdocument\n1\tone\n", want: `d:1: the first line has "doc_id", a name of a column, but not all names that are needed: its fields are "doc_id", "document"; say which they are by fields, or, if the line is a record, by columns (stream)`},
		{name: "a name of another name in the header", docs: "paperId,abstract\n1,one\n", docFile: "d.csv", want: `d.csv:1: the first line has "paperId", a name of a column`},
		{name: "capitals in the header", docs: "PASSAGE_ID\tBODY_TEXT\n1\tone\n", want: `d:1: the first line has "PASSAGE_ID", a name of a column`},
		{name: "a hyphen in the header", docs: "corpus-id\tsentence\n1\tone\n", want: `d:1: the first line has "corpus-id", a name of a column`},
		{name: "a header of another role", docs: "qid\tsentence\n1\tone\n", want: `d:1: the first line has "qid", a name of a column`},
		{name: "a header with blanks", queries: "Query ID\tQuery Text\nq\twhat\n", want: `q:1: the first line has "Query ID", a name of a column`},
		{name: "a header in quotes", docs: "\"id\"\t\"text\"\n\"1\"\t\"one\"\n", want: `d:1: the first line has "\"id\"", a name of a column`},
		{name: "a header with a sign of comments", docs: "#id\t#text\n1\tone\n", want: `d:1: the first line has "#id", a name of a column`},
		{name: "half a header of queries", queries: "query_id\tsentence\nq\twhat\n", want: `q:1: the first line has "query_id", a name of a column, but not all names that are needed: its fields are "query_id", "sentence"; say which they are by query_fields, or, if the line is a record, by query_columns (stream)`},
		{name: "half a header of judgments", qrels: "query_id\tpassage\nq\ta\n", want: `r:1: the first line has "query_id", a name of a column`},
		{name: "grades of another name", qrels: `{"qid":"q","docid":"a","score":1}` + "\n" + `{"qid":"q","docid":"b","rating":0}` + "\n", want: `r:2: no grade: looked for score, grade, relevance, rel, label, the fields are "qid", "docid", "rating"; say which it is by qrels_fields`, reason: nq.MissingField, role: Judgments, documents: 1, stillAsked: 1},
		{name: "a grade that is null", qrels: `{"qid":"q","docid":"a","score":1}` + "\n" + `{"qid":"q","docid":"b","score":null}` + "\n", want: `r:2: grade "" is not an integer`, reason: nq.BadType, role: Judgments, documents: 1, stillAsked: 1},
		{name: "no CSV", docs: "id,text\na,one\nb,\"x\" y\n", docFile: "d.csv", want: "d.csv:3: not CSV: line 3, column 5", reason: nq.BadType, role: Documents, documents: 1, stillAsked: 1},
		{name: "an open element", docs: "<DOC><DOCNO>a</DOCNO>one</DOC>\n<DOC>\n<DOCNO>b</DOCNO>\n", want: "d:2: the file ends before the end of this <doc> (stream)"},
		{name: "an element in another", docs: "<DOC>\n<DOCNO>a</DOCNO>\n<DOC>\n<DOCNO>b</DOCNO>\n</DOC>\n", want: "d:1: the <doc> is not closed before the next one in line 3 (stream)"},
		{name: "an element without name", docs: "<DOC>\n<DOCNO>a</DOCNO>\n<TEXT>one</TEXT>\n</DOC>\n\n<DOC>\n<TEXT>two</TEXT>\n</DOC>\n", want: `d:6: no id: `, reason: nq.MissingField, role: Documents, documents: 1, stillAsked: 1},
		{name: "text between elements", docs: "<DOC>\n<DOCNO>a</DOCNO>\none\n</DOC>\nwhat\n", want: `d:5: "what" is outside of every <doc>`, reason: nq.Unusable, role: Documents, documents: 1, stillAsked: 1},
		{name: "wrong format", docs: docs, how: map[Role]Reading{Documents: {Format: Parquet}}, want: "d:1: the file is no Parquet table (stream)"},
		{name: "another field", docs: docs, how: map[Role]Reading{Documents: {Fields: map[string]string{"text": "body"}}}, want: `d:1: no text: looked for body, the fields are "id", "text"`, reason: nq.MissingField, role: Documents},

		{name: "a query twice", queries: queries + queries, want: `q:2: query "q" was there before, in q`, reason: nq.Duplicate, role: Queries, documents: 1, stillAsked: 1},
		{name: "a query without words", queries: queries + `{"id":"r","text":" "}` + "\n", want: `q:2: query "r" has no words`, reason: nq.Unusable, role: Queries, documents: 1, stillAsked: 1},
		{name: "a split of its own", queries: queries + `{"id":"r","text":"t","split":"third"}` + "\n", want: `q:2: split "third" of query "r" is none of train, dev and test`, reason: nq.BadType, role: Queries, documents: 1, stillAsked: 1},
		{name: "two queries of a name with documents", queries: `{"id":"q","text":"what","doc_id":"a"}` + "\n" + `{"id":"q","text":"who","doc_id":"a"}` + "\n", want: `q:2: query "q" was there before`, reason: nq.Duplicate, role: Queries, documents: 1, stillAsked: 1},

		{name: "a grade that is none", qrels: qrels + "q\t0\tb\tgood\n", want: `r:2: grade "good" is not an integer`, reason: nq.BadType, role: Judgments, documents: 1, stillAsked: 1},
		{name: "half a grade", qrels: qrels + "q\t0\tb\t0.5\n", want: `r:2: grade "0.5" is not an integer`, reason: nq.BadType, role: Judgments, documents: 1, stillAsked: 1},
		{name: "judged twice", qrels: qrels + "q\t0\ta\t2\n", want: `r:2: query "q" and document "a" are judged twice, with grades 1 and 2`, reason: nq.Duplicate, role: Judgments, documents: 1, stillAsked: 1},
		{name: "three columns of four", qrels: qrels + "q 0 b\n", want: `r:2: 3 columns, want 4`, reason: nq.MissingField, role: Judgments, documents: 1, stillAsked: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for text, standard := range map[*string]string{&c.docs: docs, &c.queries: queries, &c.qrels: qrels, &c.docFile: "d"} {
				if *text == "" {
					*text = standard
				}
			}
			files := map[Role][]File{Documents: {memory(c.docFile, c.docs)}, Queries: {memory("q", c.queries)}, Judgments: {memory("r", c.qrels)}}
			o := Options{Relevant: 1}
			if _, err := collected(t, files, nil, o, c.how); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
			o.Skip = true
			r, err := collected(t, files, nil, o, c.how)
			switch {
			case c.reason == "":
				testkit.ErrSays(t, err, c.want)
				return
			case c.documents == 0:
				testkit.ErrSays(t, err, "no document remains of the 0 that were read")
			case err != nil:
				t.Fatal(err)
			case r.coll.Report.Union != c.documents || r.questions.Report.Test.Asked != c.stillAsked:
				t.Errorf("%d documents and %d queries remain", r.coll.Report.Union, r.questions.Report.Test.Asked)
			}
			counts := map[Role]Counts{Documents: r.coll.Report.Lines, Queries: r.questions.Report.Queries, Judgments: r.questions.Report.Judgments}[c.role]
			if counts.Skipped[c.reason] == 0 || len(counts.Named) == 0 || counts.Named[0].Line == 0 {
				t.Errorf("%+v", counts)
			}
		})
	}
}

// TestMissing: judgments of what is not there.
func TestMissing(t *testing.T) {
	files := map[Role][]File{
		Documents: {memory("d", "a\tone\nb\t \n")}, Queries: {memory("q", "1\twho\n2\twhat\n3\twhere\n4\twhen\n")},
		Judgments: {memory("r", "1 0 a 1\n1 0 a 1\n1 0 nowhere 1\n2 0 nowhere 1\n3 0 a 0\n9 0 a 1\n4 0 b 1\n")},
	}
	r, err := collected(t, files, nil, Options{Relevant: 1, Drop: true}, nil)
	testkit.None(t, err)
	q := r.questions.Report
	if q.Unknown != 1 || q.Repeated != 1 || q.Unjudged != 1 || q.Assumed != 3 || q.Test.Missing != 2 || q.Test.Dropped != 1 || q.Test.Documentless != 2 || q.Test.Asked != 1 {
		t.Errorf("%+v", q)
	}
	if d := r.coll.Report; d.Empty != 1 || d.Dropped != 1 || d.Union != 1 {
		t.Errorf("%+v", d)
	}
	testkit.ErrSays(t, testkit.Err(collected(t, files, nil, Options{Relevant: 1, AllKnown: true}, nil)), `r:6: the judgment of query "9" and document "a": the query is in none of the files of queries`)
	files[Judgments] = []File{memory("r", "1 0 nowhere 1\n")}
	testkit.ErrSays(t, testkit.Err(collected(t, files, nil, Options{Relevant: 1, AllKnown: true}, nil)), `the judgment of test query "1" and document "nowhere": the document is in none of the files of documents`)
	testkit.ErrSays(t, testkit.Err(collected(t, files, nil, Options{Relevant: 1}, nil)), "none of the 4 queries has a relevant document")
	files[Documents] = []File{memory("d", "a\t \nb\t \n")}
	testkit.ErrSays(t, testkit.Err(collected(t, files, nil, Options{Relevant: 1}, nil)), "none of the 2 documents has a text")
}

// TestSplitsDisagree: a query is of one split.
func TestSplitsDisagree(t *testing.T) {
	files := map[Role][]File{
		Documents: {memory("d", "a\tone\n")}, Queries: {memory("train.tsv", "1\twho\n")}, Judgments: {memory("test.tsv", "1\ta\n")},
	}
	_, err := collected(t, files, map[string]nq.Split{"train.tsv": nq.Train, "test.tsv": nq.Test}, Options{Relevant: 1}, nil)
	testkit.ErrSays(t, err, `test.tsv:1: query "1" is of split train and judged for split test`)
}

// TestWriteFails: what takes documents may fail, which is not a fault of the file.
func TestWriteFails(t *testing.T) {
	q := NewQuestions(Options{Policy: Policy{Skip: true}, Relevant: 1})
	full := errors.New("the disk is full")
	_, err := NewCollection(q).ReadDocuments(t.Context(), memory("d", "a\tone\n"), Reading{Format: Auto}, func(*Document) error { return full })
	testkit.That(t, errors.As(err, new(*Unwritten)) && errors.Is(err, full) && err.Error() == full.Error(), err)
}

// TestElements: what TREC's files have around texts.
func TestElements(t *testing.T) {
	docs := `<?xml version="1.0"?>
<DOCS>
<DOC>
<DOCNO> FT911-1 </DOCNO>
<HEADLINE>
FT  14 MAY 91 /
  (CORRECTED) Jubilee
</HEADLINE>
<TEXT>
<P>Fish &amp; chips &lt;b&gt;</P>
a < b
</TEXT>
<TEXT>more</TEXT>
</DOC>
<doc><docno>2</docno><p>without a text</p> of its own</doc>
</DOCS>
`
	topics := `<topics>
<topic number="7">
<query>coronavirus origin</query>
<question>what is the origin of COVID-19</question>
</topic>
<top>
<num> Number: 301
<title> Topic: International
Organized Crime
<desc> Description:
Identify
</top>
<topic number="-1">
   A two-year-old, with salt
   &amp; pepper.
</topic>
</topics>
`
	files := map[Role][]File{Documents: {memory("d", docs)}, Queries: {memory("t", topics)}, Judgments: {memory("r", "7 0 FT911-1 1\n301 0 2 1\n-1 0 2 1\n")}}
	r, err := collected(t, files, nil, Options{Relevant: 1}, nil)
	testkit.None(t, err)
	for _, want := range []string{
		`document 0 "FT911-1" "FT 14 MAY 91 / (CORRECTED) Jubilee" "Fish & chips <b> \na < b\nmore"`,
		`document 1 "2" "" "without a text  of its own"`,
		`query 0 "7" test "coronavirus origin"`, `query 1 "301" test "International Organized Crime"`,
		`query 2 "-1" test "A two-year-old, with salt & pepper."`,
	} {
		testkit.Says(t, r.text, want)
	}
	how := map[Role]Reading{Queries: {Fields: map[string]string{"text": "question"}}, Documents: {Fields: map[string]string{"text": "HEADLINE"}}}
	files[Queries] = []File{memory("t", topics[:strings.Index(topics, "<top>")])}
	files[Documents] = []File{memory("d", docs[:strings.Index(docs, "<doc>")])}
	if r, err = collected(t, files, nil, Options{Relevant: 1}, how); err != nil || !strings.Contains(r.text, "what is the origin of COVID-19") || !strings.Contains(r.text, `"FT  14 MAY 91 /\n  (CORRECTED) Jubilee"`) {
		t.Errorf("%v\n%s", err, r.text)
	}
}

// TestTables: tables with and without names of columns.
func TestTables(t *testing.T) {
	for _, c := range []struct {
		name, text string
		how        Reading
		want       string
	}{
		{"tabs in a passage", "a\tone\ttwo\n", Reading{Columns: []string{"id", "text"}}, `"" "one\ttwo"`},
		{"MS MARCO's documents", "a\thttp://x\tTitle\tone \"two\tthree\n", Reading{Columns: []string{"id", "url", "title", "text"}}, `"Title" "one \"two\tthree"`},
		{"named columns", "Title\tPID\tPassage\nT\ta\tone\n", Reading{}, `"T" "one"`},
		{"columns that nobody wants", "x\ta\ty\tone\n", Reading{Columns: []string{"", "id", "", "text"}}, `"" "one"`},
		{"other names", "key\tabstract\ttext\na\tone\ttwo\n", Reading{Fields: map[string]string{"id": "key", "text": "abstract"}}, `"" "one"`},
		{"a mark and carriage returns", "\xef\xbb\xbfid\ttext\r\na\tone\r\n", Reading{}, `"" "one"`},
		{"quotes", "id\ttext\ttitle\na\t\"one\n\"\"two\"\"\"\tT\n", Reading{Format: CSV}, `"T" "one\n\"two\""`},
		{"JSON with numbers and null", `{"_id": 7, "title": null, "metadata": {"url": "u"}, "contents": "one"}` + "\n", Reading{}, `"7" "" "one"`},
		{"a text that is null", `{"id": "a", "title": "T", "text": null}` + "\n" + `{"id": "b", "text": "one"}` + "\n", Reading{}, `"a" "T" ""`},
		{"null under the likelier name", `{"id": "a", "body": "one", "text": null}` + "\n", Reading{}, `"a" "" "one"`},
		{"a name of a column in a passage", "a\tone title\n", Reading{}, `"" "one title"`},
		{"a likelier name", `{"_id": "b", "body": "no", "text": "one", "id": "a"}` + "\n", Reading{}, `"a" "" "one"`},
	} {
		r, err := collected(t, map[Role][]File{Documents: {memory("d", c.text)}}, nil, Options{Relevant: 1}, map[Role]Reading{Documents: c.how})
		testkit.That(t, err == nil && strings.Contains(r.text, c.want), c.name, err, r.text)
	}
	qrels := "query-id\tcorpus-id\tscore\n\"a \"\"b\"\"\"\td\t1\n"
	r, err := collected(t, map[Role][]File{Documents: {memory("d", "d\tone\n")}, Queries: {memory("q", "a \"b\"\twho\n")}, Judgments: {memory("r", qrels)}}, nil, Options{Relevant: 1}, nil)
	testkit.None(t, err, r.text)
	testkit.Is(t, r.questions.Report.Test.Asked, 1, r.text)
}

// TestGrades: what is relevant, and how much.
func TestGrades(t *testing.T) {
	files := map[Role][]File{
		Documents: {memory("d", "a\tone\nb\ttwo\nc\tthree\nd\tfour\n")}, Queries: {memory("q", "1\twho\n2\twhat\n")},
		Judgments: {memory("r", "1 0 a 3\n1 0 b 1\n1 0 c -2\n2 0 b 1.0\n")},
	}
	r, err := collected(t, files, nil, Options{Relevant: 2, Keep: KeepJudged}, nil)
	testkit.None(t, err)
	if !strings.HasSuffix(r.text, "query 0 \"1\" test \"who\" 0 3\ntrain\ndev\ntest\n0 0 0 3\n0 0 1 1\n0 0 2 -2\n") || r.coll.Report.Unjudged != 1 || r.questions.Report.Unjudged != 1 {
		t.Errorf("%s\n%+v", r.text, r.questions.Report)
	}
}

// TestManyJudgments: a query's judgments are found however many there are.
func TestManyJudgments(t *testing.T) {
	var docs, qrels strings.Builder
	for i := range 200 {
		fmt.Fprintf(&docs, "%d\tword\n", i)
		fmt.Fprintf(&qrels, "q 0 %d 1\n", i)
	}
	files := map[Role][]File{Documents: {memory("d", docs.String())}, Queries: {memory("q", "q\twho\n")}, Judgments: {memory("r", qrels.String()+qrels.String())}}
	r, err := collected(t, files, nil, Options{Relevant: 1}, nil)
	if err != nil || r.questions.Report.Repeated != 200 || r.questions.Report.Test.Judgments != 200 {
		t.Errorf("%v %+v", err, r.questions.Report)
	}
	files[Judgments] = []File{memory("r", qrels.String()+"q 0 199 2\n")}
	testkit.ErrSays(t, testkit.Err(collected(t, files, nil, Options{Relevant: 1}, nil)), "judged twice, with grades 1 and 2")
}

// TestDraw: shares are as asked, what has the same words is together, and neither order nor
// the judgments change the choice.
func TestDraw(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf(`{"id":"q%d","text":"Question number %d?","doc_id":"d"}`, i, i), fmt.Sprintf(`{"id":"again%d","text":"question  NUMBER %d","doc_id":"d"}`, i, i))
	}
	draw := func(lines []string, seed uint64) map[string]nq.Split {
		r, err := collected(t, map[Role][]File{Documents: {memory("d", "d\tone\n")}, Queries: {memory("q", strings.Join(lines, "\n"))}}, nil,
			Options{Relevant: 1, Seed: seed, Draw: map[nq.Split]float64{nq.Dev: 0.1, nq.Test: 0.2}}, nil)
		testkit.None(t, err)
		if q := r.questions.Report; q.Train.Asked != 140 || q.Dev.Asked != 20 || q.Test.Asked != 40 || q.Test.InTrain != 0 || q.Drawn != 200 {
			t.Errorf("%+v", q)
		}
		splits := map[string]nq.Split{}
		for _, have := range r.questions.list {
			splits[have.name] = have.split
		}
		return splits
	}
	one := draw(lines, 1)
	for i := range 100 {
		if a, b := one[fmt.Sprintf("q%d", i)], one[fmt.Sprintf("again%d", i)]; a != b {
			t.Errorf("question %d is in %s and %s", i, a, b)
		}
	}
	reversed := make([]string, len(lines))
	for i, line := range lines {
		reversed[len(lines)-1-i] = line
	}
	testkit.Is(t, fmt.Sprint(draw(reversed, 1)), fmt.Sprint(one), "another order draws others")
	if fmt.Sprint(draw(lines, 2)) == fmt.Sprint(one) {
		t.Error("another seed draws the same")
	}
	// Only train's are drawn from, and leaks between splits that were given are counted.
	given := map[Role][]File{Documents: {memory("d", "d\tone\n")}, Queries: {memory("train", "1\twho\n2\twhat\n"), memory("test", "3\tWHO?\n")}, Judgments: {memory("r", "1\td\n2\td\n3\td\n")}}
	splits := map[string]nq.Split{"train": nq.Train, "test": nq.Test}
	r, err := collected(t, given, splits, Options{Relevant: 1, DrawFrom: nq.Train, Draw: map[nq.Split]float64{nq.Dev: 0.5}}, nil)
	if q := r.questions.Report; err != nil || q.Train.Asked != 1 || q.Dev.Asked != 1 || q.Test.Asked != 1 {
		t.Errorf("%v %+v", err, q)
	}
	if r, err = collected(t, given, splits, Options{Relevant: 1}, nil); err != nil || r.questions.Report.Test.InTrain != 1 {
		t.Errorf("%v %+v", err, r.questions.Report)
	}
}

// FuzzRead reads any bytes as every format and role: no panic, and what is counted adds up.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"beir/corpus.jsonl", "beir/queries.jsonl", "beir/qrels/train.tsv", "trec/documents.trec", "trec/topics.test.trec", "csv/documents.csv", "msmarco/qrels.dev.tsv", "jsonl/documents.jsonl.gz", "parquet/qrels/dev-00000.parquet", "relevant.parquet"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		testkit.None(f, err)
		for i := range formats {
			f.Add(b, uint8(i), uint8(len(b)))
		}
	}
	f.Add([]byte("<top number='1><num>"), uint8(4), uint8(1))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, format, role uint8) {
		path := filepath.Join(dir, fmt.Sprint(os.Getpid()))
		testkit.None(t, os.WriteFile(path, b, 0o600))
		how := Reading{Format: formats[int(format)%len(formats)]}
		of := []Role{Documents, Queries, Judgments}[int(role)%3]
		var counts Counts
		visited := int64(0)
		report, err := Policy{Skip: true}.eachRecord(t.Context(), fileAt(path, "f"), of, how, &counts, func(at int64, r *record) error {
			if visited++; at < 1 || len(r.values) != len(columnsOf[of]) {
				t.Fatalf("record %d of line %d: %+v", visited, at, r)
			}
			return nil
		})
		if visited != counts.Records || err == nil && report.Records != visited {
			t.Fatalf("%d visited, %+v, %+v", visited, counts, report)
		}
		if bad := (*nq.RecordError)(nil); err != nil && (!errors.As(err, &bad) || bad.Reason != nq.BadStream) {
			t.Fatalf("%v", err)
		}
	})
}

var formats = []Format{Auto, JSONL, TSV, CSV, TREC, Parquet}
