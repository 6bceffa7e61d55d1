package collect

import (
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// oneColumn writes a Parquet table of the column "_id" of a type, with a text beside each value.
func oneColumn(t *testing.T, typ parquet.Node, values ...parquet.Value) File {
	t.Helper()
	schema := parquet.NewSchema("t", parquet.Group{"_id": parquet.Optional(typ), "text": parquet.String()})
	path := filepath.Join(t.TempDir(), "c.parquet")
	f, err := os.Create(path)
	testkit.None(t, err)
	w := parquet.NewWriter(f, schema)
	for _, v := range values {
		defined := 1
		if v.IsNull() {
			defined = 0
		}
		testkit.None(t, testkit.Err(w.WriteRows([]parquet.Row{{v.Level(0, defined, 0), parquet.ValueOf("x").Level(0, 0, 1)}})))
	}
	testkit.None(t, w.Close())
	testkit.None(t, f.Close())
	return fileAt(path, "c.parquet")
}

func fixed(n *big.Int, width int) parquet.Value {
	b := new(big.Int).And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*width)), big.NewInt(1))).FillBytes(make([]byte, width))
	return parquet.FixedLenByteArrayValue(b)
}

// TestLogicalTypes: values of Parquet are what their logical types say, as CSV and JSON have
// them; types that are neither texts nor numbers are refused with the name of the column.
func TestLogicalTypes(t *testing.T) {
	long, _ := new(big.Int).SetString("-12345678901234567890123456789", 10)
	for _, c := range []struct {
		name  string
		typ   parquet.Node
		value parquet.Value
		want  string // the text, or what the error has
	}{
		{"decimal32", parquet.Decimal(1, 2, parquet.Int32Type), parquet.Int32Value(10), "1.0"},
		{"decimal32 below one", parquet.Decimal(3, 4, parquet.Int32Type), parquet.Int32Value(-5), "-0.005"},
		{"decimal64", parquet.Decimal(2, 18, parquet.Int64Type), parquet.Int64Value(-123456789012345678), "-1234567890123456.78"},
		{"decimal fixed", parquet.Decimal(2, 38, parquet.FixedLenByteArrayType(16)), fixed(long, 16), "-123456789012345678901234567.89"},
		{"decimal without scale", parquet.Decimal(0, 38, parquet.FixedLenByteArrayType(16)), fixed(big.NewInt(7), 16), "7"},
		{"decimal bytes", parquet.Decimal(1, 38, parquet.ByteArrayType), parquet.ByteArrayValue([]byte{0xff, 0x38}), "-20.0"},
		{"unsigned64", parquet.Uint(64), parquet.Int64Value(-613116819133185350), "17833627254576366266"},
		{"unsigned32", parquet.Uint(32), parquet.Int32Value(math.MinInt32), "2147483648"},
		{"unsigned8", parquet.Uint(8), parquet.Int32Value(200), "200"},
		{"signed", parquet.Int(16), parquet.Int32Value(-3), "-3"},
		{"uuid", parquet.UUID(), parquet.FixedLenByteArrayValue([]byte("\x9f\xc3\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x11\x22\x33\x44\x55")), "9fc30123-4567-89ab-cdef-001122334455"},
		{"double", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(8841820), "8841820"},
		{"double with a fraction", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(1234567.5), "1234567.5"},
		{"float", parquet.Leaf(parquet.FloatType), parquet.FloatValue(0.1), "0.1"},
		{"negative zero", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(math.Copysign(0, -1)), "0"},
		{"enum", parquet.Enum(), parquet.ByteArrayValue([]byte("red")), "red"},
		{"bytes", parquet.Leaf(parquet.ByteArrayType), parquet.ByteArrayValue([]byte("a")), "a"},

		{"NaN", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(math.NaN()), "the document has an empty name"},
		{"null", parquet.Leaf(parquet.DoubleType), parquet.Value{}, "the document has an empty name"},
		{"large double", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(1 << 53), `column "_id": 9.007199254740992e+15 is too large`},
		{"large float", parquet.Leaf(parquet.FloatType), parquet.FloatValue(1 << 24), `column "_id": 1.6777216e+07 is too large`},
		{"infinite", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(math.Inf(-1)), `column "_id": -Inf is too large`},
		{"date", parquet.Date(), parquet.Int32Value(1), `column "_id" is of type DATE, which redsi reads neither`},
		{"timestamp", parquet.Timestamp(parquet.Microsecond), parquet.Int64Value(1), `column "_id" is of type TIMESTAMP(isAdjustedToUTC=true,unit=MICROS),`},
		{"time", parquet.Time(parquet.Millisecond), parquet.Int32Value(1), `column "_id" is of type TIME(`},
		{"interval", parquet.IntervalNode(), parquet.FixedLenByteArrayValue(make([]byte, 12)), `column "_id" is of type INTERVAL,`},
		{"boolean", parquet.Leaf(parquet.BooleanType), parquet.BooleanValue(true), `column "_id" is of type BOOLEAN,`},
		{"bson", parquet.BSON(), parquet.ByteArrayValue(nil), `column "_id" is of type BSON,`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := collected(t, map[Role][]File{Documents: {oneColumn(t, c.typ, c.value)}}, nil, Options{Relevant: 1}, nil)
			if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && !strings.Contains(got.text, ` "`+c.want+`" `) {
				t.Errorf("%s, %v\nwant %s", got.text, err, c.want)
			}
		})
	}
}

