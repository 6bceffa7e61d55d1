package pipeline_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/step"
)

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
	again, ds := pipeline.Load(p.Sources, pipeline.Options{Registry: kinds(), Vars: p.Inputs()})
	if ds.HasErrors() {
		t.Fatalf("%s from its own sources: %v", expr, ds.Err())
	}
	if a, b := text(t, p), text(t, again); a != b {
		t.Fatalf("%s loaded again:\n%s\n%s", expr, a, b)
	}
	tree, err := p.Steps[0].Task.Tree()
	if err != nil {
		t.Fatal(err)
	}
	url, _ := tree["url"].(string)
	return url, nil
}

// A text of a file reaches a configuration byte for byte, whatever form of
// Unicode it is in, however it is passed on; so do texts that are given or typed.
func TestTextsKeepTheirBytes(t *testing.T) {
	const odd = "e\u0301 \u212b x\u0302 \u1112\u1161\u11ab\n" // NFC: é Å x̂ 한
	files := map[string]string{"odd.txt": odd, "mark.txt": "\u0301!", "e\u0301.txt": "named", "odd.csv": "e\u0301,b\n\u212b,2\n", "odd.json": `{"a": "e\u0301", "b": "` + `e\` + `u0301"}`,
		"names.txt": "e\u0301\né", "bytes": "\xff\x00", "plain.txt": "é x\u0302\n"}
	for expr, want := range map[string]string{
		`file("odd.txt")`:                                            odd,
		`"<${file("odd.txt")}>"`:                                     "<" + odd + ">",
		`"e${file("mark.txt")}"`:                                     "e\u0301!",
		`trimspace(file("odd.txt"))`:                                 strings.TrimSpace(odd),
		`join("e", ["", file("mark.txt")])`:                          "e\u0301!",
		`replace(file("odd.txt"), "x", "y")`:                         strings.ReplaceAll(odd, "x", "y"),
		`format("%s|%5s", file("odd.txt"), "a")`:                     odd + "|    a",
		`upper(file("odd.txt"))`:                                     "E\u0301 \u212b X\u0302 \u1112\u1161\u11ab\n",
		`split(" ", file("odd.txt"))[0]`:                             "e\u0301",
		`jsonencode(file("odd.txt"))`:                                `"` + strings.TrimSpace(odd) + `\n"`,
		`jsondecode(file("odd.json")).a`:                             "e\u0301",
		`jsondecode(file("odd.json")).b`:                             "e\u0301",
		`jsondecode(jsonencode(file("odd.txt")))`:                    odd,
		`csvdecode(file("odd.csv"))[0]["e` + "\u0301\"]":             "\u212b",
		`file("` + "e\u0301" + `.txt")`:                              "named",
		`tostring(length(file("odd.txt")))`:                          "8", // as of its NFC
		`tostring(file("odd.txt") == "é Å x̂ 한\n")`:                  "false",
		`tostring(length(distinct(split("\n", file("names.txt")))))`: "2",
		`filebase64("bytes")`:                                        base64.StdEncoding.EncodeToString([]byte("\xff\x00")),
		`file("plain.txt")`:                                          "é x\u0302\n",
		`substr(file("plain.txt"), 2, 1)`:                            "x\u0302", // a character as ever
		"\"e\u0301\u212b\"":                                          "e\u0301\u212b",
		`"e\u0301${"x"}\u0301"`:                                      "e\u0301x\u0301",
		"<<EOT\ne\u0301\nEOT\n":                                      "e\u0301\n",
		`regex("e(.)", file("odd.txt"))[0]`:                          "\u0301",
	} {
		got, err := of(t, expr, files, pipeline.Options{})
		if err != nil || got != want {
			t.Errorf("%s is %+q, want %+q, %v", expr, got, want, err)
		}
	}
	const given = "\nvariable \"x\" {}\nvariable \"l\" { default = [file(\"odd.txt\")] }\nstep \"download\" \"a\" { url = \"${var.x}${var.l[0]}\" }\n"
	for name, o := range map[string]pipeline.Options{
		"argument":      {Vars: map[string]string{"x": "e\u0301"}},
		"environment":   {Env: []string{"REDSI_VAR_x=e\u0301"}},
		"file":          {VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: []byte("x = \"e\u0301\"\n")}}},
		"JSON":          {VarFiles: []pipeline.File{{Name: "v.json", Bytes: []byte("{\"x\": \"e\u0301\"}")}}},
		"escaped":       {VarFiles: []pipeline.File{{Name: "v.json", Bytes: []byte(`{"x": "e` + `\` + `u0301"}`)}}},
		"list argument": {Vars: map[string]string{"x": "e\u0301", "l": "[\"" + strings.TrimSpace(odd) + "\\n\"]"}},
	} {
		if got, err := of(t, given, files, o); err != nil || got != "e\u0301"+odd {
			t.Errorf("a variable by %s: %+q, %v", name, got, err)
		}
	}
}

// Keys of instances are texts too.
func TestInstancesKeepTheirBytes(t *testing.T) {
	src := "step \"download\" \"a\" {\n  for_each = toset(split(\"\\n\", file(\"names.txt\")))\n  url = each.key\n}\n" +
		"step \"extract\" \"b\" {\n  shards = [step.download.a[\"e\u0301\"].file]\n}\n"
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src), "names.txt": []byte("e\u0301\né")}, pipeline.Options{Registry: kinds()})
	if ds.HasErrors() {
		t.Fatal(ds.Err())
	}
	if len(p.Steps) != 3 || p.Steps[0].Key != "e\u0301" || p.Steps[0].Address != "step.download.a[\"e\u0301\"]" || p.Steps[1].Key != "é" {
		t.Errorf("%+v", p.Steps)
	}
	if refs, err := p.Steps[2].Task.Refs(); err != nil || refs[0].Step != p.Steps[0].Address {
		t.Errorf("%v, %v", refs, err)
	}
	_, ds = pipeline.Load(map[string][]byte{"p.hcl": []byte("step \"download\" \"e\u0301\" {\n  url = \"a\"\n}\nstep \"extract\" \"b\" {\n  shards = step.download.e\u0301.fil\n}\n")}, pipeline.Options{Registry: kinds()})
	if err := ds.Err(); err == nil || !strings.Contains(err.Error(), "p.hcl:5:") || !strings.Contains(err.Error(), "step.download.e\u0301 has no output") {
		t.Errorf("%v", err)
	}
}

