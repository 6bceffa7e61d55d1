package export

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestWriteRefuses(t *testing.T) {
	doc := func(id string) Document { return Document{ID: id, Title: "T"} }
	query := func(id, target string) Query { return Query{ID: id, Split: nq.Dev, DocID: target} }
	for _, c := range []struct {
		name, want string
		docs       []Document
		queries    []Query
	}{
		{"empty id", "the id is empty", []Document{doc("")}, nil},
		{"blank in id", "white space", []Document{doc("a b")}, nil},
		{"control character in id", "white space", []Document{doc("a\x7fb")}, nil},
		{"tab in id", "white space", []Document{doc("a")}, []Query{query("1\t2", "a")}},
		{"document twice", "two documents", []Document{doc("a"), doc("b"), doc("a")}, nil},
		{"judgment twice", "two queries", []Document{doc("a"), doc("b")}, []Query{query("1", "a"), query("1", "b"), query("1", "a")}},
		{"query apart", "two queries", []Document{doc("a"), doc("b")}, []Query{query("1", "a"), query("2", "a"), query("1", "b")}},
		{"query twice", "two queries", []Document{doc("a")}, []Query{query("1", "a"), query("1", "a")}},
		{"no target", "is not a document", []Document{doc("a")}, []Query{query("1", "b")}},
		{"no split", `split "third"`, []Document{doc("a")}, []Query{{ID: "1", Split: "third", DocID: "a"}}},
		{"title not UTF-8", "UTF-8", []Document{{ID: "a", Title: "\xff"}}, nil},
		{"id not UTF-8", "UTF-8", []Document{{ID: "\xff"}}, nil},
		{"question not UTF-8", "UTF-8", []Document{doc("a")}, []Query{{ID: "1", Split: nq.Dev, DocID: "a", Text: "\xff"}}},
	} {
		s, err := Write(Collection{Documents: each(c.docs), Queries: each(c.queries)}, anyNames, memory{}.create)
		testkit.That(t, err != nil && strings.Contains(err.Error(), c.want) && s.Files == nil, c.name, err)
	}
	for _, formats := range [][]Format{{"csv"}, {JSONL, JSONL}} {
		if _, err := Write(Collection{Documents: each([]Document{}), Queries: each([]Query{})}, formats, memory{}.create); err == nil {
			t.Errorf("%v: no error", formats)
		}
	}
}

// broken fails on create, write or close of the n-th such call.
type broken struct {
	left   *int
	stage  string
	opened *int
}

var errFull = errors.New("no space left")

func (b broken) fails(stage string) bool {
	if stage != b.stage {
		return false
	}
	*b.left--
	return *b.left == 0
}

func (b broken) create(string) (io.WriteCloser, error) {
	if b.fails("create") {
		return nil, errFull
	}
	*b.opened++
	return b, nil
}

func (b broken) Write(p []byte) (int, error) {
	if b.fails("write") {
		return 0, errFull
	}
	return len(p), nil
}

func (b broken) Close() error {
	*b.opened--
	if b.fails("close") {
		return errFull
	}
	return nil
}

// Every failing call is reported, and no file stays open.
func TestWriteReportsEveryFailure(t *testing.T) {
	whole := memory{}
	testkit.None(t, testkit.Err(Write(numbered(t), Formats(), whole.create)))
	for _, stage := range []string{"create", "write", "close"} {
		for n := 1; ; n++ {
			left, opened := n, 0
			b := broken{&left, stage, &opened}
			_, err := Write(numbered(t), Formats(), b.create)
			if opened != 0 {
				t.Fatalf("%s %d: %d files left open", stage, n, opened)
			}
			if left > 0 {
				testkit.That(t, err == nil && n > len(whole), stage, n-1, "calls", err)
				break
			}
			testkit.ErrIs(t, err, errFull, stage, n)
		}
	}
}

func TestWriteReportsErrorsOfTheCollection(t *testing.T) {
	boom := errors.New("boom")
	bad := func(yield func(*Document, error) bool) { yield(nil, boom) }
	badQueries := func(yield func(*Query, error) bool) { yield(nil, boom) }
	for _, c := range []Collection{{Documents: bad, Queries: each(testQueries)}, {Documents: each(testDocuments), Queries: badQueries}} {
		testkit.ErrIs(t, testkit.Err(Write(c, anyNames, memory{}.create)), boom)
	}
}
