package step

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

func keyOf(t *testing.T, reg *Registry, tree map[string]any) (artifacts.Digest, string) {
	t.Helper()
	task, err := NewTask(&reg.Kinds()[0], tree)
	testkit.None(t, err, tree)
	d, pre, err := reg.Key(task)
	testkit.None(t, err, task.Config)
	return d, string(pre)
}

// Keys of known configurations. If this golden changes, every result that
// anyone has stored is lost to them: change KeyFormat, and say so in
// docs/formats.md, or mend the code.
func TestKeyGolden(t *testing.T) {
	reg := NewRegistry(Define(everythingKind()))
	full := randomObject(rand.New(rand.NewPCG(3, 4)), reg.Lookup("everything").Attrs)
	full["count"] = int64(12)
	var b strings.Builder
	for _, c := range []struct {
		name string
		tree map[string]any
	}{
		{"minimal", minimal()},
		{"empty lists where the default is none", with(minimal(), "many", []any{}, "rows", []any{})},
		{"empty lists where the default is something", with(minimal(), "steps", []any{}, "words", map[string]any{}, "required", []any{})},
		{"objects", with(minimal(), "options", map[string]any{"gap": int64(3), "lists": []any{}}, "rows", []any{map[string]any{"name": "r"}})},
		{"everything", full},
	} {
		d, pre := keyOf(t, reg, c.tree)
		fmt.Fprintf(&b, "%s\n%s\n%s\n\n", c.name, d, pre)
	}
	goldens.Same(t, "testdata/keys.golden", b.String()) // else keys moved
}

func with(tree map[string]any, pairs ...any) map[string]any {
	m := maps.Clone(tree)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// What a key must move with, and what it must not.
func TestKeyMoves(t *testing.T) {
	reg := NewRegistry(Define(everythingKind()))
	base, _ := keyOf(t, reg, minimal())
	same := func(name string, tree map[string]any) {
		t.Helper()
		if d, pre := keyOf(t, reg, tree); d != base {
			t.Errorf("%s moves the key: %s", name, pre)
		}
	}
	moves := func(name string, reg *Registry, tree map[string]any) {
		t.Helper()
		if d, pre := keyOf(t, reg, tree); d == base {
			t.Errorf("%s does not move the key: %s", name, pre)
		}
	}
	same("a default written out", with(minimal(), "choice", "a", "count", int64(7), "rate", 0.1, "steps", []any{int64(1), int64(2)}))
	same("a number in another form", with(minimal(), "count", json.Number("7.0"), "rate", json.Number("1e-1")))
	number, _ := keyOf(t, reg, with(minimal(), "text", json.Number("1.50")))
	if text, pre := keyOf(t, reg, with(minimal(), "text", "1.5")); text != number {
		t.Errorf("a number and its text have different keys: %s", pre)
	}
	same("null", with(minimal(), "count", nil))
	same("no elements", with(minimal(), "many", []any{}, "grid", []any{}))
	same("an added option at its default", with(minimal(), "later", int64(5)))
	same("added options at their defaults, within objects", with(minimal(),
		"extra", map[string]any{"lists": []any{"y"}, "gap": int64(2)}, "options", map[string]any{"new": "dash"}))
	same("what is not in the key", with(minimal(), "mirror", "elsewhere", "source", In(artifactOf("s")), "options", map[string]any{"note": "x"}))
	relabelled := artifactOf("one")
	relabelled.Type, relabelled.Size = "other", 0
	same("how an input's artifact is called", with(minimal(), "one", In(relabelled)))

	moves("an input", reg, with(minimal(), "one", In(artifactOf("two"))))
	moves("another input", reg, with(minimal(), "other", In(artifactOf("one"))))
	moves("an added option", reg, with(minimal(), "later", int64(6)))
	moves("an added option within an object", reg, with(minimal(), "options", map[string]any{"new": "x"}))
	moves("no elements instead of some by default", reg, with(minimal(), "steps", []any{}))
	moves("an element", reg, with(minimal(), "lists", map[string]any{"a": []any{}}))
	k := everythingKind()
	k.Version++
	moves("the version", NewRegistry(Define(k)), minimal())
	k = everythingKind()
	k.Name = "everything2"
	moves("the kind", NewRegistry(Define(k)), minimal())
	k = everythingKind()
	k.Defaults.Count++
	moves("a default", NewRegistry(Define(k)), minimal())

	order := map[string]any{"many": []any{In(artifactOf("1")), In(artifactOf("2"))}}
	a, _ := keyOf(t, reg, with(minimal(), "many", order["many"]))
	b, _ := keyOf(t, reg, with(minimal(), "many", []any{In(artifactOf("2")), In(artifactOf("1"))}))
	if a == b {
		t.Error("the order of inputs does not move the key")
	}
	a, _ = keyOf(t, reg, with(minimal(), "many", In(artifactOf("1"))))
	b, _ = keyOf(t, reg, with(minimal(), "many", []any{In(artifactOf("1"))}))
	testkit.Is(t, a, b, "one input and a list of one have different keys")
}

// A renamed attribute has its key still, under either name.
func TestKeyOfRenamed(t *testing.T) {
	type before struct {
		Text  string `hcl:"formerly" help:"h"`
		Other string `hcl:"other,optional" help:"h"`
	}
	type after struct {
		Text  string `hcl:"renamed,was=formerly" help:"h"`
		Other string `hcl:"other,optional" help:"h"`
	}
	outputs := []Output{{Name: "out", Type: "a"}}
	was := NewRegistry(Define(Kind[before]{Name: "k", Version: 1, Doc: "d", Outputs: outputs, Run: func(context.Context, *IO, before) error { return nil }}))
	is := NewRegistry(Define(Kind[after]{Name: "k", Version: 1, Doc: "d", Outputs: outputs, Run: func(context.Context, *IO, after) error { return nil }}))
	want, _ := keyOf(t, was, map[string]any{"formerly": "x"})
	for _, name := range []string{"formerly", "renamed"} {
		if got, preimage := keyOf(t, is, map[string]any{name: "x"}); got != want {
			t.Errorf("%s moves the key: %s", name, preimage)
		}
	}
	for want, tree := range map[string]map[string]any{
		"renamed: required": {},
		"formerly: is renamed under its former name; give one of them": {"formerly": "x", "renamed": "x"},
	} {
		if _, err := is.Lookup("k").Complete(tree); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %q", tree, err, want)
		}
	}
}

