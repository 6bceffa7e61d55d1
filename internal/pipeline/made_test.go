package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/step"
)

// made is what steps have made, as output to files to texts.
type made map[string]map[string]string

func (m made) look(ref step.Ref) (*pipeline.Made, error) {
	files, ok := m[ref.String()]
	if !ok {
		return nil, nil
	}
	texts := map[artifacts.Digest]string{}
	var list []artifacts.File
	for name, text := range files {
		d := artifacts.Sum([]byte(text))
		texts[d] = text
		list = append(list, artifacts.File{Name: name, Digest: d, Size: int64(len(text))})
	}
	a, err := artifacts.Tree("files", list)
	return &pipeline.Made{Artifact: a, Read: func(f artifacts.File) ([]byte, error) { return []byte(texts[f.Digest]), nil }}, err
}

// drawn is each step with its configuration, or with what it awaits.
func drawn(p *pipeline.Pipeline) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%s", strings.TrimPrefix(s.Address, "step.command."))
		if s.Pending() {
			fmt.Fprintf(&b, " awaits %v", s.Awaits)
			if len(s.After) > 0 {
				fmt.Fprintf(&b, " after %v", s.After)
			}
		} else if refs, _ := s.Task.Refs(); len(refs) > 0 {
			fmt.Fprintf(&b, " reads %v", refs)
		}
		b.WriteString("\n")
	}
	for _, s := range p.Skipped {
		fmt.Fprintf(&b, "skipped %s\n", s.Address)
	}
	return strings.ReplaceAll(b.String(), "step.command.", "")
}

const pieceModule = `
variable "tree" { type = any }
variable "deep" { type = list(string) }
step "command" "p" {
  for_each = files(var.tree, "chunks/*")
  inputs   = { f = each.file }
}
step "command" "q" { argv = var.deep }
output "parts" { value = step.command.p[*].out }
`

