package inout

import (
	"math"
	"reflect"
	"strings"
	"testing"
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
		{"m.csv", "model,acc, note\r\nlinear,0.5,\"a, b\"\nforest,nan,\n", []any{object("model", "linear", "acc", 0.5, "note", "a, b"), object("model", "forest", "acc", nan, "note", nil)}},
		{"m.tsv", "a\tb\n1\t-inf\n", []any{object("a", 1.0, "b", -inf)}},
		{"n.txt", " 0.93\n", 0.93},
		{"n.txt", "+.5e1", 5.0},
		{"n.txt", "nan\n", nan},
		{"out", "\ufeffa: 1\n", object("a", 1.0)},
		{"out", "x,y\n1,2\n", []any{object("x", 1.0, "y", 2.0)}},
		{"out", "x\ty\n1\t2\n", []any{object("x", 1.0, "y", 2.0)}},
		{"m.csv", "x,y\n", []any{}},
	} {
		got, err := parseValues(c.name, []byte(c.text))
		if err != nil || !same(got, c.want) {
			t.Errorf("%s %q: %v, %v", c.name, c.text, got, err)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"m.json", `{"a": NaNs}`, "not JSON: invalid character 'N' looking for beginning of value; JSON, YAML, CSV and a single number are read"},
		{"m.json", "a: 1", "not JSON: invalid character 'a'"},
		{"m.yaml", "a: [", "not YAML: "},
		{"m.yaml", "a: 1\n---\nb: 2\n", "not YAML: there is more than one document"},
		{"m.csv", "a,b\n1\n", "not CSV: record on line 2: wrong number of fields"},
		{"m.csv", "a,a\n1,2\n", `not CSV: two columns are named "a"; the first line has`},
		{"log.txt", "all went well\n", `it begins with "all went well"; JSON, YAML, CSV and a single number are read`},
		{"log.txt", "", `it begins with ""`},
		{"log.txt", `{"a": 1}` + "\n{}", "not JSON: invalid character '{' after top-level value"},
	} {
		if got, err := parseValues(c.name, []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %q: %v, %v; want %s", c.name, c.text, got, err, c.want)
		}
	}
}

// same is DeepEqual with NaN equal to itself.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name := range a {
			if !same(a[name], b[name]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}
