package inout

import (
	"log/slog"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestValuesOfFiles: programs write values in JSON as Python has it, YAML, CSV, or a number alone.
func TestValuesOfFiles(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	object := func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	for _, c := range []struct {
		name, text string
		want       any
	}{
		{"m.json", `{"a": 1, "b": [null, true, "x"]}`, object("a", 1.0, "b", []any{nil, true, "x"})},
		{"m.json", `{"a": Infinity, "b": -Infinity, "c": "NaN \" Infinity", "d": 0.5}`, object("a", inf, "b", -inf, "c", `NaN " Infinity`, "d", 0.5)},
		{"roc.json", `[{"threshold": Infinity, "tpr": 0.0}, {"threshold": 0.9, "tpr": 0.5}]`, []any{object("threshold", inf, "tpr", 0.0), object("threshold", 0.9, "tpr", 0.5)}},
		{"m.csv", "{\"a\": 1}", object("a", 1.0)}, // as before there were other formats
		{"m.yaml", "a: 1\nb: .nan\nc: [1e-3, yes, 2024-05-01, 'x']\nd:\n  1: ~\n", object("a", 1.0, "b", nan, "c", []any{1e-3, "yes", "2024-05-01", "x"}, "d", object("1", nil))},
		{"m.csv", "model,acc, note\r\nlinear,0.5,\"a, b\"\nforest,nan,\n", []any{object("model", "linear", "acc", 0.5, "note", "a, b"), object("model", "forest", "acc", Typed{nan, "nan"}, "note", nil)}},
		{"m.csv", "a,b,c\n 7, x , \n", []any{object("a", 7.0, "b", " x ", "c", nil)}},
		{"m.tsv", "a\tb\n1\t-inf\n", []any{object("a", 1.0, "b", Typed{-inf, "-inf"})}},
		{"n.txt", " 0.93\n", 0.93},
		{"n.txt", "+.5e1", Typed{5, "+.5e1"}},
		{"m.json", `{"a": 9007199254740992, "b": 9007199254740993, "c": 1234567890123456789, "d": 1.10, "e": -0, "f": 1e23, "g": "9007199254740993"}`,
			object("a", 1.0*(1<<53), "b", Typed{1 << 53, "9007199254740993"}, "c", Typed{1234567890123456789, "1234567890123456789"}, "d", 1.1, "e", 0.0, "f", 1e23, "g", "9007199254740993")},
		{"m.json", "\ufeff{\"a\": 1}", object("a", 1.0)},
		{"m.csv", "code,ver,n,under,hex,exp,plus,big,zero\n007,1.10,5,1_000,0x1p4,1e5,+5,9007199254740993,-0\n", []any{object("zero", Typed{0, "-0"}, "code", Typed{7, "007"}, "ver", Typed{1.1, "1.10"}, "n", 5.0,
			"under", "1_000", "hex", "0x1p4", "exp", Typed{1e5, "1e5"}, "plus", Typed{5, "+5"}, "big", Typed{1 << 53, "9007199254740993"})}},
		{"m.yaml", "a: 0123\nb: 1_000\nc: 0b11\nd: 1:30\ne: yes\nf: 0x1F\ng: 1e-4\nh: 0o17\ni: .5\nj: +5\nk: 12e03\nl: 089\nm: 12345678901234567890123\nn: !!str 7\n", object("a", 123.0, "b", "1_000", "c", "0b11", "d", "1:30",
			"e", "yes", "f", 31.0, "g", 1e-4, "h", 15.0, "i", 0.5, "j", 5.0, "k", 12000.0, "l", 89.0, "m", Typed{12345678901234567890123, "12345678901234567890123"}, "n", "7")},
		{"n.txt", "nan\n", nan},
		{"out", "\ufeffa: 1\n", object("a", 1.0)},
		{"out", "x,y\n1,2\n", []any{object("x", 1.0, "y", 2.0)}},
		{"out", "x\ty\n1\t2\n", []any{object("x", 1.0, "y", 2.0)}},
		{"m.csv", "x,y\n", []any{}},
		{"m.jsonl", `{"a": 1}` + "\n", []any{object("a", 1.0)}},
		{"m.json", `{"a": 1}` + "\n\n" + `{"a": NaN, "b": "x"}`, []any{object("a", 1.0), object("a", inf, "b", "x")}}, // NaN and Infinity are alike
		{"m.ndjson", "", []any{}},
	} {
		got, err := parseValues(c.name, []byte(c.text))
		testkit.That(t, err == nil && cmp.Equal(got, c.want, cmpopts.EquateNaNs()), c.name, c.text, got, err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"m.json", `{"a": NaNs}`, "not JSON: invalid character 'N' looking for beginning of value; JSON, JSON lines, YAML, CSV, Parquet and a single number are read"},
		{"m.json", "a: 1", "not JSON: invalid character 'a'"},
		{"m.yaml", "a: [", "not YAML: "},
		{"m.yaml", "", "not YAML: it is empty"},
		{"t.parquet", "PAR1\x00", "the Parquet table cannot be opened: "},
		{"m.jsonl", `{"a": 1}` + "\n{", "line 2: not JSON: "},
		{"m.yaml", "a: 1\n---\nb: 2\n", "not YAML: line 2: a second document begins here"},
		{"m.csv", "a,b\n1\n", "not CSV: record on line 2: wrong number of fields"},
		{"m.csv", "a,a\n1,2\n", `not CSV: two columns are named "a"; the first line has`},
		{"log.txt", "all went well\n", `it begins with "all went well"; JSON, JSON lines, YAML, CSV, Parquet and a single number are read`},
		{"log.txt", "", `it begins with ""`},
		{"log.txt", `{"a": 1}` + "\n{", "not JSON: invalid character '{' after top-level value"},
	} {
		if got, err := parseValues(c.name, []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %q: %v, %v; want %s", c.name, c.text, got, err, c.want)
		}
	}
}

// TestValuesOfParquet: as pyarrow and DuckDB write them, by logical type.
func TestValuesOfParquet(t *testing.T) {
	read := func(name string) (any, error) {
		b := testkit.Value(os.ReadFile("testdata/" + name))(t)
		return parseValues(name, b)
	}
	got, err := read("pyarrow.parquet")
	testkit.None(t, err)
	want := []any{
		map[string]any{
			"text": "007", "decimal": -2.25, "tenth": 0.3, "unsigned": Typed{1 << 64, "18446744073709551615"}, "float": 0.1, "nan": math.NaN(), "flag": true, "category": "a",
			"big": Typed{1 << 53, "9007199254740993"}, "day": "2020-02-29", "stamp": "1969-12-31T23:59:59.5Z", "local": "2020-01-01T12:00:00.000000001", "list": []any{1.0, nil, 3.0},
			"object": map[string]any{"a": 1.0, "b": []any{map[string]any{"c": "x"}}},
		},
		map[string]any{
			"text": nil, "decimal": nil, "tenth": nil, "unsigned": nil, "float": nil, "nan": nil, "flag": nil, "category": nil, "big": nil, "day": nil, "stamp": nil, "local": nil, "list": nil, "object": nil,
		},
	}
	if !cmp.Equal(got, want, cmpopts.EquateNaNs()) {
		t.Errorf("%#v\nwant %#v", got, want)
	}
	got = testkit.Value(read("duckdb.parquet"))(t)
	if want := []any{map[string]any{"uuid": "9fc30123-4567-89ab-cdef-001122334455", "hashed": Typed{12561829011207016135, "12561829011207016135"}, "n": 1.0, "seven": -12345.67, "wide": -12345678901234567.25, "eighteen": 123456.789}}; !cmp.Equal(got, want, cmpopts.EquateNaNs()) {
		t.Errorf("%#v", got)
	}
	for name, want := range map[string]string{"nine": `column "nine" is of type DECIMAL(9,2), which is not read: write it as a text`, "span": `column "span" is of type `, "time": `column "time" is of type TIME(`, "half": `column "half" is of type FIXED_LEN_BYTE_ARRAY(2)`} {
		testkit.ErrSays(t, testkit.Err(read(name+".parquet")), want)
	}
}

// TestTelling: what holds a step up is said beside how far it is, until it goes on.
func TestTelling(t *testing.T) {
	var last step.Progress

	progress, log := Telling(step.NewIO(t.Context(), &step.Spec{}, &stepio.Host{Progress: func(p step.Progress) { last = p }}, slog.New(slog.DiscardHandler), nil), "bytes", "a.gz")
	for _, c := range []struct {
		do   func()
		want step.Progress
	}{
		{func() { progress(1, 3) }, step.Progress{Done: 1, Total: 3, Unit: "bytes", Note: "a.gz"}},
		{func() { log("out of reach", "err", "none") }, step.Progress{Done: 1, Total: 3, Unit: "bytes", Note: "a.gz: out of reach"}},
		{func() { progress(2, 3) }, step.Progress{Done: 2, Total: 3, Unit: "bytes", Note: "a.gz"}},
	} {
		if c.do(); last != c.want {
			t.Errorf("%+v, want %+v", last, c.want)
		}
	}
}
