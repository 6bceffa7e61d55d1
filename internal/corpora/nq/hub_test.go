package nq

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/testkit"
)

// hubFile is of tools/golden/nq_hub.py.
func hubFile(t *testing.T, name string) (*os.File, int64) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	testkit.None(t, err)
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	testkit.None(t, err)
	return f, info.Size()
}

func readHub(in io.ReaderAt, size int64, o Options) ([]*Record, Counts, error) {
	return drain(NewHubReader(in, size, "hub.parquet", o))
}

// originals are the lines that a file of the hub was converted from.
func originals(t *testing.T, name string) (lines []string) {
	t.Helper()
	f, _ := hubFile(t, name)
	z, err := unpack.Open(f)
	testkit.None(t, err)
	testkit.None(t, unpack.NewLines(z).Each(func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	}))
	return lines
}

func TestHubRecordsAreThoseOfTheLines(t *testing.T) {
	f, size := hubFile(t, "hub.parquet")
	want, counts := readAll(t, "hub.jsonl.gz", Options{Split: Dev, Strict: true})
	got, of, err := readHub(f, size, Options{Split: Dev, Strict: true})
	testkit.None(t, err)
	testkit.That(t, of.BytesIn == size && of.BytesOut != 0, of.BytesIn, "and", of.BytesOut, "bytes")
	of.BytesIn, of.BytesOut = counts.BytesIn, counts.BytesOut
	if d := cmp.Diff(counts, of); d != "" || len(got) != len(want) {
		t.Fatal(len(got), d)
	}
	for i := range want {
		testkit.Deep(t, got[i], want[i], "record", i)
	}
}

// TestHubLinesAreTheOriginal: candidates, annotations and all.
func TestHubLinesAreTheOriginal(t *testing.T) {
	f, size := hubFile(t, "hub.parquet")
	var got, some []any
	testkit.None(t, HubLines(f, size, nil, func(n int, line []byte) (bool, error) {
		got = append(got, decoded(t, line))
		return n != 5, nil
	}))
	testkit.None(t, HubLines(f, size, func(id string) bool { return id == "-4" || id == "-3" }, func(n int, line []byte) (bool, error) {
		some = append(some, decoded(t, line))
		return true, nil
	}))
	var want []any
	for _, line := range originals(t, "hub.jsonl.gz") {
		want = append(want, decoded(t, []byte(line)))
	}
	testkit.Deep(t, got, want)
	testkit.Deep(t, some, want[1:3])
}

// decoded keeps the digits of numbers.
func decoded(t *testing.T, line []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	testkit.None(t, d.Decode(&v))
	return v
}

// TestHubOfEarlierRevision: without byte offsets there is no full record, and the simplified one is Google's.
func TestHubOfEarlierRevision(t *testing.T) {
	f, size := hubFile(t, "hub-older.parquet")
	_, _, err := readHub(f, size, Options{})
	testkit.ErrSays(t, err, `hub.parquet:1: there is no column "document.tokens.start_byte"`, `format = "simplified"`)
	want, _ := readAll(t, "nq-simplified-walking-dead.jsonl.gz", Options{Format: Simplified, Strict: true})
	got, _, err := readHub(f, size, Options{Format: Simplified, Strict: true})
	testkit.None(t, err)
	if len(got) != 1 {
		t.Fatal(len(got))
	}
	testkit.Deep(t, got[0], want[0])
	var c FieldCounts
	testkit.None(t, HubLines(f, size, nil, func(_ int, line []byte) (bool, error) { return true, c.Count(line) }))
	testkit.That(t, c.With[TokenBytes] == 0 && c.With[nameTokens] == 1 && c.With[LongAnswerBytes] == 1, c)
}

// TestHubDamaged: whatever becomes of a byte, or of the end, there is a record or an error, and no crash.
func TestHubDamaged(t *testing.T) {
	f, size := hubFile(t, "hub.parquet")
	good := make([]byte, size)
	_, err := f.ReadAt(good, 0)
	testkit.None(t, err)
	wrong := 0
	for at := int64(0); at < size; at += size/300 + 1 {
		bad := []byte(strings.Clone(string(good)))
		bad[at] ^= 0x5a
		if _, _, err := readHub(strings.NewReader(string(bad)), size, Options{Strict: true}); err != nil {
			wrong++
		}
		if _, _, err := readHub(strings.NewReader(string(good[:at])), at, Options{Strict: true}); err == nil {
			t.Fatalf("%d of %d bytes are read", at, size)
		}
	}
	if wrong < 100 {
		t.Errorf("only %d of 300 damages are found", wrong)
	}
}

// hubRow is a row as the hub has it, whose values may be missing.
type hubRow struct {
	ID       *string `parquet:"id,optional"`
	Document struct {
		Title  *string `parquet:"title,optional"`
		URL    string  `parquet:"url"`
		HTML   string  `parquet:"html"`
		Tokens struct {
			Token  []string `parquet:"token,list"`
			IsHTML []bool   `parquet:"is_html,list"`
			Start  []*int64 `parquet:"start_byte,list"`
			End    []int64  `parquet:"end_byte,list"`
		} `parquet:"tokens"`
	} `parquet:"document"`
	Question struct {
		Text string `parquet:"text"`
	} `parquet:"question"`
}

