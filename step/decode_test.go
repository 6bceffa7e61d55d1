package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestProblems(t *testing.T) {
	spec := Define(everythingKind())
	for _, c := range []struct {
		name string
		tree map[string]any
		want string
	}{
		{"missing", map[string]any{}, `text: required; required: required; one: required`},
		{"unknown", with(minimal(), "txt", "a", "aaa", 1), `aaa: no such attribute; txt: no such attribute`},
		{"types", with(minimal(), "text", []any{}, "flag", "yes", "count", 1.5, "rate", "x", "steps", "1", "words", []any{}, "options", "o"),
			`text: want string, got a list; flag: want bool, got the string "yes"; count: want integer, got the number 1.5; ` +
				`rate: want number, got the string "x"; steps: want list of integer, got the string "1"; words: want map of string, got a list; ` +
				`options: want object, got the string "o"`},
		{"elements", with(minimal(), "steps", []any{int64(1), "x"}, "words", map[string]any{"b": []any{}, "a": nil}, "grid", []any{[]any{1.0, nil}}),
			`steps[1]: want integer, got the string "x"; words["a"]: want string, got null; words["b"]: want string, got a list; ` +
				`grid[0][1]: want number, got null`},
		{"inputs", with(minimal(), "one", "x", "many", []any{In(artifactOf("a")), int64(1)}, "named", map[string]any{"k": "v"}),
			`one: want artifact, got the string "x"; many[1]: want artifact, got the number 1; named["k"]: want artifact, got the string "v"`},
		{"objects", with(minimal(), "rows", []any{map[string]any{"gap": "x"}, map[string]any{"gaps": nil}}),
			`rows[0].gap: want integer, got the string "x"; rows[1].gaps: no such attribute`},
		{"enum", with(minimal(), "choice", "d", "choices", []any{"a", "x"}),
			`choice: "d" is not one of "a", "b", "c"; choices[1]: "x" is not one of "a", "b", "c"`},
		{"number in an enum", with(minimal(), "choice", int64(1)), `choice: "1" is not one of "a", "b", "c"`},
		{"wrong type of an enum", with(minimal(), "choice", []any{}), `choice: want string, got a list`},
		{"too large", with(minimal(), "count", 1e19), `count: want integer, got the number 1e+19`},
		{"not finite", with(minimal(), "rate", json.Number("1e999")), `rate: want number, got the number 1e999`},
		{"reserved", with(minimal(), "words", map[string]any{"$ref": "a"}), `words["$ref"]: a key cannot start with $`},
		{"check", with(minimal(), "count", int64(1001)), `count: more than 1000`},
		{"check comes last", with(minimal(), "count", int64(1001), "flag", "x"), `flag: want bool, got the string "x"`},
	} {
		_, err := spec.Complete(c.tree)
		testkit.That(t, err != nil && err.Error() == c.want, c.name, "got", err, "want", c.want)
	}
}

// bounded has numbers that are bounded, some in a struct that kinds share.
type bounded struct {
	Count  int                `hcl:"count,optional" help:"h" min:"1"`
	Heads  *int               `hcl:"heads,optional" help:"h" min:"1" max:"1000"`
	Rate   float64            `hcl:"rate,optional" help:"h" above:"0"`
	Shares map[string]float64 `hcl:"shares,optional" help:"h" min:"0" max:"1"`
	sharedBounds
}

type sharedBounds struct {
	Dropout float64 `hcl:"dropout,optional" help:"h" min:"0" below:"1"`
	Depths  []int   `hcl:"depths,optional" help:"h" min:"1"`
}

