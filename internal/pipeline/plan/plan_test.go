package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

type config struct {
	Text  string      `hcl:"text" help:"text"`
	After step.Inputs `hcl:"after,optional" help:"inputs"`
}

func text(version int) step.Kind[config] {
	return step.Kind[config]{Name: "text", Version: version, Doc: "Text.", Outputs: []step.Output{{Name: "out", Type: "text", Help: "text"}},
		Run: func(context.Context, *step.IO, config) error { return nil }}
}

func registry(version int) *step.Registry { return step.NewRegistry(step.Define(text(version))) }

const diamond = `
step "text" "last" {
  text  = "last"
  after = [step.text.left.out, step.text.right["x"].out]
}
step "text" "left" {
  text  = "left"
  after = step.text.first.out
}
step "text" "right" {
  for_each = toset(["x", "y"])
  text     = each.key
  after    = step.text.first.out
}
step "text" "first" { text = "first" }
step "text" "alone" { text = "alone" }
`

func load(t testing.TB, src string) *pipeline.Pipeline {
	t.Helper()
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: registry(1)})
	testkit.None(t, ds.Err())
	return p
}

// build plans what a target needs; "": the whole pipeline.
func build(t testing.TB, p *pipeline.Pipeline, reg *step.Registry, target string) *Plan {
	t.Helper()
	pl, err := Build("p.hcl", p, reg, strings.Fields(target))
	testkit.None(t, err)
	return pl
}

func addresses(p *Plan) string {
	return strings.Join(lists.Map(p.Steps, func(s Step) string { return strings.TrimPrefix(s.Address, "step.text.") }), " ")
}

func TestSelectionAndOrder(t *testing.T) {
	p := load(t, diamond)
	for target, want := range map[string]string{
		"":                     `first left right["x"] last right["y"] alone`,
		"step.text.last":       `first left right["x"] last`,
		"step.text.right":      `first right["x"] right["y"]`,
		`step.text.right["y"]`: `first right["y"]`,
		"step":                 `first left right["x"] last right["y"] alone`,
		"step.text.alone":      `alone`,
	} {
		pl := build(t, p, registry(1), target)
		testkit.Deep(t, target+": "+addresses(pl), target+": "+want)
		for i, s := range pl.Steps {
			if !slices.IsSorted(s.Deps) || len(s.Deps) > 0 && s.Deps[len(s.Deps)-1] >= i {
				t.Errorf("target %q: step %d reads %v", target, i, s.Deps)
			}
		}
	}
	var unknown *UnknownTarget
	_, err := Build("p.hcl", p, registry(1), []string{"step.text.rihgt"})
	testkit.That(t, errors.As(err, &unknown) && unknown.Near == "step.text.right", "a mistyped target", err)
	testkit.ErrSays(t, testkit.Err(Build("p.hcl", p, registry(1), []string{"step.text.la"})), "names no step")
}

// TestModules: of a module runs what the pipeline reads, or what a target names.
func TestModules(t *testing.T) {
	files := map[string][]byte{"m/m.hcl": []byte(diamond + `
table "t" { text = "t" }
output "left" { value = step.text.left.out }
`)}
	tables := text(1)
	tables.Name, tables.Block = declare.TableKind, true
	reg := step.NewRegistry(step.Define(text(1)), step.Define(tables))
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(`
module "m" {
  source   = "./m"
  for_each = ["a", "]."]
}
step "text" "own" {
  text  = "own"
  after = [module.m["a"].left]
}
`)}, pipeline.Options{Registry: reg, Module: func(string, string) (map[string][]byte, error) { return files, nil }})
	testkit.None(t, ds.Err())
	for target, want := range map[string]string{
		"":                              `module.m["a"].step.text.first module.m["a"].step.text.left own`,
		"step":                          `module.m["a"].step.text.first module.m["a"].step.text.left own`,
		`module.m["]."].step.text.left`: `module.m["]."].step.text.first module.m["]."].step.text.left`,
		`module.m["a"].table`:           `module.m["a"].table.t`,
	} {
		testkit.Deep(t, target+": "+addresses(build(t, p, reg, target)), target+": "+want)
	}
	testkit.ErrSays(t, testkit.Err(Build("p.hcl", p, reg, []string{"table"})), "names no step") // but a module's
}