// rowOf is goodFullRecord with another id.
func rowOf(id string, change func(*hubRow)) (r hubRow) {
	r.ID, r.Document.Title = &id, &goodFullRecord.Title
	r.Document.URL, r.Document.HTML, r.Question.Text = goodFullRecord.URL, string(goodFullRecord.HTML), goodFullRecord.Question
	for _, k := range goodFullRecord.Tokens {
		to := &r.Document.Tokens
		start := int64(k.Start)
		to.Token, to.IsHTML, to.Start, to.End = append(to.Token, k.Text), append(to.IsHTML, k.HTML), append(to.Start, &start), append(to.End, int64(k.End))
	}
	if change != nil {
		change(&r)
	}
	return r
}

// TestHubFaults: each bad row is named by file, row, column and example, and others are read.
func TestHubFaults(t *testing.T) {
	far := int64(1) << 40
	rows := []hubRow{
		rowOf("-7", nil),
		rowOf("-7", nil),
		rowOf("seven", nil),
		rowOf("2", func(r *hubRow) { r.ID = nil }),
		rowOf("3", func(r *hubRow) { r.Document.Title = nil }),
		rowOf("4", func(r *hubRow) { r.Document.HTML = "<H1>\xff" }),
		rowOf("5", func(r *hubRow) { r.Document.Tokens.Start[2] = nil }),
		rowOf("6", func(r *hubRow) { r.Document.Tokens.End = r.Document.Tokens.End[:3] }),
		rowOf("7", func(r *hubRow) { r.Document.Tokens.End[3] = far }),
		rowOf("8", func(r *hubRow) { r.Document.Tokens.Start[2] = &r.Document.Tokens.End[0] }),
		rowOf("9", func(r *hubRow) { r.Question.Text = " " }),
		rowOf("10", func(r *hubRow) { r.Document.Tokens = rowOf("", nil).Document.Tokens; r.Document.Tokens.Token = nil }),
		rowOf("11", nil),
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[hubRow](&b, parquet.MaxRowsPerRowGroup(5))
	_, err := w.Write(rows)
	testkit.None(t, err)
	testkit.None(t, w.Close())
	in := bytes.NewReader(b.Bytes())
	_, _, err = readHub(in, in.Size(), Options{Strict: true})
	testkit.ErrSays(t, err, "hub.parquet:2: example_id -7: the example is on line 1 already")
	got, counts, err := readHub(in, in.Size(), Options{Strict: true, Skip: true})
	testkit.None(t, err)
	if d := cmp.Diff(&goodFullRecord, got[0]); d != "" || len(got) != 2 || got[1].ExampleID != 11 {
		t.Error(d, len(got))
	}
	var said []string
	for _, e := range counts.Named {
		said = append(said, e.Error())
	}
	want := []string{
		"hub.parquet:2: example_id -7: the example is on line 1 already (duplicate)",
		`hub.parquet:3: column id is not an integer that fits 64 bits: "seven" (type)`,
		"hub.parquet:4: column id is null (missing)",
		"hub.parquet:5: example_id 3: column document.title is null (missing)",
		"hub.parquet:6: example_id 4: column document.html: not UTF-8 at byte 4 (utf8)",
		"hub.parquet:7: example_id 5: column document.tokens.start_byte has a null among its values (missing)",
		"hub.parquet:8: example_id 6: column document.tokens.end_byte has 3 values, and document.tokens.token has 4 (type)",
		"hub.parquet:9: example_id 7: token 3: bytes 8 to 1099511627776 are beyond any document (offset)",
		`hub.parquet:10: example_id 8: token 2 "a" starts at byte 4, before the previous one ends at 6 (overlap)`,
		"hub.parquet:11: example_id 9: question_text is empty (unusable)",
		"hub.parquet:12: example_id 10: column document.tokens.is_html has 4 values, and document.tokens.token has 0 (type)",
	}
	testkit.Deep(t, said, want)
}

// TestHubOfAnotherSet: a Parquet file of something else is named by its columns, and a column of another type by that.
func TestHubOfAnotherSet(t *testing.T) {
	for _, c := range []struct {
		write func(io.Writer) error
		want  string
	}{
		{func(w io.Writer) error { return parquet.Write(w, []struct{ Query, Answer string }{{"q", "a"}}) }, `there is no column "id": the Parquet file is not Natural Questions`},
		{func(w io.Writer) error {
			type other struct {
				hubRow
				ID int64 `parquet:"id"`
			}
			return parquet.Write(w, []other{{rowOf("1", nil), 1}})
		}, `column "id" is of type INT(64,true), want BYTE_ARRAY`},
	} {
		var b bytes.Buffer
		testkit.None(t, c.write(&b))
		_, _, err := readHub(bytes.NewReader(b.Bytes()), int64(b.Len()), Options{})
		testkit.ErrSays(t, err, c.want)
	}
}