// TestTypesOfWriters: DuckDB's and pyarrow's columns are what these say that they are.
func TestTypesOfWriters(t *testing.T) {
	for column, want := range map[string]string{
		"duckdb decimal": "1.0", "duckdb wide": "-12345678901234567890.25", "duckdb hashed": "12561829011207016135", "duckdb unsigned": "4294967295",
		"duckdb uuid": "9fc30123-4567-89ab-cdef-001122334455", "duckdb huge": "12345",
		"duckdb hugehash": `column "hugehash": 1.2561829011207016e+19 is too large`, "duckdb day": `column "day" is of type DATE`, "duckdb span": `column "span" is of type INTERVAL`,
		"pyarrow decimal": "-2.25", "pyarrow wide": "1.50", "pyarrow unsigned": "18446744073709551615", "pyarrow float": "8841820", "pyarrow category": "a",
		"pyarrow half": `column "half" is of type FLOAT16`, "pyarrow stamp": `column "stamp" is of type TIMESTAMP`, "pyarrow flag": `column "flag" is of type BOOLEAN`,
	} {
		writer, name, _ := strings.Cut(column, " ")
		file := fileAt("testdata/types/"+writer+".parquet", writer)
		got, err := collected(t, map[Role][]File{Documents: {file}}, nil, Options{Relevant: 1}, map[Role]Reading{Documents: {Fields: map[string]string{"id": name}}})
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && !strings.Contains(got.text, ` "`+want+`" `) {
			t.Errorf("%s: %s, %v; want %s", column, got.text, err, want)
		}
	}
}

// TestListsOfOne: a list is no text, however many it has; JSON says the same.
func TestListsOfOne(t *testing.T) {
	type row struct {
		ID   string   `parquet:"_id"`
		Text []string `parquet:"text,list"`
	}
	path := filepath.Join(t.TempDir(), "l.parquet")
	testkit.None(t, parquet.WriteFile(path, []row{{"1", []string{"one"}}}))
	for _, f := range []File{fileAt(path, "l"), memory("l", `{"_id": "1", "text": ["one"]}`)} {
		testkit.ErrSays(t, testkit.Err(collected(t, map[Role][]File{Documents: {f}}, nil, Options{Relevant: 1}, nil)), "text is a list, want one text or number")
	}
}

