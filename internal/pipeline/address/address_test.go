package address

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]Address{
		"table.counts":                       {"", "table.counts", ""},
		`step.dedup.nq["a.b[c]"]`:            {"", "step.dedup.nq", `["a.b[c]"]`},
		`step.dedup.nq["say \"]\" \\"]`:      {"", "step.dedup.nq", `["say \"]\" \\"]`},
		`step.dedup.nq[" 🧪 ü\u200b"]`:        {"", "step.dedup.nq", `[" 🧪 ü\u200b"]`},
		`step.dedup.nq[*]`:                   {"", "step.dedup.nq", Any},
		`source.text["module.a.step.x.y"]`:   {"", "source.text", `["module.a.step.x.y"]`},
		`module.a.step.x.y["k"]`:             {"module.a", "step.x.y", `["k"]`},
		`module.a["🧪"].step.x.y[*]`:          {`module.a["🧪"]`, "step.x.y", Any},
		`module.a["]."].module.b.figure.z`:   {`module.a["]."].module.b`, "figure.z", ""},
		`module.a["\"]."].step.x.y`:          {`module.a["\"]."]`, "step.x.y", ""},
		`module.a["\\"].module.b["\\\""].x.`: {`module.a["\\"].module.b["\\\""]`, "x.", ""},
		`module.a`:                           {"", "module.a", ""},
		`module.a["b"]`:                      {"", "module.a", `["b"]`},
		`module.a.module.b["b"]`:             {"module.a", "module.b", `["b"]`},
		`module.a["b`:                        {"", "module.a", `["b`},
		`module.a["b"]x`:                     {"", "module.a", `["b"]x`},
		`module.a.`:                          {"module.a", "", ""},
		`module..x`:                          {"", "module..x", ""},
		``:                                   {},
	} {
		testkit.Is(t, Of(text), want, text)
	}
}

func TestParts(t *testing.T) {
	for text, want := range map[string][4]string{
		`table.counts`:                     {"table.counts", "table.counts", "table", "counts"},
		`step.dedup.nq["a.b[c]"]`:          {"step.dedup.nq", `step.dedup.nq["a.b[c]"]`, "step", "nq"},
		`module.a["."].step.x.y["k"]`:      {`module.a["."].step.x.y`, `step.x.y["k"]`, "step", "y"},
		`module.a["]."].module.b.figure.z`: {`module.a["]."].module.b.figure.z`, "figure.z", "figure", "z"},
		`module.a["b"]`:                    {"module.a", `module.a["b"]`, "module", "a"},
		``:                                 {},
	} {
		a := Of(text)
		testkit.Is(t, [4]string{a.Block(), a.Local(), a.Type(), a.Label()}, want, text)
		if rendered := want[2] == "table" || want[2] == "figure"; a.IsRendered() != rendered {
			t.Errorf("%s is rendered: %t", text, !rendered)
		}
	}
}

func TestBlocks(t *testing.T) {
	for _, c := range [][2]string{
		{`step.x.y["a"]`, `step.x.y["a"]`},
		{`step.x.y["a"] step.x.y["b"] table.t`, "step.x.y table.t"},
		{`module.m["1"].step.x.y["a"] module.m["1"].step.x.y["b"] module.m["2"].step.x.y["a"]`, `module.m["1"].step.x.y module.m["2"].step.x.y`},
	} {
		testkit.Is(t, strings.Join(Blocks(strings.Fields(c[0])), " "), c[1], c[0])
	}
}

// TestCell: an address may have colons in its key.
func TestCell(t *testing.T) {
	for name, want := range map[string][2]string{
		"table.a:one.n":                     {"table.a", "one.n"},
		`table.a["x:y"]:1:2.n`:              {`table.a["x:y"]`, "1:2.n"},
		`table.a["x\"]:y\\"]:r.n`:           {`table.a["x\"]:y\\"]`, "r.n"},
		"table.a:0:1.atomic":                {"table.a", "0:1.atomic"},
		"nothing":                           {"nothing", ""},
		"table.a:":                          {"table.a", ""},
		`table.a["x:`:                       {`table.a["x:`, ""},
		`module.m["a:b"].figure.f["k"]:s.p`: {`module.m["a:b"].figure.f["k"]`, "s.p"},
		`table.a:row["x"].n`:                {"table.a", `row["x"].n`},
	} {
		item, cell, ok := Cell(name)
		testkit.That(t, item == want[0] && cell == want[1] && ok == (item != name), name, item, cell, ok)
	}
}

func FuzzOf(f *testing.F) {
	for _, text := range []string{"", "table.t:r.c", `module.m["a"].step.train.small["x"].model/f`, `module.a["\"]."].x[*]`, "module.", `step."`, "\xff[\"\xff\"]"} {
		f.Add(text, "a")
	}
	f.Fuzz(func(t *testing.T, text, key string) {
		a := Of(text)
		if a.String() != text || a.Block()+a.Key != text || !strings.HasSuffix(text, a.Local()) || !strings.HasSuffix(a.Name, a.Label()) {
			t.Errorf("%q: %q", text, a)
		}
		if item, cell, ok := Cell(text); ok && item+":"+cell != text || !ok && item != text {
			t.Errorf("%q: item %q, cell %q", text, item, cell)
		}
		if step, output := Output(text); output != "" && step+"."+output != text || !strings.HasPrefix(text, step) {
			t.Errorf("%q: step %q, output %q", text, step, output)
		}
		// Any key, of a module and of a step, comes out as it went in.
		want := Address{Modules: "module.m" + Key(key), Name: "step.x.y", Key: Key(key)}
		testkit.Is(t, Of(want.String()), want, key)
		if step, output := Output(want.String() + ".out/" + text); step != want.String() || output != "out/"+text {
			t.Errorf("%q: step %q, output %q", key, step, output)
		}
		if item, cell, ok := Cell(want.String() + ":" + text); !ok || item != want.String() || cell != text {
			t.Errorf("%q: item %q, cell %q", key, item, cell)
		}
	})
}
