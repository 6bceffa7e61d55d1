package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline"
)

// FuzzInstances: whatever for_each and when are, a block makes a step or says of one that it is
// skipped for each element, with an address of its own, in the order of their keys.
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

// FuzzGrow: what is known of steps does not change as more of what others make is known, and once all
// is, no step is pending.
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
