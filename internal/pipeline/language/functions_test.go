package language_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// Every function is documented once, in the order of its group, and can be called as its usage says.
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
		testkit.None(t, err)
		fmt.Fprintf(&out, "%s = %s\n", f.Usage, v)
		delete(calls, f.Name)
	}
	if len(calls) > 0 {
		t.Errorf("not documented: %v", calls)
	}
	goldens.Same(t, "testdata/functions.golden", out.String())
}

// Of several near functions the suggested one must not change from run to run: equal diagnostics become one.
func TestUnknownFunction(t *testing.T) {
	for expr, want := range map[string]string{
		`[for i in range(50) : set(i)]`:  `There is no function named "set". Did you mean "sort"?`,
		`map("a")`:                       `There is no function named "map". Did you mean "max"?`,
		`templatefile("t", {})`:          `There is no function named "maxx". Did you mean "max"?`,
		`sensitive("x")`:                 `There is no function named "sensitive". A secret is the value of a variable with sensitive = true.`,
		`completely_unlike_any("other")`: `There is no function named "completely_unlike_any".`,
	} {
		_, err := of(t, expr, map[string]string{"t": "${maxx(1)}"}, language.World{})
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Count(err.Error(), "Error: ") != 1 {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

// of is the text that an expression gives beside the files given, and again of what was read and found alone.
func of(t *testing.T, expr string, files map[string]string, w language.World) (string, error) {
	t.Helper()
	sources := map[string][]byte{}
	for name, text := range files {
		sources[name] = []byte(text)
	}
	once := func(sources map[string][]byte, w language.World) (string, *language.Session, error) {
		c := syntax.NewCollector(sources)
		s := language.NewSession(sources, w, c, nil)
		body := syntax.ParseFile("p.hcl", []byte("a = "+expr+"\n"), c)
		if body == nil {
			return "", s, c.Done().Err()
		}
		s.Rewrite(body.Body)
		open := func() bool { return false }
		v := language.Scope{Session: s, Context: &hcl.EvalContext{Functions: s.Functions(".", open)}}.Value(body.Attributes["a"].Expr)
		if err := c.Done().Err(); err != nil {
			return "", s, err
		}
		text, err := convert.Convert(v, cty.String)
		testkit.None(t, err, expr)
		return text.AsString(), s, nil
	}
	got, s, err := once(sources, w)
	if err != nil {
		return "", err
	}
	if again, _, err := once(s.Read, language.World{Found: s.Found}); err != nil || again != got {
		t.Fatalf("%s again: %s, %v, not %s", expr, again, err, got)
	}
	return got, nil
}

// gives checks the text that an expression gives, or what the error has if want begins with "!".
func gives(t *testing.T, expr string, files map[string]string, w language.World, want string) {
	t.Helper()
	got, err := of(t, expr, files, w)
	part, fails := strings.CutPrefix(want, "!")
	if fails && (err == nil || !strings.Contains(strings.Join(strings.Fields(err.Error()), " "), part)) || !fails && (err != nil || got != want) {
		t.Errorf("%s beside %.50q is %q, %v; want %q", expr, files, got, err, want)
	}
}

// try checks what an expression gives of texts of a file, as JSON.
func try(t *testing.T, file, expr string, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		gives(t, "jsonencode("+expr+")", map[string]string{file: c[0]}, language.World{}, c[1])
	}
}

func TestYAML(t *testing.T) {
	laughs := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		laughs += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	try(t, "p.yaml", `yamldecode(file("p.yaml"))`, [][2]string{
		{"", `null`},
		{"# nothing\n", `null`},
		{"--- 1\n...\n", `1`},
		{"a: 1\nb: [x, 'y', \"z\"]\nc:\n  - d: true\n", `{"a":1,"b":["x","y","z"],"c":[{"d":true}]}`},
		{"{no: on, yes: off, n: y, t: True, e: }", `{"e":null,"n":"y","no":"on","t":true,"yes":"off"}`},
		{"[1e-4, 0.1, .5, 5., +3, -0.0, 0x1F, 0o17, 1_000, 12:30, 1.5.2, 12345678901234567890]", `[0.0001,0.1,0.5,5,3,-0,31,15,"1_000","12:30","1.5.2",12345678901234567890]`},
		{`[0b11, -0x1F, +0o17, 1_000.5, 0x_1, -0, "\0n5", '5']`, `["0b11","-0x1F","+0o17","1_000.5","0x_1",0,"\u0000n5","5"]`},
		{"089: a\n.nan: b", `{".nan":"b","089":"a"}`},
		{"d: 2024-05-01\nt: 2024-05-01T10:00:00Z", `{"d":"2024-05-01","t":"2024-05-01T10:00:00Z"}`},
		{"'1': a\n2: b\ntrue: c\n1.50: d", `{"1":"a","1.50":"d","2":"b","true":"c"}`},
		{"a: |\n  x\n  y\nb: >-\n  x\n  y\n", `{"a":"x\ny\n","b":"x y"}`},
		{"base: &b {lr: 1, n: 2}\nx: {<<: *b, n: 3}\ny: {<<: [{z: 0, lr: 9}, *b]}", `{"base":{"lr":1,"n":2},"x":{"lr":1,"n":3},"y":{"lr":9,"n":2,"z":0}}`},
		{"a: 1\nb: 2\na: 3", `!line 3: mapping key "a" already defined at line 1`},
		{"a: 1\n1: 2\n'1': 3", `!line 3: mapping key "1" already defined at line 2`},
		{"a: 1\n---\nb: 2", `!line 2: a second document begins here`},
		{"a: 1\nb: .nan", `!line 2: .nan is not a number that a configuration can have`},
		{"- -.Inf", `!line 1: -.Inf is not a number`},
		{"a:\n\tb: 1", `!line 2 is indented with a tab`},
		{"a: [1\nb: 2", `!line `},
		{"? [a, b]\n: 1", `!line 1: a key is a text or a number`},
		{"~: 1", `!line 1: a key is a text or a number`},
		{"a: !foo 1", `!line 1: tags such as !foo are not read`},
		{"a: !!binary aGk=", `!line 1: tags such as !!binary`},
		{"a: !!set {x}", `!line 1: tags such as !!set`},
		{"x: {<<: 1}", `!map merge requires map or sequence of maps`},
		{"a: &a [*a]", `!nested more than 100 deep, or one contains itself`},
		{laughs, `!counting what aliases repeat`},
		{strings.Repeat("[", 5000) + strings.Repeat("]", 5000), `!nested more than`},
		{"[1234567890123456789012345, 685_230.15, 1e1_0, 0X1F, 0O17, 0B1, nan, inf]", `[1234567890123456789012345,"685_230.15","1e1_0","0X1F","0O17","0B1","nan","inf"]`},
		{"a: [1, 017]", `!line 1: 017 is a text to people`},
		{"a: -08", `!line 1: -08 is a text`},
		{"a: '017'", `{"a":"017"}`},
		{"a: 1e400", `!line 1: 1e400 is not a number that`},
		{"a: " + strings.Repeat("9", 2000), `!is not a number that`},
		{"a: '1e400'", `{"a":"1e400"}`},
		{"a: *nope", `!unknown anchor 'nope' referenced`},
	})
	for v, want := range map[string]string{
		`null`: "null\n", `"no"`: "\"no\"\n", `[]`: "[]\n", `{}`: "{}\n", `1e-4`: "0.0001\n", `1e21`: "1000000000000000000000\n", `{ b = [1, { c = true }], a = "x\ny" }`: "\"a\": \"x\\ny\"\n\"b\":\n  - 1\n  - \"c\": true\n",
		`"a\u0001\u007f\"é😀"`: "\"a\\x01\\x7F\\\"é\\U0001F600\"\n",
	} {
		gives(t, "yamlencode("+v+")", nil, language.World{}, want)
		gives(t, "tostring(jsonencode(yamldecode(yamlencode("+v+"))) == jsonencode("+v+"))", nil, language.World{}, "true")
	}
}

// What is picked is as it was written, where a program may tell 1.0 from 1.
func TestPick(t *testing.T) {
	file := "b: &b {lr: 1.0, no: off} # x\nc:\n  <<: [{z: 0x1F}, *b]\n  n: 1_000\n  d: {e: 2024-01-01, f: 'x: y'}\nl: [*b, 0x8]\nt: |\n  a\n  b\n0: no\n"
	for call, want := range map[string]string{
		`"c.n"`:                 "c:\n    \"n\": 1_000\n",
		`"c.lr", "c.z", "b.no"`: "b:\n    \"no\": off\nc:\n    lr: 1.0\n    z: 0x1F\n",
		`"c.d", "c.d.e"`:        "c:\n    d: {e: 2024-01-01, f: 'x: y'}\n",
		`"c.d.e", "c.d"`:        "c:\n    d: {e: 2024-01-01, f: 'x: y'}\n",
		`"l.0", "t"`:            "l: [{lr: 1.0, no: off}, 0x8]\nt: |\n    a\n    b\n",
		`"b"`:                   "b: {lr: 1.0, no: off}\n",
		`"c"`:                   "c:\n    <<: [{z: 0x1F}, {lr: 1.0, no: off}]\n    n: 1_000\n    d: {e: 2024-01-01, f: 'x: y'}\n",
		`"c.gone"`:              "!it has no c.gone",
		`"c.n.x"`:               "!it has no c.n.x",
		`"c.*"`:                 "!it has no c.*",
		``:                      "{}\n",
	} {
		gives(t, "pick(file(\"p.yaml\"), ["+call+"])", map[string]string{"p.yaml": file}, language.World{}, want)
	}
	try(t, "p", `pick(file("p"), ["a.b", "c", "l.1"])`, [][2]string{
		{`{"a": {"b": 1.0, "x": 1}, "c": "\ud83d\ude00", "l": [1, {}]}`, `"{\"a\":{\"b\":1.0},\"c\":\"\\ud83d\\ude00\",\"l\":[1,{}]}"`},
		{"", "!it has no a"},
		{"a: [", "!did not find"},
		{"a: {b: !x 1}", "!tags such as !x are not read"},
	})
}

func TestTOML(t *testing.T) {
	try(t, "p.toml", `tomldecode(file("p.toml"))`, [][2]string{
		{"", `{}`},
		{"a = 0.1\nb = 1e-4\nc = 1_000\n[t]\nx = ['a', true]\n[[l]]\ny = 1\n[[l]]\ny = 2", `{"a":0.1,"b":0.0001,"c":1000,"l":[{"y":1},{"y":2}],"t":{"x":["a",true]}}`},
		{"d = 2024-05-01\nt = 10:30:00.5\nl = 2024-05-01T10:00:00\nz = 2024-05-01T10:00:00+02:00", `{"d":"2024-05-01","l":"2024-05-01T10:00:00","t":"10:30:00.5","z":"2024-05-01T10:00:00+02:00"}`},
		{"a = 1\na = 2", `!line 2`},
		{"[t]\nx = [1, nan]", `!NaN is not a number`},
		{"a = " + strings.Repeat("[", 100000), `!nested more than`},
		{strings.Repeat("a.", 1000) + "b = 1", `!nested more than 100 deep`},
	})
}

func TestTemplateFile(t *testing.T) {
	call := `jsonencode(templatefile("t.tmpl", { name = "x", n = [1, 2] }))`
	for text, want := range map[string]string{
		"Hello, ${name}!":                   `"Hello, x!"`,
		"${name}":                           `"x"`,
		"${length(n)}":                      `"2"`,
		"%{ for i in n }${i};%{ endfor }":   `"1;2;"`,
		"$${name} ${file(\"t.tmpl\") != 1}": `"${name} true"`,
		"a\n${nam}":                         `!t.tmpl:2:3`,
		"${nam}":                            `!gives no "nam"; it gives: n, name`,
		"${var.x}":                          `!gives no "var"`,
		"${n}":                              `!This template gives a value that is not a text`,
		"${templatefile(\"t.tmpl\", {})}":   `!a template cannot use templatefile()`,
		"\n${":                              `!t.tmpl:2`,
		"${name == 1 ? 2 : n[7]}":           `!t.tmpl:1`,
		"a\n${format(\"%99999999d\", 1)}":   `!Text too long`,
		strings.Repeat("${(", 2000):         `!Nesting too deep`,
	} {
		gives(t, call, map[string]string{"t.tmpl": text}, language.World{}, want)
	}
	gives(t, `templatefile("no.tmpl", {})`, nil, language.World{ReadFile: os.ReadFile}, "!no.tmpl")
}

// What is listed and hashed is the same where the pipeline is loaded again without files: of does so.
func TestFileset(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"data/b.csv", "data/a.csv", "data/x/y/c.csv", "data/.h.csv", "data/.g/d.csv", "data/e.txt", "other/o.csv", "many/link/f"} {
		testkit.Write(t, name, name)
	}
	for at, to := range map[string]string{"data/in.csv": "a.csv", "gone/x.csv": "nowhere", "out/away.csv": "../data/a.csv", "out/dir": "../other", "loop/self": "."} {
		testkit.None(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at)))
	}
	o := language.World{List: language.List, Digest: func(name string) (step.Pin, error) { return step.Pin{SHA256: artifacts.Sum([]byte(name))}, nil }}
	for call, want := range map[string]string{
		`"data", "*.csv"`:           `["a.csv","b.csv","in.csv"]`,
		`"data", "**/*.csv"`:        `["a.csv","b.csv","in.csv","x/y/c.csv"]`,
		`"./data/", "**"`:           `["a.csv","b.csv","e.txt","in.csv","x/y/c.csv"]`,
		`"data", "{e,[ab]}.*"`:      `["a.csv","b.csv","e.txt"]`,
		`"data", "./a.csv"`:         `["a.csv"]`,
		`"data", "./x//y/*"`:        `["x/y/c.csv"]`,
		`"data", ""`:                `[]`,
		`"data", ".*"`:              `[".h.csv"]`,
		`"data", ".g/*"`:            `[".g/d.csv"]`,
		`"data", "{.h,b}.csv"`:      `[".h.csv","b.csv"]`,
		`"data", "**/*{.csv,.txt}"`: `["a.csv","b.csv","e.txt","in.csv","x/y/c.csv"]`,
		`"data", "nothing/*"`:       `[]`,
		`".", "data/x/**"`:          `["data/x/y/c.csv"]`,
		`".", "out/*.csv"`:          `["out/away.csv"]`,
		`"nowhere", "*"`:            `!there is no folder nowhere`,
		`"data/a.csv", "*"`:         `!not a directory`,
		`"data", "[a"`:              `!is not a pattern`,
		`"data", "../*"`:            `!leads out of the folder`,
		`"data", "/etc/*"`:          `!leads out of the folder`,
		`"out", "*.csv"`:            `!out/away.csv is a link that leads out of out`,
		`"gone", "*"`:               `!gone/x.csv is a link to a file that does not exist`,
		`"out", "dir/*"`:            `!is a link that leads out of out`,
		`"loop", "**"`:              `!too many`,
	} {
		gives(t, "jsonencode(fileset("+call+"))", nil, o, want)
	}
	gives(t, `filesha256("data/a.csv")`, nil, o, artifacts.Sum([]byte("data/a.csv")).Hex())
	gives(t, `filesha256("data/a.csv")`, nil, language.World{}, "!data/a.csv is not among the sources")
	gives(t, `jsonencode(fileset("data", "*"))`, nil, language.World{}, "!data is not among the sources")
}