func TestRanges(t *testing.T) {
	spec := Define(Kind[bounded]{Name: "bounded", Version: 1, Doc: "d", Outputs: []Output{{Name: "out", Type: "a"}},
		Defaults: bounded{Count: 3, Rate: 0.5, sharedBounds: sharedBounds{Dropout: 0.1}}, Run: func(context.Context, *IO, bounded) error { return nil }})
	for name, c := range map[string]struct {
		tree map[string]any
		want string // "": it is allowed
	}{
		"defaults":    {map[string]any{}, ""},
		"the bounds":  {map[string]any{"count": int64(1), "heads": int64(1000), "dropout": 0.0, "shares": map[string]any{"dev": 1.0}}, ""},
		"least":       {map[string]any{"count": int64(0)}, "count: want 1 or more, got the number 0"},
		"both":        {map[string]any{"heads": int64(1001)}, "heads: want 1 to 1000, got the number 1001"},
		"above":       {map[string]any{"rate": json.Number("0")}, "rate: want above 0, got the number 0"},
		"below":       {map[string]any{"dropout": 1.0}, "dropout: want 0 or more and below 1, got the number 1"},
		"of elements": {map[string]any{"depths": []any{int64(3), int64(0)}, "shares": map[string]any{"dev": 1.5}}, `shares["dev"]: want 0 to 1, got the number 1.5; depths[1]: want 1 or more, got the number 0`},
	} {
		tree, err := spec.Complete(c.tree)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, %v", name, tree, err)
		}
	}
	tree, err := spec.Complete(map[string]any{"depths": []any{int64(2)}})
	want := map[string]any{"count": int64(3), "rate": 0.5, "dropout": 0.1, "depths": []any{int64(2)}}
	if d := cmp.Diff(want, tree); err != nil || d != "" {
		t.Errorf("embedded attributes: %v\n%s", err, d)
	}
}

func TestComplete(t *testing.T) {
	spec := Define(everythingKind())
	got, err := spec.Complete(with(minimal(), "options", map[string]any{"gap": int64(1)}, "rows", []any{map[string]any{"name": "r"}}, "count", nil))
	testkit.None(t, err)
	want := map[string]any{
		"text": "t", "required": []any{"r"}, "one": In(artifactOf("one")),
		"choice": "a", "flag": false, "count": int64(7), "rate": 0.1, "steps": []any{int64(1), int64(2)}, "words": map[string]any{"k": "v"},
		"options": map[string]any{"name": "n", "lists": []any{"x"}, "gap": int64(1), "new": "dash", "note": ""},
		"rows":    []any{map[string]any{"name": "r", "gap": int64(0), "new": "", "note": ""}},
		"extra":   map[string]any{"name": "", "lists": []any{"y"}, "gap": int64(2), "new": "", "note": ""},
		"later":   int64(5), "mirror": "",
	}
	testkit.Deep(t, got, want)
	if steps := spec.Attrs; steps[7].Name != "steps" || fmt.Sprint(steps[7].Default) != "[1 2]" {
		t.Errorf("the schema's default changed: %v", steps[7])
	}
}

// One decoding does not change what the next one starts from.
func TestDefaultsAreKept(t *testing.T) {
	spec := Define(everythingKind())
	before, err := spec.Complete(minimal())
	testkit.None(t, err)
	testkit.None(t, testkit.Err(spec.Complete(with(minimal(), "steps", []any{int64(9)}, "words", map[string]any{"z": "z"}, "options", map[string]any{"lists": []any{"q"}}))))
	after, err := spec.Complete(minimal())
	testkit.None(t, err)
	testkit.Deep(t, after, before)
}

func TestTaskRefsAndBind(t *testing.T) {
	spec := Define(everythingKind())
	ref := func(s string) Input { return Input{Ref: &Ref{Step: "step.a." + s, Output: "out"}} }
	task, err := NewTask(&spec, with(minimal(), "one", ref("x"), "many", []any{ref("y"), ref("z")}, "named", map[string]any{"k": ref("x")},
		"rows", []any{map[string]any{"from": ref("w")}}))
	testkit.None(t, err)
	refs, err := task.Refs()
	testkit.None(t, err)
	var names []string
	for _, r := range refs {
		names = append(names, r.String())
	}
	if got, want := strings.Join(names, " "), "step.a.y.out step.a.z.out step.a.x.out step.a.x.out step.a.w.out"; got != want {
		t.Errorf("refs %s, want %s", got, want)
	}
	missing := errors.New("no such thing")
	if _, err := task.Bind(func(r Ref) (artifacts.Artifact, error) { return artifacts.Artifact{}, missing }); !errors.Is(err, missing) || !strings.HasPrefix(err.Error(), "many[0]: ") {
		t.Errorf("the error does not say where: %v", err)
	}
	bound, err := task.Bind(func(r Ref) (artifacts.Artifact, error) { return artifactOf(r.Step), nil })
	testkit.None(t, err)
	if refs, err := bound.Refs(); err != nil || len(refs) != 0 {
		t.Errorf("still waits for %v, %v", refs, err)
	}
	if _, _, err := NewRegistry(spec).Key(bound); err != nil {
		t.Error(err)
	}
	if _, _, err := NewRegistry(spec).Key(task); err == nil {
		t.Error("a task that waits for inputs has a key")
	}
}

