package step

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestCanonical(t *testing.T) {
	digest := artifacts.Sum([]byte("x"))
	for _, c := range []struct {
		name string
		tree any
		want string
	}{
		{"null", nil, `null`},
		{"bools", []any{true, false}, `[true,false]`},
		{"sorted keys", map[string]any{"b": int64(1), "a": nil, "B": "x", "é": "y", "": "z"}, `{"":"z","B":"x","a":null,"b":1,"é":"y"}`},
		{"empty", []any{map[string]any{}, []any{}, ""}, `[{},[],""]`},
		{"escapes", "\"\\/\n\t\x00\x1f\x7f<>&é\u2028😀", `"\"\\/\u000a\u0009\u0000\u001f` + "\x7f<>&é\u2028😀" + `"`},
		{"integers", []any{int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64)}, `[0,-1,9223372036854775807,-9223372036854775808]`},
		{"integral floats", []any{3.0, -3.0, 1e15, 0.0, math.Copysign(0, -1)}, `[3,-3,1000000000000000,0,0]`},
		{"floats", []any{0.1, 1e-3, 1e-7, 2.5, 1e300, 1.0 / 3}, `[0.1,0.001,1e-07,2.5,1e+300,0.3333333333333333]`},
		{"integral floats that are not exact", []any{1e16, 1e21}, `[1e+16,1e+21]`},
		{"numbers as text", []any{json.Number("1"), json.Number("1.0"), json.Number("1e3"), json.Number("-0"), json.Number("0.10")}, `[1,1,1000,0,0.1]`},
		{"input", In(artifacts.Artifact{Type: "t", Digest: digest, Size: 1}), `{"$input":"` + digest.String() + `"}`},
		{"executable input", In(artifacts.Artifact{Type: "file", Digest: digest, Size: 1, Mode: artifacts.Executable}), `{"$input":"` + digest.String() + ` executable"}`},
		{"unset input", Input{}, `null`},
	} {
		got, err := Canonical(c.tree)
		testkit.None(t, err, c.name)
		testkit.Is(t, string(got), c.want, c.name)
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for name, tree := range map[string]any{
		"NaN":           math.NaN(),
		"infinity":      math.Inf(-1),
		"no number":     json.Number("x"),
		"too large":     json.Number("1e999"),
		"invalid UTF-8": "a\xff",
		"invalid key":   map[string]any{"\xff": nil},
		"an int":        7,
		"a struct":      struct{}{},
		"unknown input": Input{Ref: &Ref{Step: "step.a.b", Output: "c"}},
		"deep":          map[string]any{"a": []any{nil, math.NaN()}},
	} {
		b, err := Canonical(tree)
		testkit.Some(t, err, name, b)
		if name == "deep" && !strings.Contains(err.Error(), "a: [1]:") {
			t.Errorf("the error does not say where: %v", err)
		}
	}
}

// Any JSON has a canonical form that is JSON, equal in meaning, and its own
// canonical form.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,-0,1e3,"\u00e9<"],"b":{}}`, `null`, `{"x":{"$input":"y"}}`, `1e400`, `"\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := decodeJSON([]byte(s))
		if err != nil {
			return
		}
		b, err := Canonical(v)
		if err != nil {
			return
		}
		again, err := decodeJSON(b)
		testkit.None(t, err, b)
		c, err := Canonical(again)
		if err != nil || string(c) != string(b) {
			t.Fatalf("%s becomes %s, %v", b, c, err)
		}
	})
}