// results answers look-ups with a fixed output for every key that it knows.
type results struct {
	has   map[artifacts.Digest]string
	calls int
}

func (r *results) lookup(_ context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
	r.calls++
	out := map[artifacts.Digest]*artifacts.Result{}
	for _, k := range keys {
		if text, ok := r.has[k]; ok {
			out[k] = &artifacts.Result{Key: k, Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: artifacts.Sum([]byte(text)), Size: int64(len(text))}}}
		}
	}
	return out, nil
}

func outcomes(t *testing.T, pl *Plan, reg *step.Registry, r *results) (string, *Preview) {
	t.Helper()
	v, err := pl.Follow(context.Background(), reg, r.lookup, KeepAll, nil)
	testkit.None(t, err)
	return strings.Join(lists.Map(v.Items, func(it Item) string { return string(it.Outcome) }), " "), v
}

func TestPreview(t *testing.T) {
	pl := build(t, load(t, diamond), registry(1), "step.text.last")
	r := &results{has: map[artifacts.Digest]string{}}
	got, v := outcomes(t, pl, registry(1), r)
	if got != "run maybe maybe maybe" {
		t.Fatalf("with nothing: %s", got)
	}
	if w := v.Items[3].Snags().Waits; len(w) != 2 || v.Summary() != (Summary{Run: 1, Maybe: 3}) {
		t.Fatalf("last waits for %v", w)
	}
	r.has[v.Items[0].Key] = "first"
	if got, v = outcomes(t, pl, registry(1), r); got != "hit run run maybe" {
		t.Fatalf("with the first: %s", got)
	}
	r.has[v.Items[1].Key], r.has[v.Items[2].Key] = "left", "right"
	got, v = outcomes(t, pl, registry(1), r)
	if got != "hit hit hit run" {
		t.Fatalf("with three: %s", got)
	}
	r.has[v.Items[3].Key] = "last"
	r.calls = 0
	if got, v = outcomes(t, pl, registry(1), r); got != "hit hit hit hit" || !v.Done() || r.calls != 3 {
		t.Fatalf("with all: %s, %d look-ups for three levels", got, r.calls)
	}
	if got, _ = outcomes(t, pl, registry(2), r); got != "run maybe maybe maybe" {
		t.Fatalf("under another version of the kind: %s", got)
	}
}

// TestFollowHoldsLittle: each key is looked up once, in bounded calls; unwanted results go with their last reader.
func TestFollowHoldsLittle(t *testing.T) {
	const n = 2500
	src := fmt.Sprintf(`locals {
  keys = toset(flatten([for i in range(%d) : [for j in range(100) : tostring(100 * i + j)]]))
}
step "text" "first" {
  for_each = local.keys
  text     = each.key
}
step "text" "last" {
  for_each = local.keys
  text     = each.key
  after    = step.text.first[each.key].out
}`, n/100)
	pl := build(t, load(t, src), registry(1), "")
	asked := map[artifacts.Digest]int{}
	calls, most := 0, 0
	lookup := func(_ context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		calls, most = calls+1, max(most, len(keys))
		out := map[artifacts.Digest]*artifacts.Result{}
		for _, k := range keys {
			asked[k]++
			out[k] = &artifacts.Result{Key: k, Took: time.Second, Origin: artifacts.Origin{RunID: "r"},
				Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: k, Size: 3}}}
		}
		return out, nil
	}
	wanted := -1
	v, err := pl.Follow(t.Context(), registry(1), lookup, func(i int, it *Item) bool {
		if it.Result == nil || it.Preimage == nil || it.Task().Kind != "text" {
			t.Fatalf("keep is asked about %+v", it)
		}
		if pl.Steps[i].Address == `step.text.last["17"]` {
			wanted = i
		}
		return i == wanted
	}, nil)
	testkit.None(t, err)
	if len(asked) != 2*n || calls > 2*(n/lookupMost+1) || most > lookupMost {
		t.Errorf("%d keys in %d calls of at most %d", len(asked), calls, most)
	}
	for k, times := range asked {
		if times != 1 {
			t.Fatalf("%s was looked up %d times", k, times)
		}
	}
	for i, it := range v.Items {
		if it.Outcome != Hit || it.Took != time.Second || it.Bytes != 3 || it.Run != "r" || (it.Result != nil) != (i == wanted) || (it.Preimage != nil) != (i == wanted) {
			t.Fatalf("%s: %+v", pl.Steps[i].Address, it)
		}
	}
	testkit.That(t, wanted >= 0 && v.Saved() == 2*n*time.Second, "step", wanted, "is wanted, hits save", v.Saved())
}