func TestTaskText(t *testing.T) {
	spec := Define(everythingKind())
	for name, tree := range map[string]map[string]any{
		"value": with(minimal(), "text", "a\xff"),
		"key":   with(minimal(), "words", map[string]any{"\xff": "a"}),
	} {
		if task, err := NewTask(&spec, tree); err == nil {
			t.Errorf("%s: invalid UTF-8 became %s", name, task.Config)
		}
	}
}

func TestInputJSON(t *testing.T) {
	for _, in := range []Input{{}, {Ref: &Ref{Step: `step.a.b["c"]`, Output: "d"}}, In(artifactOf("x"))} {
		b, err := json.Marshal(in)
		testkit.None(t, err)
		var out Input
		testkit.None(t, json.Unmarshal(b, &out))
		testkit.Deep(t, out, in, b)
	}
	var in Input
	if err := json.Unmarshal([]byte(`{"$ref":{"step":"a","output":"b"},"$artifact":{"type":"t"}}`), &in); err == nil {
		t.Error("an input is both")
	}
}

// ParseTree takes any JSON without a panic, and what it reads can be a task.
func FuzzParseTree(f *testing.F) {
	for _, s := range []string{`{"text":"a","required":[],"one":{"$artifact":{"type":"a","digest":"","size":0}}}`, `{"$ref":{}}`, `null`,
		`{"rows":[{"from":{"$ref":{"step":"s","output":"o"}}}]}`, `{"words":{"$artifact":1}}`} {
		f.Add(s)
	}
	spec := Define(everythingKind())
	f.Fuzz(func(t *testing.T, s string) {
		tree, err := ParseTree([]byte(s))
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var want map[string]any
		if !json.Valid([]byte(s)) || d.Decode(&want) != nil {
			want = nil
		}
		if !strings.Contains(s, "$") && (len(want) > 0 && err != nil || len(want) != len(tree) || len(want) > 0 && !reflect.DeepEqual(tree, want)) {
			t.Fatalf("%s is %v, %v; want %v", s, tree, err, want)
		}
		if err != nil {
			return
		}
		task, err := NewTask(&spec, tree)
		if err != nil {
			return
		}
		back, err := task.Tree()
		testkit.None(t, err, task.Config)
		again, err := NewTask(&spec, back)
		if err != nil || string(again.Config) != string(task.Config) {
			t.Fatalf("%s became %s, %v", task.Config, again.Config, err)
		}
	})
}