// A part's version is in the key of what is made of it.
func TestKeyOfParts(t *testing.T) {
	kind := func(partVersion int) *Registry {
		k := everythingKind()
		p := everythingKind()
		p.Name, p.Version = "part", partVersion
		k.Parts = []Spec{DefinePart(p).Spec}
		return NewRegistry(Define(k))
	}
	a, _ := keyOf(t, kind(1), minimal())
	b, _ := keyOf(t, kind(2), minimal())
	if a == b {
		t.Error("a part's version does not move the key")
	}
}

// Any configuration means the same after a way through JSON and back, with the
// same key; and any change of a keyed leaf moves the key.
func TestRandomConfigurations(t *testing.T) {
	reg := NewRegistry(Define(everythingKind()))
	spec := reg.Lookup("everything")
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[artifacts.Digest]string{}
	for range 3000 {
		tree := randomObject(rng, spec.Attrs)
		task, err := NewTask(spec, tree)
		testkit.None(t, err, tree)
		back, err := task.Tree()
		testkit.None(t, err)
		again, err := NewTask(spec, back)
		testkit.None(t, err, task.Config)
		if !bytes.Equal(task.Config, again.Config) {
			t.Fatalf("changed on the way:\n%s\n%s", task.Config, again.Config)
		}
		a, err := spec.Decode(tree)
		testkit.None(t, err)
		b, err := spec.Decode(back)
		testkit.None(t, err)
		if x, y := asJSON(t, a), asJSON(t, b); x != y {
			t.Fatalf("Run would get something else:\n%s\n%s", x, y)
		}
		direct, err := Part[everything]{*spec}.Task(a.(everything))
		testkit.None(t, err)
		d, pre, err := reg.Key(task)
		testkit.None(t, err)
		if e, pre2, err := reg.Key(direct); err != nil || e != d {
			t.Fatalf("TaskOf has another key:\n%s\n%s\n%v", pre, pre2, err)
		}
		// Configurations with one key are the same but for what is not keyed.
		c := a.(everything)
		unkeyed(&c)
		if was, ok := seen[d]; ok && was != asJSON(t, c) {
			t.Fatalf("one key for two configurations:\n%s\n%s", was, asJSON(t, c))
		}
		seen[d] = asJSON(t, c)
	}
}