func TestMade(t *testing.T) {
	const split = `step "command" "split" { outputs = ["chunks/", "list.json", "raw.txt"] }
`
	lots := map[string]string{}
	for i := range 50_001 {
		lots[fmt.Sprintf("chunks/%05d.fa", i)] = ""
	}
	for _, c := range []struct {
		name, source string
		made         made
		want         string // what is drawn, or the error
	}{
		{"pieces that are not known", split + `
step "command" "align" {
  for_each = files(step.command.split.out, "chunks/*.fa")
  inputs   = { "chunk.fa" = each.file, list = step.command.split.out["list.json"] }
}
step "command" "merge" { lists = { parts = step.command.align[*].out } }
step "command" "after" { inputs = { m = step.command.merge.out } }`, nil,
			"split\nalign[*] awaits [split.out]\nmerge awaits [split.out] after [align[*]]\nafter reads [merge.out]\n"},
		{"pieces", split + `
step "command" "align" {
  for_each = files(step.command.split.out, "chunks/*.fa")
  inputs   = { "chunk.fa" = each.file, list = step.command.split.out["list.json"] }
}
step "command" "merge" { lists = { parts = step.command.align[*].out } }`,
			made{"step.command.split.out": {"chunks/a.fa": "", "chunks/b.fa": "", "chunks/no.txt": "", "chunks/deep/c.fa": "", "list.json": "[]"}},
			`split
align["a"] reads [split.out["chunks/a.fa"] split.out["list.json"]]
align["b"] reads [split.out["chunks/b.fa"] split.out["list.json"]]
merge reads [align["a"].out align["b"].out]
`},
		{"what is wrong with each piece, whichever they are", split + `
step "command" "align" {
  for_each = files(step.command.split.out, "chunks/*.fa")
  inputs   = { f = each.file }
  argv      = [each.key]
  outputs  = [each.key, ["b"]]
}`, nil, "outputs[1]: want string, got a list."},
		{"what is wrong with a step that has a part which is not known", split + `
step "command" "x" {
  inputs  = { f = step.command.split.out }
  argv     = [json(step.command.split.out, "list.json:n")]
  outputs = [["a"]]
}`, nil, "outputs[0]: want string, got a list."},
		{"values", split + `
locals { samples = json(step.command.split.out, "list.json:samples") }
step "command" "align" {
  for_each = { for s in local.samples : s.name => s }
  argv      = [each.value.name, each.value.n]
}`, made{"step.command.split.out": {"list.json": `{"samples": [{"name": "x", "n": 1}, {"name": "y", "n": 2.5}]}`}}, "split\nalign[\"x\"]\nalign[\"y\"]\n"},
		{"deep", split + `
step "command" "all" {
  for_each = files(step.command.split.out, "chunks/**/*.{fa,fq}")
  inputs   = { f = each.file }
}`, made{"step.command.split.out": {"chunks/a.fa": "", "chunks/x/b.fq": ""}}, "split\nall[\"a.fa\"] reads [split.out[\"chunks/a.fa\"]]\nall[\"x/b.fq\"] reads [split.out[\"chunks/x/b.fq\"]]\n"},
		{"names that outputs say", `
step "command" "split" { outputs = ["a.fa", "b.fa"] }
step "command" "align" {
  for_each = files(step.command.split.out, "*.fa")
  inputs   = { f = each.file }
}`, nil, "split\nalign[\"a\"] reads [split.out[\"a.fa\"]]\nalign[\"b\"] reads [split.out[\"b.fa\"]]\n"},
		{"folder", split + `
step "command" "x" { inputs = { f = step.command.split.out["chunks"] } }
locals { which = "raw.txt" }
step "command" "y" { inputs = { f = step.command.split.out[local.which] } }
step "command" "z" {
  for_each = toset(["chunks/q.fa"])
  inputs   = { f = step.command.split.out[each.key] }
}`, nil, "split\nx reads [split.out[\"chunks\"]]\ny reads [split.out[\"raw.txt\"]]\nz[\"chunks/q.fa\"] reads [split.out[\"chunks/q.fa\"]]\n"},
		{"no such file", split + `step "command" "x" { inputs = { f = step.command.split.out["lisst.json"] } }`, nil,
			`step.command.split.out has no file or folder "lisst.json". Did you mean "list.json"?`},
		{"no such file by a value", split + `
step "command" "x" {
  for_each = toset(["lisst.json"])
  inputs   = { f = step.command.split.out[each.key] }
}`, nil, `step.command.split.out has no file or folder "lisst.json". Did you mean "list.json"?`},
		{"file that leaves", split + `step "command" "x" { inputs = { f = step.command.split.out["../a"] } }`, nil, "not a clean relative path"},
		{"not decided", split + `
step "command" "a" { when = json(step.command.split.out, "list.json:ok") == true }
step "command" "b" { when = json(step.command.split.out, "list.json:ok") != true }
step "command" "c" { inputs = { x = try(step.command.a.out, step.command.b.out) } }`, nil,
			"split\na awaits [split.out]\nb awaits [split.out]\nc awaits [split.out]\n"},
		{"decided", split + `
step "command" "a" { when = json(step.command.split.out, "list.json:ok") == true }
step "command" "b" { when = json(step.command.split.out, "list.json:ok") != true }
step "command" "c" { inputs = { x = try(step.command.a.out, step.command.b.out) } }`, made{"step.command.split.out": {"list.json": `{"ok": false}`}},
			"split\nb\nc reads [b.out]\nskipped a\n"},
		{"not within try", split + `
step "command" "a" { when = json(step.command.split.out, "list.json:ok") }
step "command" "c" { inputs = { x = step.command.a.out } }`, nil, "by try(step.command.a."},
		{"skipped", `
step "command" "a" { when = false }
step "command" "c" { inputs = { x = step.command.a.out } }`, nil, "step.command.a does not run: its when is false (p.hcl:2)"},
		{"when of an instance", split + `
step "command" "a" {
  for_each = toset(["x", "y"])
  when     = each.key == json(step.command.split.out, "list.json:ok")
}
step "command" "c" { lists = { x = step.command.a[*].out } }`, made{"step.command.split.out": {"list.json": `{"ok": "y"}`}}, "split\na[\"y\"]\nc reads [a[\"y\"].out]\nskipped a[\"x\"]\n"},
		{"not a condition", `step "command" "a" { when = "often" }`, nil, "when is true or false"},
		{"pieces of pieces", split + `
step "command" "a" {
  for_each = files(step.command.split.out, "chunks/*")
  outputs  = ["d/"]
}
step "command" "b" {
  for_each = merge([for k, s in step.command.a : { for n, f in files(s.out, "d/*") : "${k}/${n}" => f }]...)
  inputs   = { f = each.value }
}`, made{"step.command.split.out": {"chunks/1": ""}, `step.command.a["1"].out`: {"d/p": "", "d/q": ""}},
			"split\na[\"1\"]\nb[\"1/p\"] reads [a[\"1\"].out[\"d/p\"]]\nb[\"1/q\"] reads [a[\"1\"].out[\"d/q\"]]\n"},
		{"no piece", split + `step "command" "a" { for_each = files(step.command.split.out, "x*") }`, made{"step.command.split.out": {"raw.txt": ""}}, "There is no piece"},
		{"no piece of a local value", split + `
locals { all = json(step.command.split.out, "list.json") }
step "command" "a" { for_each = toset(local.all) }`, made{"step.command.split.out": {"list.json": "[]"}}, "There is no piece"},
		{"no piece, as may be", split + `
step "command" "a" {
  for_each    = files(step.command.split.out, "x*")
  allow_empty = true
}
step "command" "c" { lists = { x = step.command.a[*].out } }`, made{"step.command.split.out": {"raw.txt": ""}}, "split\nc\n"},
		{"too many", split + `step "command" "a" { for_each = files(step.command.split.out, "chunks/*") }`, made{"step.command.split.out": lots}, "has 50001 files; at most 50000 are allowed"},
		{"two of one key", split + `step "command" "a" { for_each = json(step.command.split.out, "list.json") }`, made{"step.command.split.out": {"list.json": `["a", "b", "a"]`}}, `It has the key "a" twice`},
		{"two files of one key", split + `step "command" "a" { for_each = files(step.command.split.out, "1*") }`, made{"step.command.split.out": {"1": "", "10": "", "11": "", "12": ""}}, `two files with the key "1": 1 and 11`},
		{"whole names", split + `step "command" "a" { for_each = files(step.command.split.out, "{1}*") }`, made{"step.command.split.out": {"1": "", "11": ""}}, "split\na[\"1\"]\na[\"11\"]\n"},
		{"no key", split + `step "command" "a" { for_each = json(step.command.split.out, "list.json") }`, made{"step.command.split.out": {"list.json": `["a", ""]`}}, "It has an empty key"},
		{"numbers", split + `step "command" "a" { for_each = json(step.command.split.out, "list.json") }`, made{"step.command.split.out": {"list.json": `[1]`}}, "an element that is a number"},
		{"not JSON", split + `step "command" "a" { for_each = json(step.command.split.out, "list.json") }`, made{"step.command.split.out": {"list.json": `[1`}}, `step.command.split.out["list.json"] is not JSON`},
		{"no such field", split + `step "command" "a" { for_each = json(step.command.split.out, "list.json:x") }`, made{"step.command.split.out": {"list.json": `{"y": 1}`}}, `"x"`},
		{"a tree has no fields", split + `step "command" "a" { when = json(step.command.split.out, "nope:x") }`, made{"step.command.split.out": {"list.json": `{"y": 1}`}}, `has no file or folder "nope"`},
		{"one file", split + `step "command" "a" { for_each = files(step.command.split.stdout, "*") }`, nil, "is one file"},
		{"bad pattern", split + `step "command" "a" { for_each = files(step.command.split.out, "[") }`, nil, "is not a pattern"},
		{"chain", `
locals { before = { b = "a", c = "b" } }
step "command" "m" {
  for_each = toset(["a", "b", "c"])
  inputs   = { for k in [each.key] : "prev" => step.command.m[local.before[k]].out if k != "a" }
}`, nil, "m[\"a\"]\nm[\"b\"] reads [m[\"a\"].out]\nm[\"c\"] reads [m[\"b\"].out]\n"},
		{"chain in a circle", `
locals { before = { a = "c", b = "a", c = "b" } }
step "command" "m" {
  for_each = toset(["a", "b", "c"])
  inputs   = { prev = step.command.m[local.before[each.key]].out }
}`, nil, `step.command.m["a"], step.command.m["b"], step.command.m["c"]: each of these refers to itself`},
		{"chain over itself", `step "command" "m" { for_each = step.command.m }`, nil, "in a circle"},
		{"in a module", split + `
module "m" {
  source = "./m"
  tree   = step.command.split.out
  deep   = json(step.command.split.out, "list.json:deep")
}
step "command" "c" { lists = { x = module.m.parts } }`, nil,
			"split\nc awaits [split.out] after [module.m.p[*]]\nmodule.m.p[*] awaits [split.out]\nmodule.m.q awaits [split.out]\n"},
		{"in a module that is known", split + `
module "m" {
  source = "./m"
  tree   = step.command.split.out
  deep   = json(step.command.split.out, "list.json:deep")
}
step "command" "c" { lists = { x = module.m.parts } }`, made{"step.command.split.out": {"list.json": `{"deep": ["yes"]}`, "chunks/1": ""}},
			"split\nc reads [module.m.p[\"1\"].out]\nmodule.m.p[\"1\"] reads [split.out[\"chunks/1\"]]\nmodule.m.q\n"},
		{"modules that are not known", split + `
module "m" {
  for_each = files(step.command.split.out, "chunks/*")
  source   = "./m"
  tree     = step.command.split.out
  deep     = []
}`, nil, "cannot depend on what a step leaves"},
		{"table", split + `
step "command" "a" {
  for_each = files(step.command.split.out, "chunks/*")
  outputs  = ["m.json"]
}
table "t" { data = step.command.a[*].out }
`, nil, "split\na[*] awaits [split.out]\ntable.t awaits [split.out] after [a[*]]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ds, _ := withModule(c.source, map[string]string{"./m": pieceModule}, pipeline.Options{Registry: kinds(), World: pipeline.World{Made: c.made.look}})
			got := fmt.Sprint(ds.Err())
			if !ds.HasErrors() {
				got = drawn(p)
			} else if len(ds.List) != 1 {
				t.Errorf("%d diagnostics", len(ds.List))
			}
			if got != c.want && (!ds.HasErrors() || !strings.Contains(got, c.want)) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// FuzzInstances: a block makes a step, or says that it is skipped, for each element, with its own address, by key.
func FuzzInstances(f *testing.F) {
	for _, c := range [][2]string{
		{`["b", "a"]`, "true"}, {`{ b = 1, a = false }`, "each.value == 1"}, {"{}", "false"}, {`toset(["x/y", "é"])`, `each.key != "é"`},
		{`{ for i in range(3) : "k${i}" => i }`, "each.value > 1"}, {`product({ a = [1, 2], b = ["x"] })`, "each.value.a == 1"},
		{`files(step.command.first.out, "*")`, "true"}, {`["a"]`, `json(step.command.first.out, "x") == 1`}, {"null", "null"}, {`["a", "a"]`, "1"},
	} {
		f.Add(c[0], c[1])
	}
	reg := kinds()
	f.Fuzz(func(t *testing.T, forEach, when string) {
		for _, text := range []string{forEach, when} {
			if _, ds := hclsyntax.ParseExpression([]byte(text), "e", hcl.InitialPos); ds.HasErrors() || len(text) > 500 {
				t.Skip()
			}
		}
		src := fmt.Sprintf("step \"command\" \"first\" {}\nstep \"command\" \"s\" {\n  for_each = (%s)\n  when = (%s)\n  argv = [each.key]\n}\ntable \"t\" { data = values(try(step.command.s, {}))[*].out }\n", forEach, when)
		s, p, ds := pipeline.Open(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: reg, Stop: func() error { return errors.New("enough") }})
		if p == nil {
			if !ds.HasErrors() {
				t.Fatal("no pipeline and no error")
			}
			return
		}
		seen, last, of := map[string]bool{}, "", 0
		for _, step := range p.Steps {
			if seen[step.Address] {
				t.Fatalf("%s is there twice", step.Address)
			}
			seen[step.Address] = true
			if step.Name == "s" && step.Pending() != bytes.Equal(step.Task.Config, []byte("{}")) {
				t.Fatalf("%s awaits %v and has the configuration %s", step.Address, step.Awaits, step.Task.Config)
			}
			if step.Name == "s" {
				if step.Key <= last && of > 0 {
					t.Fatalf("%q comes after %q", step.Key, last)
				}
				last, of = step.Key, of+1
			}
		}
		for _, skipped := range p.Skipped {
			if seen[skipped.Address] {
				t.Fatalf("%s is a step and skipped, or skipped twice", skipped.Address)
			}
			seen[skipped.Address] = true
		}
		v, ds := s.Value(pipeline.WholeExpression("e", []byte("("+forEach+")")))
		if v, _ = v.Unmark(); !ds.HasErrors() && v.IsWhollyKnown() && v.CanIterateElements() && of+len(p.Skipped) != v.LengthInt() {
			t.Fatalf("%d steps and %d skipped ones of %d elements", of, len(p.Skipped), v.LengthInt())
		}
	})
}

const growing = `
step "command" "split" {}
step "command" "part" {
  for_each = files(step.command.split.out, "parts/*")
  inputs   = { f = each.file }
}
step "command" "found" { argv = json(step.command.split.out, "names.json:list") }
step "command" "late" {
  when  = json(step.command.found.out, "x.json:go")
  lists = { p = step.command.part[*].out }
}
step "command" "last" {
  for_each = toset(json(step.command.third.out, "x.json:list"))
  argv      = [each.key]
}
step "command" "third" {}
table "t" { data = concat(step.command.part[*].out, [try(step.command.late.out, step.command.split.out)]) }
`

// FuzzGrow: what is known of steps stays as more of what others make is known; once all is, none is pending.
func FuzzGrow(f *testing.F) {
	f.Add(uint8(0), "a", "b", true)
	f.Add(uint8(1), "", "x", false)
	f.Add(uint8(5), "n/é", "é", true)
	reg := kinds()
	f.Fuzz(func(t *testing.T, order uint8, part, name string, runs bool) {
		list := fmt.Sprintf(`{"list": [%q, "z"], "go": %t}`, name, runs)
		all := []struct {
			output string
			files  map[string]string
		}{
			{"step.command.split.out", map[string]string{"names.json": list, "parts/1": "1", "parts/" + part: "2"}},
			{"step.command.found.out", map[string]string{"x.json": list}},
			{"step.command.third.out", map[string]string{"x.json": list}},
		}
		orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
		known, m := map[string]string{}, made{}
		for _, next := range append([]int{-1}, orders[int(order)%len(orders)]...) {
			if next >= 0 {
				m[all[next].output] = all[next].files
			}
			p, _ := pipeline.Load(map[string][]byte{"p.hcl": []byte(growing)}, pipeline.Options{Registry: reg, World: pipeline.World{Made: m.look}})
			if p == nil {
				t.Skip() // a name or a text that is refused
			}
			now := map[string]string{}
			for _, s := range p.Steps {
				if !s.Pending() {
					now[s.Address] = string(s.Task.Config)
				} else if len(m) == len(all) {
					t.Fatalf("%s still awaits %v", s.Address, s.Awaits)
				}
			}
			for _, s := range p.Skipped {
				now[s.Address] = "skipped"
			}
			for address, was := range known {
				if now[address] != was {
					t.Fatalf("%s was %s; with %v it is %s", address, was, slices.Sorted(maps.Keys(m)), now[address])
				}
			}
			known = now
		}
	})
}

// TestOnFailureMistakes: on_failure stands beside the for_each of a step, and at_least beside it.
func TestOnFailureMistakes(t *testing.T) {
	for body, want := range map[string]string{
		"on_failure = \"leave_out\"":                        "",
		"on_failure = \"leave_out\"\n  at_least = 0.95":     "",
		"on_failure = \"leave_out\"\n  at_least = 2":        "",
		"on_failure = \"leave_out\"\n  at_least = 1.5":      "at_least is a share above 0 and below 1",
		"on_failure = \"leave_out\"\n  at_least = 0":        "at_least is a share above 0 and below 1",
		"on_failure = \"leave_out\"\n  at_least = var.none": "at_least is a share above 0 and below 1",
		"on_failure = \"ignore\"":                           `on_failure is "leave_out"`,
		"at_least   = 2":                                    `at_least stands beside on_failure = "leave_out"`,
		"on_failure = \"leave_out\"\n}\nlocals {":           "on_failure stands beside the for_each of a step",
	} {
		src := fmt.Sprintf("step \"download\" \"a\" {\n  url = \"https://x\"\n  %s\n}\n", body)
		if !strings.Contains(body, "\n}") {
			src = strings.Replace(src, "x\"\n", "x/${each.key}\"\n  for_each = toset([\"a\", \"b\"])\n", 1)
		}
		_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds()})
		if said := ds.Lines(); (want == "") != (len(ds.List) == 0) || !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %q", body, said, want)
		}
	}
}
