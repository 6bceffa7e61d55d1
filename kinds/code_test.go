package kinds_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
)

const scriptPipeline = `
step "command" "points" {
  argv    = ["sh", "-c", "echo 1,2 > out/points.csv"]
  outputs = ["points.csv"]
}
step "python" "fit" {
  script    = "src/fit.py"
  arguments = ["--k", "8"]
  sources   = ["lib"]
  inputs    = { "data/points.csv" = step.command.points.out["points.csv"], in = step.command.points.out }
  lists     = { all = [step.command.points.stdout] }
  outputs   = ["metrics.json", "plots/"]
}
`

func pythonFiles() map[string]string {
	return map[string]string{
		"p.hcl": scriptPipeline, "src/fit.py": "import helper\nimport far\n", "src/helper.py": "x = 1\n", "lib/far.py": "x = 2\n", "src/plots.py": "import (\n",
	}
}

// A script runs beside its code and inputs, and what it imports is in the key.
func TestPython(t *testing.T) {
	standIn(t, "python3", `echo "$@ $PYTHONPATH" | sed "s|$PWD|WORK|g"
find . -type f | sort; cat "$1" data/points.csv
echo '{}' > metrics.json; echo 1 > plots/a; echo 1 > left`)
	l := newLocal(t)
	file := study(t, pythonFiles())
	got := l.run(l.plan(file, nil))[1]
	want := `src/fit.py --k 8 WORK/lib
./all/0
./data/points.csv
./in/points.csv
./lib/far.py
./src/fit.py
./src/helper.py
import helper
import far
1,2
`
	testkit.Is(t, l.text(got.Outputs["stdout"].Digest), want, "it saw")
	if names := slices.Sorted(maps.Keys(l.content(got.Outputs["out"]))); !slices.Equal(names, []string{"metrics.json", "plots/a"}) {
		t.Errorf("it left %s", names)
	}
}

const keyedPipeline = `
step "python" "fit" {
  script    = "src/fit.py"
  arguments = ["--k", "8"]
  sources   = ["lib"]
}
`

func TestPythonKey(t *testing.T) {
	standIn(t, "python3", "")
	key := func(edits ...string) artifacts.Digest { // name, text, …
		files := pythonFiles()
		files["p.hcl"] = keyedPipeline
		for i := 0; i < len(edits); i += 2 {
			files[edits[i]] = edits[i+1]
		}
		return preview(t, newLocal(t).plan(study(t, files), nil, "step.python.fit"), nothing).Items[0].Key
	}
	base := key("src/plots.py", "import (\n")
	pipeline := func(old, now string) string { return strings.Replace(keyedPipeline, old, now, 1) }
	for _, c := range []struct {
		name, text string
		same       bool
	}{
		{"src/plots.py", "x = 3\n", true},
		{"src/helper.py", "# one\n\nx  =  1  # two\r\n", true},
		{"src/helper.py", "x = '# 1'\n", false},
		{"lib/far.py", "x = 3\n", false},
		{"src/far.py", "x = 2\n", false}, // in front of lib's
		{"p.hcl", pipeline(`sources `, "code = [\"src/hel*\"]\n  sources"), true},
		{"p.hcl", pipeline(`sources `, "code = [\"src/*\"]\n  sources"), false},
		{"p.hcl", pipeline(`sources `, "exact = true\n  sources"), true}, // these have nothing that does not count
		{"p.hcl", pipeline(`"8"`, `"9"`), false},
		{"p.hcl", pipeline(`sources `, "files = {}\n  sources"), true},
		{"p.hcl", pipeline(`sources `, "files = { \"p.yaml\" = \"1\" }\n  sources"), false},
	} {
		testkit.Is(t, (key(c.name, c.text) == base), c.same, c.name, c.text)
	}
	exact := pipeline(`sources `, "exact = true\n  sources")
	if key("p.hcl", exact, "src/helper.py", "x = 1 # one\n") == key("p.hcl", exact) {
		t.Error("a comment does not move an exact key")
	}
}