// A string takes a number with all digits that it has.
func TestNumbersAsText(t *testing.T) {
	for n, want := range map[any]string{
		json.Number("123456789012345678901"): "123456789012345678901", json.Number("0.1234567890123456789"): "0.1234567890123456789",
		json.Number("1e3"): "1000", json.Number("0.10"): "0.1", json.Number("-1.0"): "-1", int64(math.MaxInt64): "9223372036854775807", 1e-7: "1e-07",
	} {
		if got, ok := toString(n); !ok || got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}

// TestInputIsValidated: a task's inputs come from a queue, and are what a step could
// have left or an error.
func TestInputIsValidated(t *testing.T) {
	d := artifacts.Sum([]byte("x"))
	tree, err := artifacts.Tree("files", []artifacts.File{{Name: "a/b", Digest: d, Size: 1}})
	testkit.None(t, err)
	for _, a := range []artifacts.Artifact{{Type: "file", Digest: d, Size: 1}, {Digest: d}, tree} {
		b, err := json.Marshal(In(a))
		testkit.None(t, err)
		var in Input
		if err := json.Unmarshal(b, &in); err != nil || in.Artifact == nil || !reflect.DeepEqual(*in.Artifact, a) {
			t.Errorf("%s gives %+v, %v", b, in, err)
		}
	}
	escaped := tree
	escaped.Files = []artifacts.File{{Name: "../../b", Digest: d, Size: 1}}
	for _, a := range []artifacts.Artifact{{}, {Digest: d, Size: -1}, {Type: "a\x1b[2J", Digest: d}, escaped, {Digest: d, Files: tree.Files}} {
		b, err := json.Marshal(In(a))
		testkit.None(t, err)
		var in Input
		if err := json.Unmarshal(b, &in); err == nil || !strings.Contains(err.Error(), "an input of a task") {
			t.Errorf("%s gives %+v, %v", b, in, err)
		}
	}
}

// TestRefIn: what is named of a tree is a file or a tree, as it would be read from all of it.
func TestRefIn(t *testing.T) {
	file := func(name string, mode artifacts.Mode) artifacts.File {
		return artifacts.File{Name: name, Digest: artifacts.Sum([]byte(name)), Size: int64(len(name)), Mode: mode}
	}
	link := func(name, target string) artifacts.File {
		return artifacts.File{Name: name, Mode: artifacts.Link, Link: target}
	}
	empty := artifacts.File{Name: "empty", Digest: artifacts.Empty, Mode: artifacts.Folder}
	hollow := empty
	hollow.Name = "sub/hollow"
	tree, err := artifacts.Tree("files", []artifacts.File{file("a", ""), file("run", artifacts.Executable), file("sub/b", ""), file("sub/do", artifacts.Executable), hollow, empty,
		link("sub/in", "b"), link("sub/out", "../a"), link("sub/go", "../run"), link("to", "sub"), link("gone", "nothing"), file("far/x", ""), link("far/sub", "../sub")})
	testkit.None(t, err)
	a, b := artifacts.Sum([]byte("a")), artifacts.Sum([]byte("sub/b"))
	for path, want := range map[string]string{
		"":            "",
		"a":           "file " + a.Hex(),
		"sub/b":       "file " + b.Hex(),
		"sub/in":      "file " + b.Hex(),
		"sub/out":     "file " + a.Hex(),
		"run":         "file " + artifacts.Sum([]byte("run")).Hex() + " executable",
		"sub/go":      "file " + artifacts.Sum([]byte("run")).Hex() + " executable",
		"empty":       "files",
		"sub/hollow":  "files",
		"sub":         "files b, do executable, go executable, hollow folder, in link b, out",
		"sub/":        "files b, do executable, go executable, hollow folder, in link b, out",
		"to":          `step.c.x.out["to"]: the link "to" leads to "sub", which is a folder or nothing: take step.c.x.out, or name the folder`,
		"gone":        `the link "gone" leads to "nothing"`,
		"far":         `the link "far/sub" leads to "../sub"`,
		"su":          `step.c.x.out has no file or folder "su"; it has a, empty, far/sub, far/x, gone and 8 more`,
		"sub/missing": "has no file or folder",
	} {
		got, err := Ref{Step: "step.c.x", Output: "out", Path: path}.In(tree)
		if err != nil {
			testkit.That(t, want != "" && strings.Contains(err.Error(), want), path, err)
			continue
		}
		shown := strings.TrimSpace(got.Type + " " + got.Digest.Hex() + " " + string(got.Mode))
		if got.Files != nil {
			var names []string
			for _, f := range got.Files {
				names = append(names, strings.TrimSpace(strings.Join([]string{f.Name, string(f.Mode), f.Link}, " ")))
			}
			shown = strings.TrimSpace(got.Type + " " + strings.Join(names, ", "))
		}
		if err := got.Validate(); err != nil || shown != want && (path != "" || !reflect.DeepEqual(got, tree)) {
			t.Errorf("%q is %s, %v\nwant %s", path, shown, err, want)
		}
	}
	one := artifacts.Artifact{Type: "csv", Digest: a, Size: 1}
	testkit.ErrSays(t, testkit.Err((Ref{Step: "step.c.x", Output: "out", Path: "a"}).In(one)), `is one file, so nothing in it can be named: leave out ["a"]`)
	testkit.ErrSays(t, testkit.Err((Ref{Step: "step.c.x", Output: "out", Path: "a"}).In(artifacts.Artifact{Files: []artifacts.File{}})), ": it is empty")
}
