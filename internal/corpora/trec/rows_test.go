package trec

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func collected(t *testing.T, read func(func(Row) error) (Format, error)) ([]Row, Format) {
	t.Helper()
	var rows []Row
	format, err := read(func(r Row) error { rows = append(rows, r); return nil })
	testkit.None(t, err)
	return rows, format
}

// TestFormats: what a file is is told by its first line; names are as they are there.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		text string
		is   Format
		want []Row
	}{
		{"# ir_metadata.start\n# tag: x\n# ir_metadata.end\n\nq%20 Q0 d 1 2.5 t\n", TREC, []Row{{Query: "q%20", Document: "d", Rank: 1, Score: 2.5, Line: 5}}},
		{"q Q0 d 1 2 t\n# between\n#\nq Q0 e 2 1 t\n# at the end", TREC, []Row{{Query: "q", Document: "d", Rank: 1, Score: 2, Line: 1}, {Query: "q", Document: "e", Rank: 2, Score: 1, Line: 4}}},
		{"q 1\td 2\t7\r\n", MSMarco, []Row{{Query: "q 1", Document: "d 2", Rank: 7, Score: -7, Line: 1}}},
		{"q d 7", MSMarco, []Row{{Query: "q", Document: "d", Rank: 7, Score: -7, Line: 1}}},
		{" \n{\"q\": {\"d\": 1e2,\n\"e \\\"\": -1}}", JSON, []Row{{Query: "q", Document: "d", Score: 100, Line: 2}, {Query: "q", Document: `e "`, Score: -1, Line: 3}}},
		{"\ufeffq Q0 d\u00a0e 1.0 2.5 t\n", TREC, []Row{{Query: "q", Document: "d\u00a0e", Rank: 1, Score: 2.5, Line: 1}}},
		{"\ufeff{\"q\": {\"d\": 1}}", JSON, []Row{{Query: "q", Document: "d", Score: 1, Line: 1}}},
		{"", Auto, nil},
	} {
		rows, is := collected(t, func(f func(Row) error) (Format, error) { return Runs.Rows(strings.NewReader(c.text), Auto, f) })
		testkit.That(t, is == c.is && reflect.DeepEqual(rows, c.want), c.text, "is", is, rows)
	}
	rows, is := collected(t, func(f func(Row) error) (Format, error) {
		return Qrels.Rows(strings.NewReader("query-id\tcorpus-id\tscore\nq 1\td\t2\nq\td\t1.0\n"), Auto, f)
	})
	if want := []Row{{Query: "q 1", Document: "d", Grade: 2, Line: 2}, {Query: "q", Document: "d", Grade: 1, Line: 3}}; is != BEIR || !reflect.DeepEqual(rows, want) {
		t.Errorf("%q: %+v", is, rows)
	}
}

// TestNumbers: numbers are decimal, not what Go's source may have.
func TestNumbers(t *testing.T) {
	for _, score := range []string{"2_0", "0x1.4p1", "2,5", "abc", "nan"} {
		testkit.ErrSays(t, testkit.Err(Runs.Rows(strings.NewReader("q Q0 d 1 "+score+" t\n"), Auto, func(Row) error { return nil })), "score \""+score+"\" is not a number")
	}
	rows, _ := collected(t, func(f func(Row) error) (Format, error) {
		return Qrels.Rows(strings.NewReader("\ufeffqid\tdocid\tlabel\nq\td\t1.0\n"), Auto, f)
	})
	testkit.Deep(t, rows, []Row{{Query: "q", Document: "d", Grade: 1, Line: 2}})
}

// FuzzRead reads anybody's files without a panic, and names a line in what it refuses.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"q Q0 d 1 2 t\n", "q\td\t1\n", `{"q": {"d": 1}}`, "{", `{"q": 1}`, "q 0 d 1\n", "\x1f\x8b", "# x\n", "query\td\tscore\nq\td\tx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func() (Format, error){
			func() (Format, error) {
				return Runs.Rows(strings.NewReader(text), Auto, func(r Row) error { return check(t, r) })
			},
			func() (Format, error) {
				return Qrels.Rows(strings.NewReader(text), Auto, func(r Row) error { return check(t, r) })
			},
		} {
			if _, err := read(); err != nil && err.Error() == "" {
				t.Error("an error says nothing")
			}
		}
	})
}

func check(t *testing.T, r Row) error {
	if r.Line < 1 {
		t.Errorf("%+v stands on no line", r)
	}
	return nil
}

func TestMetadataErrors(t *testing.T) {
	for text, want := range map[string]string{
		"colour: red": `"colour" is not a component of ir_metadata; there are ["platform" "research goal"`,
		"actor: Jane": `component "actor" has no fields`,
		"actor: [":    "metadata: yaml:",
		"- a":         "metadata: yaml:",
	} {
		testkit.ErrSays(t, testkit.Err(ParseMetadata(text)), want)
	}
}