func TestFunctionsOfTerraform(t *testing.T) {
	for expr, want := range map[string]string{
		`yamldecode("conf/p.yaml")`: `!its text is decoded, by yamldecode(file("conf/p.yaml"))`,
		`one([])`:                   `null`,
		`["x${pow(2, 60)}", tostring(pow(2, 60)), tostring(pow(2, 64)), join("", [pow(2, 60)])]`:     `["x1152921504606846976","1152921504606846976","18446744073709551616","1152921504606846976"]`,
		`[pow(2, 60), pow(10, 30), log(8, 2), floor(pow(2, 60) / 3), tostring(9223372036854775807)]`: `[1152921504606846976,1000000000000000019884624838656,3,384307168202282325,"9223372036854775807"]`,
		`distinct([pow(2, 60), 1152921504606846976])`:                                                `[1152921504606846976]`,
		`one([1, 2])`:                         `!it has 2 elements`,
		`one("a")`:                            `!want a list, got string`,
		`index(["a"], "b")`:                   `!it does not have that value`,
		`base64decode("/w==")`:                `!is not UTF-8 text`,
		`base64decode("?")`:                   `!illegal base64`,
		`base64decode(base64encode("é\n"))`:   `"é\n"`,
		`try(yamldecode("a: [").a, "none")`:   `"none"`,
		`can(tomldecode("="))`:                `false`,
		`try(fileset("none", "*"), ["none"])`: `["none"]`,
	} {
		gives(t, "jsonencode("+expr+")", nil, language.World{List: language.List}, want)
	}
}

