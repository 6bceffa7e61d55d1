package pipeline_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// The kinds of these tests: small, but of every form that a kind can have.

type download struct {
	URL    string `hcl:"url" help:"Where the bytes are."`
	SHA256 string `hcl:"sha256,optional" help:"Their checksum."`
}

type extract struct {
	Shards step.Inputs `hcl:"shards" help:"NQ shards." accepts:"file"`
	Split  string      `hcl:"split,optional" help:"Which split it is." enum:"train,dev"`
	Limit  int         `hcl:"limit,optional" help:"Stop after this many records; 0 for none."`
}

type dedup struct {
	Records step.Input        `hcl:"records" help:"What to deduplicate." accepts:"nq/records"`
	Key     string            `hcl:"key" help:"What makes two documents one." enum:"url,h1,page_id,text4k"`
	Pages   *step.Input       `hcl:"pages,optional" help:"Page ids, for page_id."`
	Rename  map[string]string `hcl:"rename,optional" help:"Other names."`
}

type train struct {
	Corpus  step.Input `hcl:"corpus" help:"Documents." accepts:"corpus"`
	Size    string     `hcl:"size,optional" help:"Model size."`
	Seed    int        `hcl:"seed,optional" help:"Random seed."`
	Rate    float64    `hcl:"rate,optional" help:"Learning rate."`
	Budgets []int      `hcl:"budgets,optional" help:"Steps at which to evaluate."`
	BF16    bool       `hcl:"bf16,optional" help:"Half precision."`
	Pace    *int       `hcl:"pace,optional,was=tempo" help:"Of training."`
}

type anyProgram struct {
	Argv    []string               `hcl:"argv,optional" help:"Program and arguments."`
	Script  string                 `hcl:"script,optional" help:"Text of a script."`
	Files   map[string]string      `hcl:"files,optional" help:"Its files."`
	Inputs  map[string]step.Input  `hcl:"inputs,optional" help:"What it reads."`
	Lists   map[string]step.Inputs `hcl:"lists,optional" help:"More of it."`
	Outputs []string               `hcl:"outputs,optional" help:"What it leaves."`
	Secret  map[string]string      `hcl:"secret_env,optional,added,names,secret" help:"Where values are found."`
}

type row struct {
	Label string       `hcl:"label" help:"First column."`
	Cells []step.Input `hcl:"cells,optional" help:"The other columns."`
}

type expectation struct {
	Cell      string   `hcl:"cell,label" help:"Which cell."`
	Value     float64  `hcl:"value" help:"What the paper prints."`
	Tolerance *float64 `hcl:"tolerance,optional" help:"How far off it may be."`
}

type table struct {
	Paper   string                `hcl:"paper,optional" help:"Its label in the paper."`
	Caption string                `hcl:"caption,optional,nokey" help:"Its caption."`
	Rows    []row                 `hcl:"rows,optional" help:"Its rows."`
	Data    step.Inputs           `hcl:"data,optional" help:"What it shows."`
	Named   map[string]step.Input `hcl:"named,optional" help:"What it shows, by name." accepts:"metrics"`
	Expect  []expectation         `hcl:"expect,block" help:"Numbers of the paper."`
}

func noRun[C any](context.Context, *step.IO, C) error { return errors.New("not in these tests") }

func kinds() *step.Registry {
	return step.NewRegistry(
		step.Define(step.Kind[download]{Name: "download", Version: 1, Doc: "Fetches a file.",
			Outputs: []step.Output{{Name: "file", Type: "file"}}, Run: noRun[download],
			Pins: func(download, map[string]artifacts.Artifact) []step.Pin { return nil }}),
		step.Define(step.Kind[extract]{Name: "extract", Version: 1, Doc: "Reads NQ.",
			Outputs:  []step.Output{{Name: "records", Type: "nq/records"}, {Name: "audit", Type: "audit"}},
			Defaults: extract{Split: "train"}, Run: noRun[extract]}),
		step.Define(step.Kind[dedup]{Name: "dedup", Version: 2, Doc: "Groups documents.",
			Outputs: []step.Output{{Name: "corpus", Type: "corpus"}, {Name: "counts", Type: "metrics"}},
			Check: func(c dedup) error {
				if c.Key == "page_id" && c.Pages == nil {
					return step.Problem{Path: "pages", Detail: "key = \"page_id\" needs pages"}
				}
				return nil
			}, Run: noRun[dedup]}),
		step.Define(step.Kind[train]{Name: "train", Version: 1, Doc: "Trains a model.", Queue: step.GPU,
			Outputs:  []step.Output{{Name: "checkpoint", Type: "model"}, {Name: "metrics", Type: "metrics"}},
			Defaults: train{Size: "tiny", Seed: 42, Rate: 1e-3},
			Check: func(c train) error {
				var ps step.Problems
				for i, b := range c.Budgets {
					if b <= 0 {
						ps = append(ps, step.Problem{Path: fmt.Sprintf("budgets[%d]", i), Detail: fmt.Sprintf("%d is not positive", b)})
					}
				}
				if c.Rate <= 0 {
					ps = append(ps, step.Problem{Path: "rate", Detail: "it must be positive"})
				}
				return ps.Err()
			}, Run: noRun[train]}),
		step.Define(step.Kind[anyProgram]{Name: "command", Version: 1, Doc: "Runs a program.",
			Outputs: []step.Output{{Name: "out", Type: "files", Tree: true}, {Name: "stdout", Type: "file"}}, Run: noRun[anyProgram],
			Leaves: func(c anyProgram) map[string][]string { return map[string][]string{"out": c.Outputs} }}),
		step.Define(step.Kind[table]{Name: "render_table", Version: 1, Doc: "Draws a table.", Block: true, Inline: true,
			Outputs: []step.Output{{Name: "markdown", Type: "text"}}, Run: noRun[table]}),
		step.Define(step.Kind[table]{Name: "render_figure", Version: 1, Doc: "Draws a figure.", Block: true, Inline: true,
			Outputs: []step.Output{{Name: "svg", Type: "svg"}}, Run: noRun[table]}),
		step.DefinePart(step.Kind[download]{Name: "download_part", Version: 1, Doc: "A part.",
			Outputs: []step.Output{{Name: "file", Type: "file"}}, Run: noRun[download]}).Spec,
	)
}

