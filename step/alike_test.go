package step

import (
	"context"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// TestRule: what declares nothing is compared by bytes, but for JSON with numbers that are
// not whole.
func TestRule(t *testing.T) {
	for want, o := range map[string]Output{
		"bytes":                                {Fields: FieldsOf[struct{ N int }]()},
		"numbers within 1e-09 of the greater":  {Fields: FieldsOf[struct{ Of []map[string]float64 }]()},
		"nothing: it describes the run itself": {Fields: FieldsOf[struct{ X float64 }](), Alike: OfTheRun{}},
		"svg, of which it is made":             {Alike: Follows{Output: "svg"}},
		"numbers within 0.1; a, b not compared; c within 2, or 0.5 of the greater; d equal": {Alike: Numbers{Margin: Margin{Abs: 0.1},
			Fields: map[string]Margin{"b": {Skip: true}, "a": {Skip: true}, "c": {Abs: 2, Rel: 0.5}, "d": {}}}},
		"rankings: 0.9 of the first 10 on average in both": {Alike: Runs{Depth: 10, Overlap: 0.9}},
		"what ask steps make of it, in their report: mrr within 1; or within 50/√n, if that is more": {
			Alike: Evaluated{By: "ask", Output: "report", Fields: map[string]Margin{"mrr": {Abs: 1}}, Of: "n", Chance: 0.5}},
		"*.json by numbers equal; other files by bytes": {Alike: Files{"*.json": Numbers{}}},
	} {
		if got := o.Rule().String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	files := Files{"*.json": Numbers{}, "a/*.json": Texts{}, "times.json": OfTheRun{}}
	for name, want := range map[string]Alike{"x.json": files["*.json"], "a/x.json": Texts{}, "times.json": OfTheRun{}, "x": Bytes{}, "b/x.json": Bytes{}} {
		if got := files.Rule(name); got.String() != want.String() {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestDefineAlike: a rule that cannot be gone by is a mistake of the kind.
func TestDefineAlike(t *testing.T) {
	type none struct{}
	for want, o := range map[string]Output{
		"no other output":    {Alike: Follows{Output: "p"}},
		"no other output \"": {Alike: Follows{Output: "o"}},
		"to a depth":         {Alike: Runs{Overlap: 0.5}},
		"below 1":            {Alike: Numbers{Margin: Margin{Rel: 1}}},
		"at least 0":         {Alike: Numbers{Margin: Margin{Abs: -1}}},
		"field \"x\"":        {Alike: Numbers{Fields: map[string]Margin{"x": {Abs: -1}}}},
		"not a cosine":       {Alike: Vectors{Cosine: 2}},
		"below 0":            {Alike: Cells{Units: -1}},
		"by a kind":          {Alike: Evaluated{By: "x"}},
		"is not a tree":      {Alike: Files{"*": Texts{}}},
		"not a pattern":      {Tree: true, Alike: Files{"[": Texts{}}},
		"one file is":        {Tree: true, Alike: Files{"*": Follows{Output: "x"}}},
	} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(p.(string), want) {
					t.Errorf("%v, want %q", p, want)
				}
			}()
			o.Name = "o"
			Define(Kind[none]{Name: "k", Version: 1, Doc: "d", Outputs: []Output{o}, Run: func(context.Context, *IO, none) error { return nil }})
		}()
	}
}

// TestRules: a configuration may say it, and it is in no key.
func TestRules(t *testing.T) {
	type config struct {
		Loose bool `hcl:"loose,optional,nokey" help:"h"`
	}
	s := Define(Kind[config]{Name: "k", Version: 1, Doc: "d", Outputs: []Output{{Name: "a"}, {Name: "b", Alike: OfTheRun{}}},
		Alike: func(c config) map[string]Alike {
			if c.Loose {
				return map[string]Alike{"a": Texts{Margin{Abs: 1}}}
			}
			return nil
		},
		Run: func(context.Context, *IO, config) error { return nil }})
	reg := NewRegistry(s)
	keys := map[any]bool{}
	for loose, want := range map[bool]string{true: "words, and numbers within 1", false: "bytes"} {
		task, err := NewTask(&s, map[string]any{"loose": loose})
		errtest.None(t, err)
		rules, err := s.Rules(task)
		if err != nil || rules["a"].String() != want || rules["b"] != (OfTheRun{}) {
			t.Errorf("%v, %v", rules, err)
		}
		key, _, err := reg.Key(task)
		errtest.None(t, err)
		keys[key] = true
	}
	if len(keys) != 1 {
		t.Error("how results compare moves keys")
	}
}
