package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// url is a pipeline whose step has one expression.
func url(expr string) string {
	return "step \"download\" \"a\" {\n  url = " + expr + "\n}\n"
}

// chain is locals each of which is made of the one before, as often as one likes.
func chain(first, next string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "locals {\n  l0 = %s\n", first)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "  l%d = %s\n", i, strings.ReplaceAll(next, "@", fmt.Sprintf("local.l%d", i-1)))
	}
	return b.String() + "}\n" + url(fmt.Sprintf("length(local.l%d)", n))
}

// What asks for more than any machine has is told, with its place, and does not get it.
func TestLimits(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(512 << 20))
	for name, c := range map[string]struct{ src, want string }{
		"doubling text":        {chain(`"0123456789abcdef"`, `"${@}${@}"`, 60), "Text too long"},
		"doubling by join":     {chain(`"0123456789abcdef"`, `join("", [@, @])`, 60), "Text too long"},
		"doubling by format":   {chain(`"0123456789abcdef"`, `format("%s%s", @, @)`, 60), "Text too long"},
		"doubling by replace":  {chain(`"0123456789abcdef"`, `replace(@, "0", @)`, 60), "Text too long"},
		"doubling by regex":    {chain(`"0123456789abcdef"`, `regexreplace(@, "(.+)", "$1$1")`, 60), "Text too long"},
		"doubling lists":       {chain(`[1]`, `[@, @]`, 60), "Value too large"},
		"doubling objects":     {chain(`{ a = 1 }`, `{ a = @, b = @ }`, 60), "Value too large"},
		"doubling by concat":   {chain(`[1, 2]`, `concat(@, @)`, 60), "Value too large"},
		"doubling by flatten":  {chain(`[1, 2]`, `flatten([@, @])`, 60), "Value too large"},
		"JSON in JSON":         {chain(`"\""`, `jsonencode(@)`, 60), "Text too long"},
		"many texts":           {chain(`format("%1000000s", "x")`, `[for i in range(10) : "${format("%1000000s", "x")}${i}"]`, 60), "Too much text"},
		"nesting":              {chain(`[1]`, `[@]`, 150), "Value too deep"},
		"indent":               {url(`indent(2000000000, "a\nb")`), "Text too long"},
		"width":                {url(`format("%999999999d", 1)`), "Text too long"},
		"precision":            {url(`format("%.999999999f", 1)`), "Text too long"},
		"formatlist":           {url(`formatlist("%9999999s", range(1000))[0]`), "Text too long"},
		"repeated arguments":   {url(`format("` + strings.Repeat("%[1]s", 1000) + `", format("%1000000s", "x"))`), "Text too long"},
		"setproduct":           {url(`length(setproduct(range(1000), range(1000), range(1000)))`), "Value too large"},
		"product":              {"step \"download\" \"a\" {\n  for_each = product({ a = range(1000), b = range(1000) })\n  url = each.key\n}\n", "combinations"},
		"wide product":         {"step \"download\" \"a\" {\n  for_each = product({ a = range(1000), b = range(50), " + axes(100) + " })\n  url = each.key\n}\n", "combinations"},
		"long key":             {"step \"download\" \"a\" {\n  for_each = toset([format(\"%05000d\", 1)])\n  url = each.key\n}\n", "has 5000 bytes; at most 4096 are allowed"},
		"long label":           {"step \"download\" \"" + strings.Repeat("a", 5000) + "\" {\n  url = \"http://127.0.0.1/x\"\n}\n", "has 5000 bytes; at most 4096 are allowed"},
		"range":                {url(`length(range(2000000000))`), "more than 1024"},
		"loops that keep none": {url(`length([for a in range(1000) : a if length([for b in range(1000) : b if length([for c in range(1000) : c if false]) > 0]) > 0])`), "Too much to evaluate"},
		"power":                {url(`pow(10, 1000000000)`), "Number out of range"},
		"exponent":             {url(`1e999999999`), "Number out of range"},
		"small exponent":       {url(`"${1e-999999999}"`), "Number out of range"},
		"exponent from text":   {url(`tonumber("1e999999999")`), "Number out of range"},
		"exponent from JSON":   {url(`"${jsondecode("1e999999999")}"`), "Number out of range"},
		"doubling numbers":     {chain(`1e1000`, `@ * @`, 60), "Number out of range"},
		"digits":               {url(strings.Repeat("1", 100_000)), "Number too long"},
		"digits from text":     {url(`parseint(format("%0100000d", 1), 10)`), "Number too long"},
		"digits from JSON":     {url(`jsondecode(format("1%0100000d", 1))`), "Number too long"},
		"deep JSON":            {url(`jsondecode("` + strings.Repeat("[", 100_000) + `")`), "Value too deep"},
		"long pattern":         {url(`regexall(format("%1000000s", "x"), format("%1000000s", "x"))[0]`), "Too much to evaluate"},
		"matches":              {url(`length(regexall("", format("%2000000s", "x")))`), "Value too large"},
		"splitting":            {url(`length(split(" ", format("%2000000s", "x")))`), "Value too large"},
		"JSON list":            {url(`length(jsondecode("[${replace(format("%2000000s", "1"), " ", "1,")}]"))`), "Value too large"},
		"steps":                {"step \"download\" \"a\" {\n  for_each = toset(split(\",\", replace(format(\"%0100001d\", 0), \"0\", \"0,\")))\n  url = each.key\n}\n", ""},
		"configurations":       {"step \"download\" \"a\" {\n  for_each = product({ a = range(1000) })\n  url = local.big\n}\nlocals {\n  big = file(\"big.txt\")\n}\n", "Configurations too large"},
		"in try":               {chain(`"0123456789abcdef"`, `try("${@}${@}", "0123456789abcdef")`, 600), "Too much text"},
		"in a variable":        {"variable \"v\" { default = format(\"%999999999d\", 1) }\n" + url("var.v"), "Text too long"},
		"in a condition":       {"variable \"v\" {\n  default = 1\n  validation {\n    condition = indent(2000000000, \"a\\nb\") == \"\"\n    error_message = \"no\"\n  }\n}\n" + url("var.v"), "Text too long"},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(c.src), "big.txt": []byte(big)}, pipeline.Options{Registry: kinds()})
			runtime.ReadMemStats(&after)
			if more := int64(after.HeapSys-before.HeapSys) >> 20; more > 700 { // what the heap grew by
				t.Errorf("%d MiB more", more)
			}
			if err := fmt.Sprint(ds.Err()); p != nil || !strings.Contains(err, c.want) || !strings.Contains(err, "p.hcl:") {
				t.Errorf("%.2000s\nwant %s", err, c.want)
			}
			if n, _ := ds.Count(); n > 3 {
				t.Errorf("%d errors, of one thing", n)
			}
		})
	}
}

