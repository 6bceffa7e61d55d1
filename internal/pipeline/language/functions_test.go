package language_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline/language"
)

// Every function is documented once, in the order of its group, and can be
// called as its usage says.
func TestFunctions(t *testing.T) {
	calls := map[string]string{
		"alltrue": `alltrue([true, false])`, "anytrue": `anytrue([true, false])`,
		"product": `product({ a = [1] })`, "files": `can(files(1, "*"))`, "json": `can(json(1))`, "file": `file("p.hcl.txt")`, "filebase64": `filebase64("p.hcl.txt")`, "chunklist": `chunklist([1, 2, 3], 2)`, "coalesce": `coalesce(null, 1)`,
		"coalescelist": `coalescelist([], [1])`, "compact": `compact(["", "a"])`, "concat": `concat([1], [2])`, "contains": `contains(["a"], "a")`,
		"distinct": `distinct([1, 1])`, "element": `element([1], 3)`, "flatten": `flatten([[1], 2])`, "keys": `keys({ a = 1 })`, "length": `length("né")`,
		"lookup": `lookup({ a = 1 }, "b", 2)`, "merge": `merge({ a = 1 }, { b = 2 })`, "range": `range(1, 3, 1)`, "reverse": `reverse([1, 2])`,
		"setintersection": `setintersection([1, 2], [2])`, "setproduct": `setproduct([1], [2])`, "setsubtract": `setsubtract([1, 2], [2])`,
		"setunion": `setunion([1], [2])`, "slice": `slice([1, 2], 0, 1)`, "sort": `sort(["b", "a"])`, "values": `values({ a = 1 })`, "zipmap": `zipmap(["a"], [1])`,
		"basename": `basename("a/b")`, "chomp": `chomp("a\n")`, "dirname": `dirname("a/b")`, "endswith": `endswith("ab", "b")`, "format": `format("%d", 1)`,
		"formatlist": `formatlist("%d", [1])`, "indent": `indent(1, "a\nb")`, "join": `join(",", ["a"])`, "lower": `lower("A")`, "regex": `regex("b", "abc")`,
		"regexall": `regexall("b", "abc")`, "regexreplace": `regexreplace("abc", "b", "x")`, "replace": `replace("abc", "b", "x")`, "split": `split(",", "a,b")`,
		"startswith": `startswith("ab", "a")`, "strrev": `strrev("ab")`, "substr": `substr("abc", 0, 1)`, "title": `title("a b")`, "trim": `trim("aba", "a")`,
		"trimprefix": `trimprefix("ab", "a")`, "trimspace": `trimspace(" a ")`, "trimsuffix": `trimsuffix("ab", "b")`, "upper": `upper("a")`,
		"abs": `abs(-1)`, "ceil": `ceil(1.5)`, "floor": `floor(1.5)`, "log": `log(8, 2)`, "max": `max(1, 2)`, "nonsensitive": `nonsensitive(true)`, "min": `min(1, 2)`, "parseint": `parseint("ff", 16)`,
		"pow": `pow(2, 3)`, "signum": `signum(-2)`, "sum": `sum([1, 2])`, "can": `can(1)`, "csvdecode": `csvdecode("a\n1")`, "jsondecode": `jsondecode("[1]")`,
		"jsonencode": `jsonencode([1])`, "tobool": `tobool("true")`, "tolist": `tolist([1])`, "tomap": `tomap({ a = 1 })`, "tonumber": `tonumber("1")`,
		"toset": `toset([1])`, "fileset": `fileset("data", "*")`, "filesha256": `filesha256("big.bin")`, "templatefile": `templatefile("t.tmpl", { n = 2 })`,
		"index": `index(["a", "b"], "b")`, "one": `one([1])`,
		"setsymmetricdifference": `setsymmetricdifference([1, 2], [2, 3])`, "base64decode": `base64decode("w6k=")`, "base64encode": `base64encode("é")`,
		"md5": `md5("")`, "sha1": `sha1("")`, "sha256": `sha256("")`, "sha512": `sha512("")`, "strcontains": `strcontains("abc", "b")`,
		"tomldecode": `tomldecode("a = 0.1")`, "yamldecode": `yamldecode("a: [1e-4, no]")`, "dvcdecode": `dvcdecode("a: [1.0, 1e-5, 0.10, 1_000]", "yaml")`, "pick": `pick("a: 1.0\nb: 2", ["a"])`, "yamlencode": `yamlencode({ b = [1, "no"], a = null })`, "tostring": `tostring(1)`, "try": `try([][0], 1)`,
	}
	files := map[string]string{"p.hcl.txt": "text", "t.tmpl": "%{ for i in range(n) }${i},%{ endfor }"}
	world := language.World{Found: language.Found{Lists: map[string]map[string][]string{"data": {"*": {"a", "b"}}}, Digests: map[string]string{"big.bin": "00ff"}}}
	var out strings.Builder
	last := map[string]string{}
	for _, f := range language.Functions() {
		call, ok := calls[f.Name]
		if !ok {
			t.Errorf("%s is not tried here", f.Name)
			continue
		}
		if f.Group != "Pipelines" && last[f.Group] >= f.Name {
			t.Errorf("%s stands after %s", f.Name, last[f.Group])
		}
		last[f.Group] = f.Name
		if !strings.HasPrefix(f.Usage, f.Name+"(") || !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: %s: %s", f.Name, f.Usage, f.Help)
		}
		v, err := of(t, "jsonencode("+call+")", files, world)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&out, "%s = %s\n", f.Usage, v)
		delete(calls, f.Name)
	}
	if len(calls) > 0 {
		t.Errorf("not documented: %v", calls)
	}
	goldens.Same(t, "testdata/functions.golden", out.String())
}
