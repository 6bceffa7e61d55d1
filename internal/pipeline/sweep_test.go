package pipeline_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

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
		var said []string
		for _, d := range ds.List {
			if d.Summary == "Unused axis" || d.Summary == "Instances without a difference" {
				said = append(said, d.Detail)
			}
		}
		text := strings.Join(said, "\n")
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