// Numbers keep the digits that were typed; those that an int64 or a float64
// holds stand as they always did.
func TestNumbersKeepTheirDigits(t *testing.T) {
	for expr, want := range map[string]string{
		"123456789012345678901": "123456789012345678901", "9223372036854775808": "9223372036854775808", "-9223372036854775809": "-9223372036854775809",
		"9223372036854775807": "9223372036854775807", "9007199254740993": "9007199254740993", "0.1": "0.1", "-0.1": "-0.1", "1.50": "1.5", "1e3": "1000",
		"0.1234567890123456789": "0.1234567890123456789", "3.14159265358979323846": "3.14159265358979323846", "0.1 + 0.2": "0.3", "1 / 3": "0.3333333333333333",
		"2 / 3": "0.6666666666666666", "0.0000001": "1e-07", "1e-7": "1e-07", "1e20": "100000000000000000000", "1 / 8": "0.125", "0.30000000000000004": "0.30000000000000004",
		`tonumber("123456789012345678901")`: "123456789012345678901", `jsondecode("123456789012345678901")`: "123456789012345678901",
		`"${123456789012345678901}"`: "123456789012345678901", "1234567.12345678901234": "1234567.12345678901234",
	} {
		if got, err := of(t, expr, nil, pipeline.Options{}); err != nil || got != want {
			t.Errorf("%s is %s, want %s, %v", expr, got, want, err)
		}
	}
	if _, err := of(t, "\nstep \"train\" \"a\" {\n  corpus = step.dedup.d.corpus\n  seed = 9223372036854775808\n}\nstep \"dedup\" \"d\" {\n  records = step.extract.e.records\n  key = \"url\"\n}\nstep \"extract\" \"e\" {\n  shards = []\n}\n", nil, pipeline.Options{}); err == nil || !strings.Contains(err.Error(), "9223372036854775808") {
		t.Errorf("an integer that is too large: %v", err)
	}
}

// file() takes a regular file of a bounded size.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 20<<30); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(dir, "full")
	if err := os.WriteFile(full, make([]byte, pipeline.MaxFile), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := pipeline.ReadFile(full); err != nil || len(b) != pipeline.MaxFile {
		t.Errorf("the largest file: %d bytes, %v", len(b), err)
	}
	for name, want := range map[string]string{large: "more than 8388608 bytes", dir: "is a folder", "/dev/zero": "is a device", fifo(t): "is a pipe", filepath.Join(dir, "none"): "no such file"} {
		if _, err := pipeline.ReadFile(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		src := map[string][]byte{"p.hcl": []byte("step \"download\" \"a\" {\n  url = file(\"" + name + "\")\n}\n")}
		if _, ds := pipeline.Load(src, pipeline.Options{Registry: kinds(), ReadFile: pipeline.ReadFile}); ds.Err() == nil || !strings.Contains(ds.Err().Error(), "p.hcl:2:15") {
			t.Errorf("%s: %v", name, ds.Err())
		}
	}
	if _, err := of(t, `file("x")`, map[string]string{"x": "ab\xff"}, pipeline.Options{}); err == nil || !strings.Contains(err.Error(), "byte 2") || !strings.Contains(err.Error(), "filebase64()") {
		t.Errorf("bytes that are no text: %v", err)
	}
}

// A text in no normal form makes a key of its own; one in NFC the key it had.
func TestKeysOfTexts(t *testing.T) {
	key := func(text string) string {
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte("step \"download\" \"a\" {\n  url = file(\"x\")\n}\n"), "x": []byte(text)}, pipeline.Options{Registry: kinds()})
		if ds.HasErrors() {
			t.Fatal(ds.Err())
		}
		k, pre, err := kinds().Key(p.Steps[0].Task)
		if err != nil || !strings.Contains(string(pre), text) {
			t.Fatalf("%+q, %v", pre, err)
		}
		return k.Hex()
	}
	task, err := step.NewTask(kinds().Lookup("download"), map[string]any{"url": "é"})
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := kinds().Key(task)
	if err != nil || key("é") != want.Hex() || key("e\u0301") == key("é") {
		t.Errorf("%s, want %s, %v", key("é"), want.Hex(), err)
	}
}