func axes(n int) string {
	return strings.Join(lists.Map(lists.Places(n), func(i int) string { return fmt.Sprintf("x%d = [1]", i) }), ", ")
}

// What is asked now and then ends the evaluation, too.
func TestStop(t *testing.T) {
	asked := 0
	_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(url(`length([for a in range(100) : a if length([for b in range(100) : b if false]) > 0])`))},
		pipeline.Options{Registry: kinds(), Stop: func() error { asked++; return errors.New("that is enough") }})
	if err := fmt.Sprint(ds.Err()); asked != 1 || !strings.Contains(err, "Evaluation stopped") || !strings.Contains(err, "that is enough.") {
		t.Errorf("asked %d times: %s", asked, err)
	}
}

// A value may be a whole file: of a long one a diagnostic shows the beginning.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("<row>é", 5_000)
	for name, c := range map[string]struct{ src, want string }{
		"wrong type":    {"step \"dedup\" \"a\" {\n  records = file(\"big.txt\")\n  key = \"url\"\n}\n", `urls = ["big.txt"]`},
		"in a list":     {"step \"extract\" \"a\" {\n  shards = [file(\"big.txt\")]\n}\n", "A local file becomes one"},
		"enum":          {"step \"extract\" \"a\" {\n  shards = []\n  split = file(\"big.txt\")\n}\n", "is not one of"},
		"a kind's key":  {"table \"a\" {\n  named = { (file(\"big.txt\")) = 1 }\n}\n", "want artifact"},
		"check":         {"step \"download\" \"a\" {\n  url = \"x\"\n  check \"c\" {\n    field = file(\"big.txt\")\n    min = 1\n  }\n}\n", "is not a field"},
		"variable":      {"variable \"v\" {\n  type = string\n  validation {\n    condition = var.v == \"\"\n    error_message = \"No.\"\n  }\n}\n" + url("var.v"), "… (35000 bytes)."},
		"variable file": {"variable \"v\" { type = number }\nlocals { v = var.v }\n" + url("local.v"), "--var"},
		"index":         {url("{ a = 1 }[file(\"big.txt\")]"), "has no attribute"},
		"in the source": {url("\"" + long + "\" + 1"), "Invalid operand"},
		"named":         {url("local.x\nsha256 = " + strings.Repeat("a", 10_000)), "There is no"},
	} {
		t.Run(name, func(t *testing.T) {
			o := pipeline.Options{Registry: kinds()}
			if strings.HasPrefix(name, "variable") {
				o.Vars = map[string]string{"v": long}
			}
			p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(c.src), "big.txt": []byte(long)}, o)
			if err := fmt.Sprint(ds.Err()); p != nil || !strings.Contains(err, c.want) || len(err) > 4000 {
				t.Errorf("%d bytes: %.3000s\nwant %s", len(err), err, c.want)
			}
			if b, err := ds.MarshalJSON(); err != nil || len(b) > 4000 {
				t.Errorf("%d bytes of JSON, %v", len(b), err)
			}
		})
	}
}

