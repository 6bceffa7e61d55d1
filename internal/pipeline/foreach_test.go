package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/lists"
)

// TestForEachOfSet: toset() in a for_each, which need not be made, is what it is elsewhere, mistakes too.
func TestForEachOfSet(t *testing.T) {
	said := func(locals, forEach string) string {
		src := fmt.Sprintf("locals {\n%s}\nvariable \"s\" {\n  sensitive = true\n}\n"+
			"step \"download\" \"a\" {\n  url      = \"https://x/${each.key}/${each.value}\"\n  for_each = %s\n}\n", locals, forEach)
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"s": "x"}})
		var b strings.Builder
		for _, d := range ds.List {
			fmt.Fprintf(&b, "%s: %s\n", d.Summary, d.Detail)
		}
		if p != nil {
			for _, s := range p.Steps {
				fmt.Fprintf(&b, "%s %s\n", s.Address, s.Task.Config)
			}
		}
		return b.String()
	}
	for list, want := range map[string]string{
		`["b", "a", "b"]`:                 `step.download.a["a"]`,
		`["b", 1, true]`:                  `step.download.a["true"]`,
		`tolist(["b", "a", "b"])`:         `step.download.a["b"]`,
		`toset(["b", "a"])`:               `step.download.a["b"]`,
		`keys({ y = 1, x = 2 })`:          `step.download.a["y"]`,
		`[for i in range(3) : "k${i}"]`:   `step.download.a["k2"]`,
		`[]`:                              "",
		`["a", null]`:                     "an element that is null",
		`[1, 2]`:                          "an element that is a number",
		`["a", ["b"]]`:                    "Invalid function argument",
		`["a", "", "a"]`:                  "It has an empty key",
		`null`:                            "It is null",
		`"text"`:                          "Invalid function argument",
		`{ a = "b" }`:                     "Invalid function argument",
		`["a", var.s]`:                    "Sensitive value",
		`[for s in ["a", "b"] : no.such]`: "Unknown name",
	} {
		direct := said("", "toset("+list+")")
		if through := said("  k = toset("+list+")\n", "local.k"); !strings.Contains(direct, want) || direct != through {
			t.Errorf("%s is %s, and by a local %s; want %q", list, direct, through, want)
		}
	}
}

// TestSweep: every load warns of the axes of a sweep that its block does not use, and of no others.
func TestSweep(t *testing.T) {
	const grid = `product({ rate = ["0.1", "0.2"], seed = ["1", "2", "3"] })`
	for _, c := range []struct{ forEach, body, want string }{
		{grid, `url = each.value.rate`, "depend on each.value.seed, so its 6 instances are 2 steps"},
		{grid, `url = each.value["seed"]`, "depend on each.value.rate, so its 6 instances are 3 steps"},
		{grid, `url = "x"`, "refers to each.key or each.value, so its 6 instances are the same step"},
		{grid, `url = "${each.value.rate} ${each.value.seed}"`, ""},
		{grid, `url = each.key`, ""},
		{grid, `url = join(" ", values(each.value))`, ""},
		{grid, `url = each.value[local.axis]`, "depend on each.value.seed, so its 6 instances are 2 steps"},
		{grid, `url = local.rates[each.key]`, "depend on each.value.seed, so its 6 instances are 2 steps"},
		{grid, "url = each.value.rate\nresources {\n  cpus = tonumber(each.value.seed)\n}", "depend on each.value.seed, so its 6 instances are 2 steps"},
		{grid, "url = each.value.rate\nwhen = each.value.seed != \"3\"", "depend on each.value.seed, so its 4 instances are 2 steps"},
		{grid, "url = each.value.rate\nwhen = each.value.seed == \"3\"", ""},
		{`{ for p in setproduct(["u", "v"], ["1", "2"]) : "${p[0]}/${p[1]}" => p }`, `url = each.value[0]`, "depend on each.value[1], so its 4 instances are 2 steps"},
		{`product({ a = ["x", "y"], b = ["u", "v"], c = ["p", "q"] })`, `url = each.value.a`, "depend on each.value.b or each.value.c, so its 8 instances are 2 steps"},
		{`product({ rate = ["0.1", "0.2"], seed = ["1"] })`, `url = each.value.rate`, ""},
		{`{ for s in ["1", "2"] : "s${s}" => { url = "u", seed = s } }`, `url = each.value.url`, "depend on each.value.seed, so its 2 instances are 1 step"},
		// Values that say more of each than this block needs: a title, two systems that share a step.
		{`{ a = { url = "u", title = "A" }, b = { url = "v", title = "B" } }`, `url = each.value.url`, ""},
		{`{ a = { url = "u", title = "A" }, b = { url = "v", title = "B" }, c = { url = "v", title = "C" } }`, `url = each.value.url`, ""},
		{`["a", "b"]`, `url = each.value`, ""},
		{`["a"]`, `url = "x"`, ""},
		{grid, `url = var.secret`, "are the same step"},
		{`{ a = { url = "u", x = var.secret }, b = { url = "u", x = "y" } }`, `url = each.value.url`, ""},
	} {
		src := "locals {\n  axis = \"rate\"\n  rates = { for k, v in " + grid + " : k => v.rate }\n}\nvariable \"secret\" {\n  sensitive = true\n}\noutput \"axis\" {\n  value = [local.axis, local.rates]\n}\nstep \"download\" \"a\" {\n  for_each = " + c.forEach + "\n" + c.body + "\n}\n"
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds(), Vars: map[string]string{"secret": "s"}})
		sweeps := lists.Filter(ds.List, func(d *hcl.Diagnostic) bool {
			return d.Summary == "Unused axis" || d.Summary == "Instances without a difference"
		})
		text := strings.Join(lists.Map(sweeps, func(d *hcl.Diagnostic) string { return d.Detail }), "\n")
		if p == nil && !strings.Contains(src, "var.secret") || (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s with %s: %q, %v", c.forEach, c.body, text, ds.Err())
		}
	}
	module := map[string]string{"./m": "variable \"rate\" {}\nstep \"download\" \"a\" {\n  url = var.rate\n}\n"}
	_, ds, _ := withModule("module \"m\" {\n  source = \"./m\"\n  for_each = "+grid+"\n  rate = each.value.rate\n}\n", module, pipeline.Options{Registry: kinds()})
	if len(ds.List) != 1 || !strings.Contains(ds.List[0].Detail, "What module.m computes does not depend on each.value.seed") {
		t.Errorf("a module: %v", ds.List)
	}
}