// TestDVCDecode: what follows a value of JSON is an error, and not dropped.
func TestDVCDecode(t *testing.T) {
	for expr, want := range map[string]string{
		`dvcdecode("{\"x\": [1.0, 10]}\n", "json")`: `{"x":["1.0",10]}`,
		`dvcdecode("{\"x\": 1.0} 2", "json")`:       `!the text is more than one JSON value`,
		`dvcdecode("{\"x\": 1.0", "json")`:          `!the text is not JSON: unexpected EOF`,
		`dvcdecode("x: 1.0", "yml")`:                `!the format "yml" is none of yaml, json and toml`,
	} {
		gives(t, "jsonencode("+expr+")", nil, language.World{}, want)
	}
}

// TestToString: a number has the same text by tostring as where it is converted without it.
func TestToString(t *testing.T) {
	for _, number := range []string{"0", "-0", "0 * -1", "1", "-1", "100 * 3 + 7", "1e3", "0.1", "1 / 3", "9007199254740993", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "1e30", "pow(2, 60)", "pow(10, 30)", "1e400", "null", "true"} {
		gives(t, fmt.Sprintf("jsonencode(try(tostring(%s), null) == try(join(\"\", tolist([%[1]s, \"\"])), null))", number), nil, language.World{}, "true")
	}
}