// of evaluates an expression as the url of a step, beside the files given.
func of(t *testing.T, expr string, files map[string]string, o pipeline.Options) (string, error) {
	t.Helper()
	src := map[string][]byte{"p.hcl": []byte("step \"download\" \"a\" {\n  url = " + expr + "\n}\n")}
	if strings.HasPrefix(expr, "\n") { // the whole pipeline
		src["p.hcl"] = []byte(expr)
	}
	for name, text := range files {
		src[name] = []byte(text)
	}
	o.Registry = kinds()
	p, ds := pipeline.Load(src, o)
	if ds.HasErrors() {
		return "", ds.Err()
	}
	again, ds := pipeline.Load(p.Sources, pipeline.Options{Registry: kinds(), Vars: p.Inputs, World: pipeline.World{Found: p.Found}})
	if ds.HasErrors() {
		t.Fatalf("%s from its own sources: %v", expr, ds.Err())
	}
	if a, b := text(t, p), text(t, again); a != b {
		t.Fatalf("%s loaded again:\n%s\n%s", expr, a, b)
	}
	tree, err := p.Steps[0].Task.Tree()
	testkit.None(t, err)
	url, _ := tree["url"].(string)
	return url, nil
}

// A text in Unicode's form NFC reaches a configuration byte for byte, from a file, a variable or the source.
func TestTextsKeepTheirBytes(t *testing.T) {
	const text = "é Å x\u0302 한\n" // NFC has no one character for x̂
	files := map[string]string{"a.txt": text, "mark.txt": "\u0301!", "é.txt": "named", "a.csv": "é,b\nÅ,2\n", "a.json": `{"a": "é", "b": "e\u0301"}`, "bytes": "\xff\x00", "odd.txt": "e\u0301"}
	for expr, want := range map[string]string{
		`file("a.txt")`:                                text,
		`"<${file("a.txt")}>"`:                         "<" + text + ">",
		`file("mark.txt")`:                             "\u0301!",
		`"e${file("mark.txt")}"`:                       "é!",
		`trimspace(file("a.txt"))`:                     strings.TrimSpace(text),
		`replace(file("a.txt"), "x", "b")`:             strings.ReplaceAll(text, "x", "b"),
		`format("%s|%5s", file("a.txt"), "a")`:         text + "|    a",
		`upper(file("a.txt"))`:                         "É Å X\u0302 한\n",
		`split(" ", file("a.txt"))[2]`:                 "x\u0302",
		`jsonencode(file("a.txt"))`:                    `"` + strings.TrimSpace(text) + `\n"`,
		`jsondecode(file("a.json")).a`:                 "é",
		`jsondecode(file("a.json")).b`:                 "é",
		`jsondecode(jsonencode(file("a.txt")))`:        text,
		`csvdecode(file("a.csv"))[0]["é"]`:             "Å",
		`file("é.txt")`:                                "named",
		`tostring(length(file("a.txt")))`:              "8",
		`filebase64("bytes")`:                          base64.StdEncoding.EncodeToString([]byte("\xff\x00")),
		`filebase64("odd.txt")`:                        base64.StdEncoding.EncodeToString([]byte("e\u0301")),
		`substr(file("a.txt"), 4, 1)`:                  "x\u0302", // a character as ever
		`"e\u0301"`:                                    "é",
		"<<EOT\nx\u0302\nEOT\n":                        "x\u0302\n",
		"\"x\" # a comment in another form: e\u0301\n": "x",
	} {
		got, err := of(t, expr, files, pipeline.Options{})
		testkit.None(t, err, expr)
		testkit.Is(t, got, want, expr)
	}
	for name, o := range given("é") {
		testkit.Of(t, "é"+text, name)(of(t, takesGiven, files, o))
	}
}

