package alike

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestDetails tells the first fields, lines or byte of each file that differs, with the rule that would allow it.
func TestDetails(t *testing.T) {
	s := newStore(t)
	long := strings.Repeat("x", 100)
	numbered := func(add int) string {
		var b strings.Builder
		for i := range 10 {
			fmt.Fprintf(&b, "line %d\n", i+add)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		was, is string
		places  []string
		more    int
		allow   string
	}{
		"a number":         {`{"pr": [{"t": 1}, {"t": 0.5}]}`, `{"pr": [{"t": 1}, {"t": 0.5000000000000002}]}`, []string{"pr[1].t 0.5 → 0.5000000000000002, 2.2e-16 apart"}, 0, `{ rel = 1e-15 }`},
		"near nothing":     {`{"a": 0.0}`, `{"a": 3e-9}`, []string{"a 0.0 → 3e-9, 3e-09 apart"}, 0, `{ abs = 1e-08 }`},
		"a whole number":   {`{"runs": [{"n": 3}], "v": 1.5}`, `{"runs": [{"n": 5}], "v": 1.6}`, []string{"runs[0].n 3 → 5, 2 apart", "v 1.5 → 1.6, 0.1 apart"}, 0, `{ abs = 1, fields = { "runs[].n" = { abs = 2 } } }`},
		"a date":           {`{"date": "Monday"}`, `{"date": "Friday"}`, []string{`date "Monday" → "Friday"`}, 0, `{ fields = { "date" = { skip = true } } }`},
		"another field":    {`{"a": 1}`, `{"b": 1}`, []string{"a 1 → nothing: only one has the field", "b nothing → 1: only one has the field"}, 0, `{ fields = { "a" = { skip = true }, "b" = { skip = true } } }`},
		"lines of JSON":    {"{\"a\": 1}\n{\"a\": 1.5}\n", "{\"a\": 1}\n{\"a\": 1.75}\n", []string{"line 2: a 1.5 → 1.75, 0.25 apart"}, 0, `{ abs = 1 }`},
		"white space":      {`{"a": 1}`, `{"a":1}`, []string{`line 1: {"a": 1} → {"a":1}`}, 0, `{ as = "texts" }`},
		"JSON by name":     {`{a}`, `{b}`, []string{"line 1: {a} → {b}"}, 0, `{ as = "skip" }`},
		"numbers in text":  {"k,v\na,0.5\n", "k,v\na,0.5000001\n", []string{"line 2: a,0.5 → a,0.5000001"}, 0, `{ as = "texts", rel = 1e-06 }`},
		"words":            {"a\nb\n", "a\nc\n", []string{"line 2: b → c"}, 0, `{ as = "skip" }`},
		"a line more":      {"a\n", "a\nb\n", []string{"line 2: one has more lines than the other"}, 0, `{ as = "skip" }`},
		"the last newline": {"a\nb\n", "a\nb", []string{"line 2: its line end differs"}, 0, `{ as = "texts" }`},
		"far in a line":    {long + "a" + long, long + "b" + long, []string{"line 1: …" + long[:20] + "a" + long[:58] + "… → …" + long[:20] + "b" + long[:58] + "…"}, 0, `{ as = "skip" }`},
		"many":             {numbered(0), numbered(1), []string{"line 1: line 0 → line 1", "line 2: line 1 → line 2", "line 3: line 2 → line 3", "line 4: line 3 → line 4"}, 6, `{ as = "skip" }`},
		"bytes":            {"a\x00bcd", "a\x00bce", []string{"from byte 4 on, of 5 and 5 bytes"}, 0, `{ as = "skip" }`},
		"a long line":      {strings.Repeat(long, 1000) + "a", strings.Repeat(long, 1000) + "b", []string{"line 1: its line end differs"}, 0, `{ as = "skip" }`},
	} {
		list := s.details(step.Output{}, s.blob(c.was), s.blob(c.is))
		if len(list) != 1 || !slices.Equal(list[0].Places, c.places) || list[0].More != c.more || list[0].Allow != c.allow {
			t.Errorf("%s: %+v", name, list)
		}
	}
	// Of a tree, files that their rules allow are left out; with a rule, what is beyond it is told.
	o := step.Output{Tree: true, Alike: step.Files{"*.json": step.Numbers{Margin: step.Margin{Abs: 1}}, "time": step.OfTheRun{}}}
	list := s.details(o, s.tree("a.json", "[1.5]", "b.json", "[1.5, 1.5]", "c", "c", "time", "1"), s.tree("a.json", "[2.5]", "b.json", "[1.6, 9.5]", "c", "d", "time", "2"))
	if len(list) != 2 || list[0].File != "b.json" || !slices.Equal(list[0].Places, []string{"[1] 1.5 → 9.5, 8 apart"}) || list[0].Allow != "" || list[1].File != "c" {
		t.Errorf("%+v", list)
	}
}

func (s store) details(o step.Output, x, y artifacts.Artifact) []Detail {
	s.t.Helper()
	o.Name = "o"
	rules := map[string]step.Alike{"o": o.Rule()}
	stands, made := map[string]artifacts.Artifact{"o": x}, map[string]artifacts.Artifact{"o": y}
	c, err := Compare(context.Background(), s.Blobs, []step.Output{o}, rules, stands, made, nil)
	testkit.None(s.t, err)
	list, more, err := Details(context.Background(), s.Blobs, []step.Output{o}, rules, stands, made, c.Outputs)
	if err != nil || more > 0 {
		s.t.Fatal(more, err)
	}
	return list
}