// TestPartsOfColumn: what a column of parts says is not left out; one of them may be named.
func TestPartsOfColumn(t *testing.T) {
	type score struct {
		S int32 `parquet:"s"`
	}
	type row struct {
		Query    string `parquet:"query-id"`
		Document string `parquet:"corpus-id"`
		Score    score  `parquet:"score"`
	}
	path := filepath.Join(t.TempDir(), "q.parquet")
	testkit.None(t, parquet.WriteFile(path, []row{{"q", "1", score{2}}}))
	files := map[Role][]File{Documents: {memory("d", `{"_id": "1", "text": "one"}`)}, Queries: {memory("q", `{"_id": "q", "text": "one"}`)}, Judgments: {fileAt(path, "j")}}
	testkit.ErrSays(t, testkit.Err(collected(t, files, nil, Options{Relevant: 1}, nil)), `column "score" has parts, want one text or number; say which part is the grade, such as "score.s", by qrels_fields`)
	got, err := collected(t, files, nil, Options{Relevant: 1}, map[Role]Reading{Judgments: {Fields: map[string]string{"grade": "score.s"}}})
	testkit.That(t, err == nil && slices.Equal(slices.Collect(maps.Values(got.questions.grades)), []int32{2}), got, err)
}

// TestNoKnownColumn: each row of a table of something else lacks what is needed, and is counted as such.
func TestNoKnownColumn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.parquet")
	testkit.None(t, parquet.WriteFile(path, []struct{ Flag bool }{{true}, {false}, {true}}))
	var counts Counts
	testkit.None(t, testkit.Err(Policy{Skip: true}.eachRecord(t.Context(), fileAt(path, "c"), Documents, Reading{Format: Auto}, &counts, nil)))
	testkit.Is(t, counts.Skipped[nq.MissingField], 3, counts)
}

// TestStored: values that are stored as numbers of every width, with a dictionary and without, some missing, are read.
func TestStored(t *testing.T) {
	for _, encoding := range []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary} {
		for _, c := range []struct {
			typ  parquet.Type
			want []string
		}{
			{parquet.Int32Type, []string{"7", "-8"}}, {parquet.Int64Type, []string{"7", "-8"}}, {parquet.FloatType, []string{"7", "-8"}}, {parquet.DoubleType, []string{"7", "-8"}},
			{parquet.ByteArrayType, []string{"seven", "no"}}, {parquet.FixedLenByteArrayType(3), []string{"sev", "nay"}},
		} {
			value := map[parquet.Kind]func(i int) parquet.Value{
				parquet.Int32: func(i int) parquet.Value { return parquet.Int32Value([]int32{7, -8}[i]) }, parquet.Int64: func(i int) parquet.Value { return parquet.Int64Value([]int64{7, -8}[i]) },
				parquet.Float: func(i int) parquet.Value { return parquet.FloatValue([]float32{7, -8}[i]) }, parquet.Double: func(i int) parquet.Value { return parquet.DoubleValue([]float64{7, -8}[i]) },
				parquet.ByteArray:         func(i int) parquet.Value { return parquet.ByteArrayValue([]byte(c.want[i])) },
				parquet.FixedLenByteArray: func(i int) parquet.Value { return parquet.FixedLenByteArrayValue([]byte(c.want[i])) },
			}[c.typ.Kind()]
			file := oneColumn(t, parquet.Encoded(parquet.Leaf(c.typ), encoding), value(0), parquet.Value{}, value(1), parquet.Value{}, value(0))
			var got []string
			testkit.None(t, testkit.Err(Policy{}.eachRecord(t.Context(), file, Documents, Reading{Format: Auto}, new(Counts), func(_ int64, r *record) error {
				got = append(got, r.text(docID))
				return nil
			})))
			testkit.Deep(t, got, []string{c.want[0], "", c.want[1], "", c.want[0]}, c.typ, encoding)
		}
	}
}
