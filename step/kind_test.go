package step

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// What cannot work is found when the program starts.
func TestDefinePanics(t *testing.T) {
	run := func(k func() Spec) (msg any) {
		defer func() { msg = recover() }()
		k()
		return nil
	}
	type ok struct {
		A string `hcl:"a" help:"h"`
	}
	type noTag struct{ A string }
	type noHelp struct {
		A string `hcl:"a"`
	}
	type reserved struct {
		A string `hcl:"$a" help:"h"`
	}
	type option struct {
		A string `hcl:"a,optionl" help:"h"`
	}
	type channel struct {
		A chan int `hcl:"a" help:"h"`
	}
	type intKeys struct {
		A map[int]string `hcl:"a" help:"h"`
	}
	out := []Output{{Name: "o"}}
	for name, k := range map[string]func() Spec{
		"no name":    func() Spec { return Define(Kind[ok]{Version: 1, Doc: "d", Outputs: out, Run: none[ok]}) },
		"no version": func() Spec { return Define(Kind[ok]{Name: "k", Doc: "d", Outputs: out, Run: none[ok]}) },
		"no doc":     func() Spec { return Define(Kind[ok]{Name: "k", Version: 1, Outputs: out, Run: none[ok]}) },
		"no outputs": func() Spec { return Define(Kind[ok]{Name: "k", Version: 1, Doc: "d", Run: none[ok]}) },
		"no Run":     func() Spec { return Define(Kind[ok]{Name: "k", Version: 1, Doc: "d", Outputs: out}) },
		"no tag": func() Spec {
			return Define(Kind[noTag]{Name: "k", Version: 1, Doc: "d", Outputs: out, Run: none[noTag]})
		},
		"no help": func() Spec {
			return Define(Kind[noHelp]{Name: "k", Version: 1, Doc: "d", Outputs: out, Run: none[noHelp]})
		},
		"reserved": func() Spec {
			return Define(Kind[reserved]{Name: "k", Version: 1, Doc: "d", Outputs: out, Run: none[reserved]})
		},
		"tag option": func() Spec {
			return Define(Kind[option]{Name: "k", Version: 1, Doc: "d", Outputs: out, Run: none[option]})
		},
		"a channel": func() Spec {
			return Define(Kind[channel]{Name: "k", Version: 1, Doc: "d", Outputs: out, Run: none[channel]})
		},
		"int keys": func() Spec {
			return Define(Kind[intKeys]{Name: "k", Version: 1, Doc: "d", Outputs: out, Run: none[intKeys]})
		},
	} {
		if run(k) == nil {
			t.Errorf("%s: it is defined", name)
		}
	}
	good := Define(Kind[ok]{Name: "k", Version: 1, Doc: "d", Outputs: out, Run: none[ok]})
	for name, list := range map[string][]Spec{"twice": {good, good}, "part": {Define(Kind[ok]{Name: "p", Version: 1, Doc: "d", Outputs: out, Parts: []Spec{good}, Run: none[ok]}), good}} {
		if run(func() Spec { NewRegistry(list...); return Spec{} }) == nil {
			t.Errorf("%s: it is registered", name)
		}
	}
	testkit.Is(t, good.Queue, CPU, "the queue is without one")
}

func none[C any](context.Context, *IO, C) error { return nil }

func TestRun(t *testing.T) {
	k := everythingKind()
	var got everything
	k.Run = func(_ context.Context, _ *IO, c everything) error { got = c; return errors.New("ran") }
	spec := Define(k)
	if err := spec.Run(t.Context(), newTestIO(t, newHost()), with(minimal(), "count", int64(3))); err == nil || err.Error() != "ran" || got.Count != 3 || got.Rate != 0.1 {
		t.Errorf("%v, with %+v", err, got)
	}
	if err := spec.Run(t.Context(), nil, map[string]any{}); !IsPermanent(err) {
		t.Errorf("a wrong configuration: %v", err)
	}
}

