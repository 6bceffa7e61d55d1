package pipeline_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
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

// What asks for more than any machine has is told, with its place, and does not
// get it.
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
		"digits from JSON":     {url(`jsondecode(format("%0100000d", 1))`), "Number too long"},
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
			if c.want == "" {
				if p != nil || !strings.Contains(fmt.Sprint(ds.Err()), "p.hcl:") {
					t.Errorf("%v", ds.Err())
				}
				return
			}
			err := fmt.Sprint(ds.Err())
			found := false
			for _, w := range strings.Split(c.want, "|") {
				found = found || strings.Contains(err, w)
			}
			if p != nil || !found || !strings.Contains(err, "p.hcl:") {
				t.Errorf("%.2000s\nwant %s", err, c.want)
			}
			if n, _ := ds.Count(); n > 3 {
				t.Errorf("%d errors, of one thing", n)
			}
		})
	}
}

func axes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x%d = [1], ", i)
	}
	return b.String()
}

// What is asked now and then ends the evaluation, too.
func TestStop(t *testing.T) {
	asked := 0
	_, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(url(`length([for a in range(1000) : a if length([for b in range(1000) : b if false]) > 0])`))},
		pipeline.Options{Registry: kinds(), Stop: func() error { asked++; return errors.New("that is enough") }})
	if err := fmt.Sprint(ds.Err()); asked != 1 || !strings.Contains(err, "Evaluation stopped") || !strings.Contains(err, "that is enough.") {
		t.Errorf("asked %d times: %s", asked, err)
	}
}

// What people write is far from the limits.
func TestWithinLimits(t *testing.T) {
	for _, src := range []string{
		chain(`"x"`, `"${@}-"`, 1000),
		url(`join(",", [for a in range(100) : join(",", [for b in range(100) : "${a}/${b}"])])`),
		"locals {\n  all = { for a in range(100) : \"k${a}\" => a }\n}\nstep \"download\" \"a\" {\n  for_each = product({ a = range(50), b = range(20) })\n  url = \"${lookup(local.all, \"k${each.value.a}\", 0)}-${each.value.b}-${format(\"%05d\", each.value.a)}\"\n}\n",
	} {
		if _, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds()}); ds.HasErrors() {
			t.Errorf("%.500s", ds.Err())
		}
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