func unkeyed(c *everything) {
	c.Mirror, c.Source, c.Options.Note, c.Extra.Note = "", nil, "", ""
	for i := range c.Rows {
		c.Rows[i].Note = ""
	}
}

// asJSON writes a struct; empty lists as null, since they mean the same to Run.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	testkit.None(t, err)
	return strings.NewReplacer(":[]", ":null", ":{}", ":null").Replace(string(b))
}

func TestChangedLeafMovesKey(t *testing.T) {
	reg := NewRegistry(Define(everythingKind()))
	spec := reg.Lookup("everything")
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		tree := randomObject(rng, spec.Attrs)
		before, pre := keyOf(t, reg, tree)
		a := spec.Attrs[rng.IntN(len(spec.Attrs))]
		if a.NoKey || a.Type.Kind == Object || a.Block {
			continue
		}
		filled, err := spec.Complete(tree)
		testkit.None(t, err)
		old, err := Canonical(filled[a.Name])
		testkit.None(t, err)
		changed := with(tree, a.Name, random(rng, a.Type, a.Enum))
		filled, err = spec.Complete(changed)
		testkit.None(t, err)
		now, err := Canonical(filled[a.Name])
		testkit.None(t, err)
		after, pre2 := keyOf(t, reg, changed)
		if (string(old) == string(now)) != (before == after) {
			t.Fatalf("%s: %s -> %s\n%s\n%s", a.Name, old, now, pre, pre2)
		}
	}
}

func TestKeyErrors(t *testing.T) {
	reg := NewRegistry(Define(everythingKind()))
	for name, task := range map[string]Task{
		"no such kind": {Kind: "nothing", Config: []byte(`{}`)},
		"no JSON":      {Kind: "everything", Config: []byte(`{`)},
		"two values":   {Kind: "everything", Config: []byte(`{} {}`)},
		"an input":     {Kind: "everything", Config: []byte(`{"$ref":{"step":"a","output":"b"}}`)},
		"incomplete":   {Kind: "everything", Config: []byte(`{"text":"a"}`)},
		"not bound":    {Kind: "everything", Config: []byte(`{"text":"a","required":[],"one":{"$ref":{"step":"a","output":"b"}}}`)},
	} {
		if _, _, err := reg.Key(task); err == nil {
			t.Errorf("%s: there is a key", name)
		}
	}
}

// A key that is made with a task's resolved configuration is the one that is made of the
// task as a plan has it, and Bind then reads no configuration.
func TestResolvedKey(t *testing.T) {
	kind := everythingKind()
	kind.Resolve = func(_ context.Context, _ Sources, c everything) (everything, error) {
		c.Count++
		return c, nil
	}
	reg := NewRegistry(Define(kind))
	task, err := NewTask(&reg.Kinds()[0], minimal())
	testkit.None(t, err)
	out, err := reg.Resolved(t.Context(), nil, task)
	testkit.None(t, err)
	want, _, err := reg.Key(out)
	testkit.None(t, err)
	if _, key, preimage, err := reg.Bind(out, nil); err != nil || key != want || preimage != nil {
		t.Errorf("the key is %s, want %s, made again: %v, error %v", key, want, preimage != nil, err)
	}
	var read Task
	if b, err := json.Marshal(out); err != nil || json.Unmarshal(b, &read) != nil {
		t.Fatal(err)
	}
	if _, key, _, err := reg.Bind(read, nil); err != nil || key != want {
		t.Errorf("of a stored plan the key is %s, want %s: %v", key, want, err)
	}
}

