package kinds_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/kinds"
)

// standIn puts a shell script into PATH as a program: tests need no Python.
func standIn(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	filetest.Program(t, filepath.Join(dir, name), "#!/bin/sh\nset -e\n"+script)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// study writes files into a new folder and returns the path of its pipeline.
func study(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		filetest.Write(t, at, text)
	}
	return filepath.Join(dir, "p.hcl")
}

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
	if s := l.text(got.Outputs["stdout"].Digest); s != want {
		t.Errorf("it saw\n%s\nwant\n%s", s, want)
	}
	var names []string
	for _, f := range got.Outputs["out"].Files {
		names = append(names, f.Name)
	}
	if s := strings.Join(names, " "); s != "metrics.json plots/a" {
		t.Errorf("it left %s", s)
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
		l := newLocal(t)
		v, err := l.plan(study(t, files), nil, "step.python.fit").Follow(context.Background(), kinds.Registry(), nothing, plan.KeepAll, nil)
		errtest.None(t, err)
		return v.Items[0].Key
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
		if (key(c.name, c.text) == base) != c.same {
			t.Errorf("%s of\n%s\nmoves the key: %v", c.name, c.text, c.same)
		}
	}
	exact := pipeline(`sources `, "exact = true\n  sources")
	if key("p.hcl", exact, "src/helper.py", "x = 1 # one\n") == key("p.hcl", exact) {
		t.Error("a comment does not move an exact key")
	}
}