// A script of any language runs by its first line, with the files that code names.
func TestScript(t *testing.T) {
	l := newLocal(t)
	file := study(t, map[string]string{
		"p.hcl": `step "script" "x" {
  script    = "bin/x.sh"
  arguments = ["two words"]
  code      = ["lib/**"]
  files     = { "conf/params.yaml" = "lr: 1.0\n" }
  outputs   = ["o/x"]
}`,
		"bin/x.sh": "#!/bin/sh -e\n. lib/a/b.sh\nsaid \"$1\" > o/x\necho 1 > left\nfind . -type f | sort\n", "lib/a/b.sh": "said() { echo \"$0 $1\"; }\n", "lib/other": "", "unused.sh": "",
	})
	got := l.run(l.plan(file, nil))[0]
	if s := l.text(got.Outputs["stdout"].Digest); s != "./bin/x.sh\n./conf/params.yaml\n./left\n./lib/a/b.sh\n./lib/other\n./o/x\n" {
		t.Errorf("it saw %s", s)
	}
	testkit.Is(t, l.text(got.Outputs["out"].Files[0].Digest), "bin/x.sh two words\n", "it wrote")
	testkit.Is(t, got.Env["step: written, not in outputs"], "left", "it noted")
}

// What a program lacked of the pipeline's folder, or used of it, is named with the line that
// gives it.
func TestCodeMissed(t *testing.T) {
	standIn(t, "python3", `. ./src/x.sh`)
	missing := `the step lacks files that are beside the pipeline: write code = `
	for script, want := range map[string]string{
		"cat data/x.csv":      missing + `["data/x.csv"]`,
		"cat below.txt":       missing + `["src/below.txt"]`,
		"cat $PWD/data/x.csv": missing + `["data/x.csv"]`,
		"echo 'no room for data/x.csv' >&2; exit 1": "no room for data/x.csv; " + missing, // in the line that lists of failures show
		"cat data/none.csv":                         "exited with code 1",
		"echo o > data":                             "it did not write its output o",
		"mkdir o":                                   `its output o is a folder: declare it as "o/"`,
		"mkdir r; echo > r/o":                       `it left r/o; write outputs = ["r/o"]`,
		"ln -s data o":                              "it left o, which is a symbolic link",
		"echo \"ModuleNotFoundError: No module named 'models.a'\" >&2; exit 1": `src/models/a.py stands beside the pipeline, but no import statement leads to it: write code = ["src/models/a.py"]`,
		"echo \"ModuleNotFoundError: No module named 'models'\" >&2; exit 1":   `write code = ["src/models/**"]`,
		"echo \"ModuleNotFoundError: No module named 'far'\" >&2; exit 1":      `write sources = ["lib"]`,
		"echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1":    "No module named 'numpy'",
	} {
		file := study(t, map[string]string{
			"p.hcl":    "step \"python\" \"x\" {\n  script = \"src/x.py\"\n  code = [\"src/x.sh\"]\n  outputs = [\"o\"]\n}",
			"src/x.py": "exec\n", "src/x.sh": "set -e\n" + script + "\n", "data/x.csv": "1\n", "src/below.txt": "1\n", "src/models/a.py": "", "lib/far.py": "",
		})
		err := newLocal(t).firstFails(file, want)
		if (strings.Contains(want, "exited") || strings.Contains(want, "numpy")) && strings.Contains(err.Error(), "beside") {
			t.Errorf("%s: names a file without need: %v", script, err)
		}
	}
}

// What is wrong with a step's code is told when the pipeline is loaded.
func TestCodeErrors(t *testing.T) {
	for attrs, want := range map[string]string{
		`script = "src/none.py"`:                                 "script: src/none.py: there is no such file",
		`script = "../x.py"`:                                     "is not a clean relative path",
		`script = "src/bad.py"`:                                  "script: src/wrong.py: line 2: '(' is never closed",
		`script = "src/latin.py"`:                                "src/latin.py: is not UTF-8 text",
		"script = \"src/x.py\"\nfiles = { \"src/x.py\" = \"\" }": `files: "src/x.py" is a file of the step's code`,
		"script = \"src/x.py\"\nfiles = { \"../x\" = \"\" }":     "x",
		"script = \"src/x.py\"\ncode = [\"no/**\"]":              `code[0]: no file beside the pipeline matches "no/**"`,
		"script = \"src/x.py\"\ncode = [\"no.py\"]":              `code[0]: no file beside the pipeline matches "no.py"; the files of a folder are "no.py/**"`,
		"script = \"src/x.py\"\ncode = [\"[\"]":                  `code[0]: "[" is not a pattern`,
		"script = \"src/x.py\"\noutputs = [\"src/x.py\"]":        `outputs: "src/x.py" is also what the step is given`,
		"script = \"src/x.py\"\noutputs = [\"src/\"]":            `outputs: "src/" has "src/x.py" in it`,
		"script = \"src/x.py\"\noutputs = [\"tmp/x\"]":           `"tmp/x" is in the folder tmp`,
		"script = \"src/x.py\"\narguments = [\"a\\u0000b\"]":     "arguments[0]",
		"script = \"src/x.py\"\ncode_digests = { a = \"b\" }":    "are filled in when the pipeline is loaded",
	} {
		loadingSays(t, want, map[string]string{
			"p.hcl": "step \"python\" \"x\" {\n" + attrs + "\n}", "src/x.py": "", "src/bad.py": "import wrong\n", "src/wrong.py": "x = 1\ny = (\n", "src/latin.py": "x = '\xe9'\n",
		})
	}
	for name, want := range map[string]string{
		"a.R": `begin it with #!/usr/bin/env Rscript, or write interpreter = ["Rscript"]`, "a.x": `interpreter = ["NAME"]`, "b.sh": "the first line gives env",
	} {
		loadingSays(t, want, map[string]string{"p.hcl": "step \"script\" \"x\" { script = \"" + name + "\" }", "a.R": "x", "a.x": "x", "b.sh": "#!/usr/bin/env A=1 sh\n"})
	}
}