const takesGiven = "\nvariable \"x\" {}\nvariable \"l\" { default = [file(\"a.txt\")] }\nstep \"download\" \"a\" { url = \"${var.x}${var.l[0]}\" }\n"

// given gives x a text in every way.
func given(text string) map[string]pipeline.Options {
	return map[string]pipeline.Options{
		"argument":    {Vars: map[string]string{"x": text}},
		"environment": {Env: []string{"REDSI_VAR_x=" + text}},
		"file":        {VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: []byte("x = \"" + text + "\"\n")}}},
		"JSON":        {VarFiles: []pipeline.File{{Name: "v.json", Bytes: []byte("{\"x\": \"" + text + "\"}")}}},
	}
}

// A text in another form is refused where it comes in, with a way out.
func TestTextsNotInNFC(t *testing.T) {
	const odd = "e\u0301"
	files := map[string]string{"odd.txt": "é\n" + odd + " \u212b\n", "a.txt": "é"}
	for expr, want := range map[string][]string{
		`file("odd.txt")`:           {"p.hcl:2:15", "line 2 of odd.txt is not in Unicode's form NFC", "save it as NFC", "a step's input", "filebase64()"},
		`"` + odd + `"`:             {"p.hcl:2:10", "Text not in NFC", "Save it as NFC"},
		"<<EOT\n" + odd + "\nEOT\n": {"p.hcl:3:1", "Text not in NFC"},
		"step.download." + odd:      {"p.hcl:2:23", "Text not in NFC"},
		"\nstep \"download\" \"" + odd + "\" {\n  url = \"a\"\n}\n": {"p.hcl:2:", "Text not in NFC"},
	} {
		_, err := of(t, expr, files, pipeline.Options{})
		testkit.ErrSays(t, err, want...)
	}
	ways := given(odd)
	ways["list"] = pipeline.Options{Vars: map[string]string{"x": "a", "l": "[\"" + odd + "\"]"}}
	for name, o := range ways {
		t.Log("a variable by ", name)
		testkit.ErrSays(t, testkit.Err(of(t, takesGiven, files, o)), "in Unicode's form NFC")
	}
	secret := "\nvariable \"x\" { sensitive = true }\nstep \"download\" \"a\" { url = \"b\" }\n"
	if _, err := of(t, secret, nil, pipeline.Options{Vars: map[string]string{"x": odd}}); err == nil || !strings.Contains(err.Error(), "in Unicode's form NFC") || strings.Contains(err.Error(), odd) {
		t.Errorf("a sensitive variable: %v", err)
	}
}

// Numbers keep the digits that were typed; numbers that an int64 or a float64 holds stand as they always did.
func TestNumbersKeepTheirDigits(t *testing.T) {
	for expr, want := range map[string]string{
		"123456789012345678901": "123456789012345678901", "9223372036854775808": "9223372036854775808", "-9223372036854775809": "-9223372036854775809",
		"9223372036854775807": "9223372036854775807", "9007199254740993": "9007199254740993", "0.1": "0.1", "-0.1": "-0.1", "1.50": "1.5", "1e3": "1000",
		"0.1234567890123456789": "0.1234567890123456789", "3.14159265358979323846": "3.14159265358979323846", "0.1 + 0.2": "0.3", "1 / 3": "0.3333333333333333",
		"2 / 3": "0.6666666666666666", "0.0000001": "1e-07", "1e-7": "1e-07", "1e20": "100000000000000000000", "1 / 8": "0.125", "0.30000000000000004": "0.30000000000000004",
		`tonumber("123456789012345678901")`: "123456789012345678901", `jsondecode("123456789012345678901")`: "123456789012345678901",
		`"${123456789012345678901}"`: "123456789012345678901", "1234567.12345678901234": "1234567.12345678901234",
	} {
		testkit.Of(t, want, expr)(of(t, expr, nil, pipeline.Options{}))
	}
	testkit.ErrSays(t, testkit.Err(of(t, "\nstep \"train\" \"a\" {\n  corpus = step.dedup.d.corpus\n  seed = 9223372036854775808\n}\nstep \"dedup\" \"d\" {\n  records = step.extract.e.records\n  key = \"url\"\n}\nstep \"extract\" \"e\" {\n  shards = []\n}\n", nil, pipeline.Options{})), "9223372036854775808")
}

// What file() cannot read is reported where it is called.
func TestFileNotRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{dir, filepath.Join(dir, "none")} {
		src := map[string][]byte{"p.hcl": []byte("step \"download\" \"a\" {\n  url = file(\"" + name + "\")\n}\n")}
		_, ds := pipeline.Load(src, pipeline.Options{Registry: kinds(), World: pipeline.World{ReadFile: syntax.ReadFile}})
		testkit.ErrSays(t, ds.Err(), "p.hcl:2:15")
	}
	testkit.ErrSays(t, testkit.Err(of(t, `file("x")`, map[string]string{"x": "ab\xff"}, pipeline.Options{})), "byte 2", "filebase64()")
	testkit.ErrSays(t, testkit.Err(of(t, `file("x")`, nil, pipeline.Options{})), "p.hcl:2:9", "is not among the sources")
}