// The order of blocks, and how they are spread over files, says nothing.
func TestOrderOfBlocks(t *testing.T) {
	src, err := os.ReadFile("testdata/valid/paper.hcl")
	testkit.None(t, err)
	f, _ := hclsyntax.ParseConfig(src, "paper.hcl", hcl.InitialPos) // TestValid loads it
	blocks := lists.Map(f.Body.(*hclsyntax.Body).Blocks, func(b *hclsyntax.Block) string { return string(b.Range().SliceBytes(src)) })
	want := tasks(t, map[string][]byte{"paper.hcl": src}, src)
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		rng.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
		sources := map[string][]byte{}
		for _, b := range blocks {
			name := fmt.Sprintf("%d.hcl", rng.IntN(3))
			sources[name] = append(sources[name], "# a comment\n"+b+"\n\n"...)
		}
		testkit.Deep(t, tasks(t, sources, src), want)
	}
}

// tasks lists addresses and configurations, sorted.
func tasks(t *testing.T, sources map[string][]byte, opts []byte) []string {
	t.Helper()
	p, ds := pipeline.Load(sources, options(t, opts))
	testkit.None(t, ds.Err())
	return slices.Sorted(slices.Values(lists.Map(p.Steps, func(s pipeline.Step) string {
		return fmt.Sprintf("%s %s %s %s", s.Address, s.Queue, s.Task.Kind, s.Task.Config)
	})))
}

// A chain through which every step depends on the one before is a deep graph; a wide for_each is a large one.
func TestManySteps(t *testing.T) {
	var b strings.Builder
	b.WriteString("step \"extract\" \"s0\" {\n  shards = []\n}\n")
	for i := 1; i < 2000; i++ {
		fmt.Fprintf(&b, "step \"dedup\" \"s%d\" {\n  records = %s.records\n  key = \"url\"\n}\n", i, "step.extract.s0")
		fmt.Fprintf(&b, "locals {\n  l%d = %s\n}\n", i, map[bool]string{true: "0", false: fmt.Sprintf("local.l%d", i-1)}[i == 1])
	}
	fmt.Fprintf(&b, "step \"train\" \"grid\" {\n  for_each = product({ seed = range(50), again = range(40) })\n  corpus = step.dedup.s1999.corpus\n  seed = each.value.seed + local.l1999\n}\n")
	b.WriteString("table \"t\" {\n  data = step.train.grid[*].metrics\n}\n")
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(b.String())}, pipeline.Options{Registry: kinds()})
	testkit.None(t, ds.Err())
	if got, want := len(p.Steps), 1+1999+2000+1; got != want {
		t.Errorf("%d steps, want %d", got, want)
	}
}

// What no person writes is refused, not followed to the end of the stack.
func TestDepth(t *testing.T) {
	for name, src := range map[string]string{
		"brackets":    "a = " + strings.Repeat("[", 10_000),
		"parens":      "locals {\n a = " + strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000) + "\n}",
		"negation":    "locals {\n a = " + strings.Repeat("!", 100_000) + "true\n}",
		"minus":       "locals {\n a = " + strings.Repeat("-", 100_000) + "1\n}",
		"conditional": "locals {\n a = " + strings.Repeat("true ? 1 : ", 20_000) + "1\n}",
		"sum":         "locals {\n a = " + strings.Repeat("1 + ", 20_000) + "1\n}",
		"traversal":   "locals {\n a = {}" + strings.Repeat(".a", 20_000) + "\n}",
		"index":       "locals {\n a = []" + strings.Repeat("[0]", 20_000) + "\n}",
		"splat":       "locals {\n a = []" + strings.Repeat("[*]", 20_000) + "\n}",
		"templates":   "locals {\n a = " + strings.Repeat("\"${", 10_000) + "\n}",
		"blocks":      strings.Repeat("step \"a\" \"b\" {\n", 10_000),
		"size":        strings.Repeat("# comment\n", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds()})
			if p != nil && name != "sum" && name != "splat" {
				t.Error("it loads")
			}
			sane(t, ds)
		})
	}
}