// explaining are sources of plans that are shown.
type explaining struct{ NoSources }

func (explaining) Explains() bool { return true }

// TestUnkeyedOnce: what a key does not have is asked of the configuration that Resolved has at hand, for a plan that says it,
// and else of the task, with the same answer.
func TestUnkeyedOnce(t *testing.T) {
	asked := 0
	kind := everythingKind()
	kind.Resolve = func(_ context.Context, _ Sources, c everything) (everything, error) { return c, nil }
	kind.Unkeyed = func(c everything) []string {
		if asked++; c.Text == "" {
			return nil
		}
		return []string{c.Text}
	}
	reg := NewRegistry(Define(kind))
	for _, text := range []string{"a", ""} {
		tree := minimal()
		tree["text"] = text
		task, err := NewTask(&reg.Kinds()[0], tree)
		testkit.None(t, err)
		for n, env := range []Sources{explaining{}, NoSources{}} {
			out, err := reg.Resolved(t.Context(), env, task)
			testkit.None(t, err)
			before := asked
			if names := reg.Kinds()[0].Unkeyed(out); strings.Join(names, "") != text || asked != before+n {
				t.Errorf("of %q: %q, asked %d times, want %d", text, names, asked-before, n)
			}
		}
	}
}

type walkConfig struct {
	Steps int    `hcl:"steps" help:"how far"`
	Gait  string `hcl:"gait,optional" help:"in which way"`
	Rest  int    `hcl:"rest,added" help:"when to end"`
	Keep  bool   `hcl:"keep,added,nokey" help:"what is kept"`
}

// TestTrajectory: tasks that differ in what the kind names, or in what is in no key, have
// theirs in common, and it is the key of no result; a configuration may have none.
func TestTrajectory(t *testing.T) {
	spec := Define(Kind[walkConfig]{Name: "walk", Version: 1, Doc: "Walk.", Outputs: []Output{{Name: "out", Type: "files"}}, Defaults: walkConfig{Gait: "slow"},
		Trajectory: func(c walkConfig) []string {
			if c.Gait == "timed" {
				return nil
			}
			return []string{"steps", "rest"}
		},
		Run: func(context.Context, *IO, walkConfig) error { return nil }})
	other := Define(Kind[walkConfig]{Name: "stand", Version: 1, Doc: "Stand.", Outputs: []Output{{Name: "out", Type: "files"}},
		Run: func(context.Context, *IO, walkConfig) error { return nil }})
	reg := NewRegistry(spec, other)
	of := func(kind string, tree map[string]any) (string, bool) {
		t.Helper()
		task, err := NewTask(reg.Lookup(kind), tree)
		testkit.None(t, err)
		key, ok, err := reg.Trajectory(task)
		testkit.None(t, err)
		if result, _, err := reg.Key(task); err != nil || result == key {
			t.Errorf("%v: the key of its result is %v, %v", tree, result, err)
		}
		return key.Hex(), ok
	}
	short, ok := of("walk", map[string]any{"steps": int64(1)})
	if !ok {
		t.Error("there is none")
	}
	for _, same := range []map[string]any{{"steps": int64(9)}, {"steps": int64(1), "rest": int64(3)}, {"steps": int64(2), "keep": true, "gait": "slow"}} {
		if key, ok := of("walk", same); key != short || !ok {
			t.Errorf("%v: %s, want %s", same, key, short)
		}
	}
	if key, ok := of("walk", map[string]any{"steps": int64(1), "gait": "fast"}); key == short || !ok {
		t.Errorf("another gait: %s, %v", key, ok)
	}
	if _, ok := of("walk", map[string]any{"steps": int64(1), "gait": "timed"}); ok {
		t.Error("a configuration without one has one")
	}
	if _, ok := of("stand", map[string]any{"steps": int64(1)}); ok {
		t.Error("a kind without one has one")
	}
}