// loadingSays wants an error of the pipeline p.hcl among files, which names them as they are there.
func loadingSays(t *testing.T, want string, files map[string]string) {
	t.Helper()
	file := study(t, files)
	sources := readPipeline(t, file)
	_, ds := pipeline.Load(sources, pipeline.Options{Registry: kinds.Registry(), World: pipeline.World{ReadFile: syntax.ReadFile, List: language.List}, Lint: true})
	if err := ds.Err(); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), filepath.Dir(file)+"/", ""), want) {
		t.Errorf("got %v, want %s, of\n%s", err, want, files["p.hcl"])
	}
}

// A pipeline that is loaded from its sources elsewhere has the same code, of steps too that
// were not known before.
func TestCodeElsewhere(t *testing.T) {
	files := pythonFiles()
	files["p.hcl"] = `
step "command" "split" {
  script  = "echo 1 > out/parts/a"
  outputs = ["parts/"]
}
step "python" "each" {
  for_each = files(step.command.split.out, "parts/*")
  script   = "src/fit.py"
  sources  = ["lib"]
  code     = ["src/h*"]
  inputs   = { x = each.file }
}`
	sources := testkit.Value(syntax.Read(study(t, files)))(t)
	p, ds := pipeline.Load(sources, pipeline.Options{Registry: kinds.Registry(), World: pipeline.World{ReadFile: syntax.ReadFile, List: language.List}})
	testkit.None(t, ds.Err())
	for _, name := range []string{"src/fit.py", "src/helper.py", "lib/far.py"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(p.Sources)), func(full string) bool { return strings.HasSuffix(full, "/"+name) }) {
			t.Errorf("%s is not among the sources", name)
		}
	}
	if _, ds := p.Origin().Load(pipeline.Options{Registry: kinds.Registry()}); ds.HasErrors() {
		t.Error(ds.Err())
	}
}

// A notebook is run in place of a script, without what earlier runs have left in it; its
// executed copy is an output.
func TestNotebookStep(t *testing.T) {
	standIn(t, "python3", `echo "$@"; cat "$2" nb/helper.py; mkdir -p "$(dirname "$3")"; echo ran > "$3"; echo '<p>ran</p>' > "${3%.ipynb}.html"; echo 1 > nb/o`)
	file := study(t, map[string]string{
		"p.hcl":        "step \"python\" \"x\" {\n  script = \"nb/a.ipynb\"\n  outputs = [\"nb/o\"]\n}\nfigure \"x\" { image = step.python.x.notebook }",
		"nb/a.ipynb":   `{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [{"a": 1}], "source": "import helper"}]}`,
		"nb/helper.py": "x = 1\n",
	})
	l := newLocal(t)
	got := l.run(l.plan(file, nil))
	want := `.step/redsi_notebook.py nb/a.ipynb .step/executed/a.ipynb
{"cells":[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":"import helper"}],"metadata":{},"nbformat":4}x = 1
`
	testkit.Is(t, l.text(got[0].Outputs["stdout"].Digest), want, "it saw")
	copied, ok := got[0].Outputs["notebook"].File("a.ipynb")
	if page, has := got[0].Outputs["notebook"].File("a.html"); !ok || !has || l.text(copied.Digest) != "ran\n" || l.text(page.Digest) != "<p>ran</p>\n" {
		t.Errorf("it left %v", got[0].Outputs["notebook"].Files)
	}
	loadingSays(t, "a notebook has no command line", map[string]string{"p.hcl": "step \"python\" \"x\" {\n script = \"a.ipynb\"\n arguments = [\"x\"]\n}", "a.ipynb": "{}"})
}