// sane checks what every list of diagnostics must be.
func sane(t *testing.T, ds pipeline.Diagnostics) {
	t.Helper()
	for _, d := range ds.List {
		if d.Subject == nil || d.Subject.Filename == "" || d.Subject.Start.Line < 1 || d.Summary == "" {
			t.Errorf("a diagnostic without a place or a summary: %+v", d)
		}
	}
	var b bytes.Buffer
	for _, s := range []pipeline.Style{{}, {Width: 40, Color: true}} {
		testkit.None(t, ds.Write(&b, s))
	}
	testkit.None(t, testkit.Err(ds.MarshalJSON()))
	if ds.HasErrors() != (ds.Err() != nil) {
		t.Error("Err does not say what HasErrors says")
	}
}

// Load never panics: it returns a pipeline, which loads again from its own sources, or errors with places.
func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"testdata/valid", "testdata/invalid"} {
		sources, err := syntax.ReadAll(dir)
		testkit.None(f, err)
		for _, name := range syntax.Keys(sources) {
			f.Add(string(sources[name]), "scale", "x")
		}
	}
	f.Add("a"+strings.Repeat("\x86", 1000), "scale", "x") // no character of a long line begins near its fault
	reg := kinds()
	f.Fuzz(func(t *testing.T, src, name, value string) {
		if strings.Count(src, "product") > 3 || strings.Count(src, "range") > 4 || strings.Contains(src, "setproduct") {
			return // large on purpose
		}
		o := pipeline.Options{Registry: reg, Vars: map[string]string{name: value},
			VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: []byte(value)}, {Name: "v.json", Bytes: []byte(value)}},
			Env:      []string{pipeline.EnvPrefix + name + "=" + value}}
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, o)
		if (p == nil) != ds.HasErrors() {
			t.Fatal("a pipeline and errors, or neither")
		}
		sane(t, ds)
		if p == nil {
			return
		}
		again, ds := pipeline.Load(p.Sources, pipeline.Options{Registry: reg, Vars: p.Inputs})
		if ds.HasErrors() {
			t.Fatalf("from its own sources and inputs: %v", ds.Err())
		}
		testkit.Deep(t, text(t, again), text(t, p)) // loaded again
	})
}

// What docs/pipelines.md says that expressions give here, unlike in Terraform, they give.
func TestWhatTerraformDoesOtherwise(t *testing.T) {
	docs, err := os.ReadFile("../../docs/pipelines.md")
	testkit.None(t, err)
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.txt", ".b.txt"} {
		testkit.Write(t, name, "")
	}
	_, table, _ := strings.Cut(string(docs), "### What Terraform does otherwise")
	table, _, _ = strings.Cut(table, "\n\n`--var-file")
	rows := regexp.MustCompile("(?m)^\\| `(.*?)` \\| .* \\| (?:`(.*?)`|an error: (.*)).* \\|$").FindAllStringSubmatch(table, -1)
	if len(rows) < 12 || len(rows) != strings.Count(table, "\n| `") {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		got, err := of(t, "jsonencode("+row[1]+")", nil, pipeline.Options{World: pipeline.World{List: language.List}})
		if fails := row[3]; fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) || fails == "" && (err != nil || got != row[2]) {
			t.Errorf("%s is %s, %v; docs: %s%s", row[1], got, err, row[2], fails)
		}
	}
}

// What people write is far from the limits.
func TestWithinLimits(t *testing.T) {
	for _, src := range []string{
		chain(`"x"`, `"${@}-"`, 1000),
		url(`join(",", [for a in range(100) : join(",", [for b in range(100) : "${a}/${b}"])])`),
		"locals {\n  all = { for a in range(100) : \"k${a}\" => a }\n}\nstep \"download\" \"a\" {\n  for_each = product({ a = range(50), b = range(20) })\n  url = \"${lookup(local.all, \"k${each.value.a}\", 0)}-${each.value.b}-${format(\"%05d\", each.value.a)}\"\n}\n",
	} {
		_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds()})
		testkit.None(t, ds.Err())
	}
}