func TestPermanent(t *testing.T) {
	cause := errors.New("bad input")
	if err := fmt.Errorf("step: %w", Permanent(cause)); !IsPermanent(err) || !errors.Is(err, cause) {
		t.Error("the mark or the cause is lost")
	}
	testkit.That(t, !IsPermanent(cause) && !IsPermanent(nil) && Permanent(nil) == nil, "marked without a mark")
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{"version":1}`, `{"version":1.0}`, `[]`},
		{`{"version":1}`, `{"version":2}`, `[version: 1 -> 2]`},
		{`{"config":{"a":[1,2],"b":"x"}}`, `{"config":{"a":[1,3,4]}}`, `[config.a[1]: 2 -> 3 config.a[2] is new: 4 config.b is gone (was "x")]`},
		{`{"config":{"in":{"$input":"sha256:0123456789abcdef"}}}`, `{"config":{"in":{"$input":"sha256:fedcba9876543210"}}}`,
			`[config.in: bytes 0123456789ab -> bytes fedcba987654]`},
		{`{"config":{"a":{"b":1}}}`, `{"config":{"a":[1]}}`, `[config.a: {"b":1} -> [1]]`},
	} {
		got, err := Diff([]byte(c.a), []byte(c.b))
		testkit.None(t, err)
		testkit.Deep(t, fmt.Sprint(got), c.want, c.a, c.b)
	}
	for path, want := range map[string]string{"config.rows[2].cells": "rows", "config.key": "key", "version": ""} {
		testkit.Is(t, (Change{Path: path}).Attribute(), want, path)
	}
	testkit.Some(t, testkit.Err(Diff([]byte(`{`), []byte(`{}`))), "half a preimage is compared")
}

// TestChange: what is shown of a value has what differs.
func TestChange(t *testing.T) {
	long := strings.Repeat("é", 60)
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Change{"config.k", "10", "20"}, "config.k: 10 -> 20"},
		{Change{"config.k", "", "20"}, "config.k is new: 20"},
		{Change{"config.k", `"a"`, ""}, `config.k is gone (was "a")`},
		{Change{"config.text", long + "old and what follows, which is longer than a line has room for", long + "new"},
			"config.text: …" + strings.Repeat("é", 10) + "old and what follows, which is longer… -> …" + strings.Repeat("é", 10) + "new"},
		{Change{"config.corpus", `{"$input":"sha256:0123456789abcdef0123"}`, `{"$input":"sha256:fedcba98765432100123"}`},
			"config.corpus: bytes 0123456789ab -> bytes fedcba987654"},
		{Change{"config.text", long, ""}, "config.text is gone (was " + strings.Repeat("é", 28) + "…)"},
	} {
		testkit.Is(t, c.change.String(), c.want)
	}
}

type measuredConfig struct {
	Measures []string `hcl:"measures,optional" help:"names"`
}

// TestDeclared: an output's fields may be what a configuration says they are.
func TestDeclared(t *testing.T) {
	spec := Define(Kind[measuredConfig]{
		Name: "measure", Version: 1, Doc: "Measure.",
		Outputs: []Output{{Name: "report", Type: "r", Help: "report", Fields: FieldsOf[map[string]float64]()}, {Name: "other", Type: "o", Help: "other"}},
		Declares: func(c measuredConfig) map[string]*Fields {
			f := &Fields{Type: Object}
			for _, m := range c.Measures {
				f.Object = append(f.Object, Field{Name: m, Fields: Fields{Type: Float}})
			}
			return map[string]*Fields{"report": f}
		},
		Run: func(context.Context, *IO, measuredConfig) error { return nil },
	})
	task, err := NewTask(&spec, map[string]any{"measures": []any{"a", "b"}})
	testkit.None(t, err)
	outputs := spec.Declared(task)
	testkit.None(t, testkit.Err(outputs[0].Fields.At("b")))
	testkit.Some(t, testkit.Err(outputs[0].Fields.At("c")), "a field that the configuration does not name is there")
	if outputs[1].Fields != nil {
		t.Error("the other output has fields")
	}
	if o, _ := spec.Output("report"); o.Fields.Type != Map {
		t.Errorf("the kind's own declaration became %v", o.Fields.Type)
	}
}

// TestHalf: a kind with Needs runs where its half is, its parts likewise, and elsewhere says
// what is missing; what Unless names runs in either program.
func TestHalf(t *testing.T) {
	type config struct {
		Count  int    `hcl:"count" help:"h"`
		Device string `hcl:"device,optional,nokey" help:"h"`
	}
	out := []Output{{Name: "out", Type: "text"}}
	kind := Kind[config]{Name: "fit", Version: 1, Doc: "d", Outputs: out, Needs: Libtorch, Device: func(c config) string { return c.Device }}
	part := kind
	part.Name, part.Needs = "part", Tokenizers
	part.Unless, part.Run = func(c config) bool { return c.Count == 0 }, func(context.Context, *IO, config) error { return errors.New("by itself") }
	kind.Parts = []Spec{DefinePart(part).Spec}
	declared := Define(kind)
	by := func(context.Context, *IO, config) error { return errors.New("by its half") }
	computable := WithHalves([]Spec{declared}, Compute(declared, by), Compute(kind.Parts[0], by))

	for _, c := range []struct {
		specs     []Spec
		name      string
		count     int64
		elsewhere bool
		says      string
	}{
		{[]Spec{declared}, "fit", 1, true, "kind fit needs libtorch, which this program does not have"},
		{[]Spec{declared}, "part", 1, true, "kind part needs tokenizers"},
		{[]Spec{declared}, "part", 0, false, "by itself"},
		{computable, "fit", 1, false, "by its half"},
		{computable, "part", 0, false, "by its half"},
	} {
		spec := NewRegistry(c.specs...).Lookup(c.name)
		tree := map[string]any{"count": c.count, "device": "cuda:1"}
		elsewhere, err := spec.Elsewhere(tree)
		testkit.None(t, err, c.name, c.count)
		testkit.Is(t, elsewhere, c.elsewhere, c.name, c.count)
		testkit.ErrSays(t, spec.Run(t.Context(), nil, tree), c.says)
		testkit.Of(t, "cuda:1", c.name)(spec.DeviceOf(tree))
	}
	if declared.Kind.Run != nil {
		t.Error("the declaration was changed")
	}
}
