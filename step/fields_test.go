package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

type inner struct {
	Train int `json:"train"`
	Dev   *int
}

// written is a document of every form that a report has.
type written struct {
	inner
	Name     string             `json:"name,omitempty"`
	Flag     bool               `json:"flag"`
	Percent  float64            `json:"percent" unit:"percent"`
	Of       map[string]inner   `json:"of" unit:"s"`
	Points   []*point           `json:"points"`
	Skip     int                `json:"-"`
	Any      any                `json:"any"`
	When     time.Time          `json:"when"`
	Raw      json.RawMessage    `json:"raw"`
	Bytes    []byte             `json:"bytes"`
	ByLength [][]float64        `json:"by_length"`
	Self     *written           `json:"self"`
	Own      ownJSON            `json:"own"`
	Rates    map[string]float64 `json:"rates"`
	//lint:ignore U1000 that it is no field of the JSON is what is tested
	hidden int
}

type point struct {
	Step    int64   `json:"step"`
	Seconds float64 `json:"seconds" unit:"s"`
}

type ownJSON struct{}

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte(`{"x":1}`), nil }
func (ownJSON) JSONFields() *Fields          { return FieldsOf[struct{ X int }]() }

func TestFieldsOf(t *testing.T) {
	var got []string
	for pattern, f := range FieldsOf[written]().All() {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", pattern, f.Type, f.Unit)))
	}
	want := []string{"train integer", "Dev integer", "name string", "flag bool", "percent number percent", "of.*.train integer s", "of.*.Dev integer s",
		"points[].step integer", "points[].seconds number s", "any any", "when any", "raw any", "bytes string", "by_length[][] number", "self any",
		"own.X integer", "rates.* number"}
	testkit.Deep(t, got, want)
}

func TestFieldsAt(t *testing.T) {
	fields := FieldsOf[written]()
	for path, want := range map[string]TypeKind{
		"train": Int, "of.x.train": Int, "of.x": Object, "points": List, "points.0": Object, "points.17.step": Int, "any.what.ever": Any,
		"raw.0": Any, "own.X": Int, "rates.MRR@10": Float, "by_length.0.1": Float,
		"of.'lr=0.01'.train": Int, "'train'": Int, "rates.'map@0.5'": Float, "rates.it's": Float, "of.'a'b'.train": Int,
	} {
		f, err := fields.At(path)
		testkit.None(t, err, path, f)
		testkit.Is(t, f.Type, want, path, f)
	}
	for path, want := range map[string]NoFieldError{
		"trian":         {Name: "trian", Is: Object},
		"points.0.stop": {Name: "stop", Within: "points.0", Is: Object, Names: []string{"step", "seconds"}},
		"points.first":  {Name: "first", Within: "points", Is: List},
		"points.-1":     {Name: "-1", Within: "points", Is: List},
		"train.x":       {Name: "x", Within: "train", Is: Int},
		"":              {Name: "", Is: Object},
		"Skip":          {Name: "Skip", Is: Object},
		"hidden":        {Name: "hidden", Is: Object},
		"of.'a.b'.c":    {Name: "c", Within: "of.'a.b'", Is: Object},
		"'train":        {Name: "'train", Is: Object},
		"'tr.ain":       {Name: "'tr", Is: Object},
	} {
		_, err := fields.At(path)
		var lost *NoFieldError
		if !errors.As(err, &lost) {
			t.Errorf("%q: %v", path, err)
			continue
		}
		want.Path = path
		if want.Names == nil {
			lost.Names = nil
		}
		testkit.Deep(t, lost, &want, path)
	}
}

// A field without a name is named by the part of a path that leads to it.
func TestFieldWithoutName(t *testing.T) {
	doc := map[string]any{"": 1.0}
	for _, path := range []string{"''", "x"} {
		w := WalkPath(path)
		w.Next()
		if at, err := w.In(doc); at != 1.0 {
			testkit.ErrSays(t, err, `beside "x" there is ''`)
		}
	}
}

// Fields are not part of keys.
func TestFieldsAreNoKey(t *testing.T) {
	plain, declared := everythingKind(), everythingKind()
	declared.Outputs = append([]Output(nil), declared.Outputs...)
	declared.Outputs[0].Fields = FieldsOf[written]()
	declared.Reads = func(everything) []Read { return []Read{{Path: "train"}} }
	var keys [2]string
	for i, k := range []Kind[everything]{plain, declared} {
		spec := Define(k)
		task, err := NewTask(&spec, minimal())
		testkit.None(t, err)
		key, _, err := NewRegistry(spec).Key(task)
		testkit.None(t, err)
		keys[i] = key.Hex()
	}
	testkit.Is(t, keys[0], keys[1])
}

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
		testkit.Is(t, o.Rule().String(), want)
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
		testkit.None(t, err)
		rules, err := s.Rules(task)
		testkit.That(t, err == nil && rules["a"].String() == want && rules["b"] == (OfTheRun{}), rules, err)
		key, _, err := reg.Key(task)
		testkit.None(t, err)
		keys[key] = true
	}
	testkit.Is(t, len(keys), 1, "how results compare moves keys")
}