// TestOtherKinds: a plan is done by the versions of kinds that it was made for, or by none.
func TestOtherKinds(t *testing.T) {
	p := build(t, load(t, diamond), registry(2), "")
	testkit.None(t, p.CheckKinds(registry(2)))
	for word, reg := range map[string]*step.Registry{
		"is newer and has version 3: plan again":                           registry(3),
		"is older and has version 1: update or end it":                     registry(1),
		"of kind text, which this redsi does not have: use the version of": step.NewRegistry(),
	} {
		testkit.ErrSays(t, p.CheckKinds(reg), word)
	}
}

func TestWithout(t *testing.T) {
	pl := build(t, load(t, diamond), registry(1), "")
	rest, left := pl.Without(nil, func(i int) bool { return pl.Steps[i].Address == `step.text.right["x"]` })
	testkit.Deep(t, addresses(rest), `first left right["y"] alone`)
	testkit.Deep(t, strings.Join(pl.Addresses(left), " "), `step.text.right["x"] step.text.last`)
	testkit.Deep(t, fmt.Sprint(rest.Steps[1].Deps, rest.Steps[2].Deps, rest.Steps[3].Deps), "[0] [0] []")
	testkit.Deep(t, addresses(pl), `first left right["x"] last right["y"] alone`)
}

// TestTemporary: keep = false is temporary unless a target, published, unread, or read by what is left out.
func TestTemporary(t *testing.T) {
	src := strings.NewReplacer(`text = "first"`, "\ntext = \"first\"\nkeep = false\n", `text = "alone"`, "\ntext = \"alone\"\nkeep = false\n",
		`text  = "left"`, "text = \"left\"\nkeep = false", "text     = each.key", "text = each.key\nkeep = each.key == \"x\"").Replace(diamond)
	for _, c := range []struct{ more, target, want string }{
		{"", "", "first left"},
		{"", "step.text.last", "first left"},
		{"", "step.text.left", "first"},
		{"", "step", ""},
		{"publish \"p\" {\nfiles = step.text.left.out\nto = \"p\"\n}\n", "", "first"},
	} {
		testkit.Deep(t, c.target+": "+temporary(build(t, load(t, src+c.more), registry(1), c.target)), c.target+": "+c.want)
	}
	pl := build(t, load(t, src), registry(1), "")
	rest, _ := pl.Without(nil, func(i int) bool { return pl.Steps[i].Address == "step.text.last" })
	if got := temporary(rest); got != "first" || temporary(pl) != "first left" {
		t.Errorf("without last, which reads left: %q", got)
	}
}

func temporary(p *Plan) string {
	return addresses(&Plan{Steps: lists.Filter(p.Steps, func(s Step) bool { return s.Temporary })})
}

// TestGrowAsksLittle: what comes after the last pending step is not looked up.
func TestGrowAsksLittle(t *testing.T) {
	pl := &Plan{Steps: []Step{{Address: "a"}, {Address: "each[*]", Deps: []int{0}, Awaits: []step.Ref{{Step: "a", Output: "out"}}, Awaited: []int{0}}, {Address: "far"}}}
	asked := ""
	_, is, err := Grower{Follow: func(pl *Plan, _ Keep) (*Preview, error) {
		asked = addresses(pl)
		return &Preview{Plan: pl, Items: make([]Item, len(pl.Steps))}, nil
	}}.Grow(t.Context(), nil, pl)
	testkit.That(t, err == nil && is == pl && asked == "a each[*]" && len(pl.Steps) == 3, "asked for", asked, err)
}

// TestPanicInAPreview: a kind that panics is an error of its step, whatever goroutine it is asked in.
func TestPanicInAPreview(t *testing.T) {
	pl := build(t, load(t, diamond), registry(1), "")
	bad := text(1)
	bad.Check = func(config) error { panic("on purpose") }
	_, err := pl.Follow(t.Context(), step.NewRegistry(step.Define(bad)), new(results).lookup, KeepAll, nil)
	testkit.ErrSays(t, err, "step.text.first: a bug in redsi: on purpose")
}
