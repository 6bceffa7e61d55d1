package general

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/python"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/step"
)

type pythonConfig struct {
	Sources []string `hcl:"sources,optional" help:"folders that Python looks through for modules after the script's own, such as [\"src\"]; the pipeline's own is \".\""`
	Python  string   `hcl:"python,optional" help:"the Python that runs it: a name in PATH, or an absolute path"`
	codeConfig
}

var Python = step.Define(ofCode(step.Kind[pythonConfig]{
	Name:    "python",
	Version: 2,
	Doc: `Run a script of Python as it is, with what it imports.
It starts in a new folder that has the script and the modules that it imports from its own
folder or from sources, at their paths beside the pipeline, and its inputs at their names:
"data/points.csv" is the file data/points.csv. outputs are collected from their names there,
as the tree "out"; what else it leaves there is not kept. What it prints is "stdout".
The key has the arguments, inputs, the names of the files and what counts of each: its tokens,
so that comments, blank lines and layout do not; beside these what a command's key has,
such as the SHA-256 of Python and of what is installed for it. Modules are found by import
statements, wherever they are, and by import_module with a name that is written there; code
names what is loaded in other ways, and what such a file imports comes with it. A notebook (.ipynb) is run by nbclient, in its own folder;
outputs, execution counts and metadata of cells do not count, nor do cells of text. Cost: as a command. docs/code.md has the rules.`,
	Example: `step "python" "fit" {
  script    = "src/fit.py"
  arguments = ["--k", "8"]
  inputs    = { "points.csv" = step.command.points.out["points.csv"] }
  outputs   = ["metrics.json"]
}`,
	Outputs: slices.Concat(codeOutputs, []step.Output{
		{Name: "notebook", Type: "files", Tree: true, Optional: true, Help: "of a notebook, its executed copy and, where nbconvert is installed, an HTML page of it", Why: "unless compare says otherwise"},
	}),
	Defaults: pythonConfig{Python: "python3", codeConfig: codeConfig{programConfig: programDefaults}},
	Check:    pythonConfig.check,
	Code:     pythonConfig.withCode,
}, func(c *pythonConfig) (*codeConfig, commandConfig) { return &c.codeConfig, c.program() }))

func (c pythonConfig) program() commandConfig { return c.command(c.line(), c.Sources...) }

func (c pythonConfig) check() error {
	if python.IsNotebook(c.Script) && len(c.Arguments) > 0 {
		return step.Problem{Path: "arguments", Detail: "a notebook has no command line; give it what it needs by env"}
	}
	return checkCode(c.program())
}

func (c pythonConfig) withCode(files step.CodeFiles) (pythonConfig, error) {
	if c.check() != nil {
		return c, nil // the check will say so
	}
	err := c.gather(files, "python", c.Sources, func(text string, more map[string]string, read python.Read) (map[string]string, error) {
		texts, err := python.Closure(c.Script, text, more, append([]string{path.Dir(c.Script)}, c.Sources...), read)
		if err == nil && python.IsNotebook(c.Script) {
			texts[driverFile] = notebookDriver
			texts[c.Script], err = python.Bare(text)
		}
		return texts, err
	})
	return c, err
}

//go:embed redsi_notebook.py
var notebookDriver string

// Where the folder of a notebook's step has the notebook's driver and its executed copy.
const (
	driverFile     = step.OwnFolder + "/redsi_notebook.py"
	executedFolder = step.OwnFolder + "/executed"
)

func (c pythonConfig) line() []string {
	if python.IsNotebook(c.Script) {
		return []string{c.Python, driverFile, c.Script, path.Join(executedFolder, path.Base(c.Script))}
	}
	return append([]string{c.Python, c.Script}, c.Arguments...)
}

// collectNotebook keeps the executed copy of a notebook, and its page if there is one.
func collectNotebook(x *step.IO, dir string, secrets secret.Set) error {
	folder := filepath.Join(dir, filepath.FromSlash(executedFolder))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := keepFile(x, "notebook", folder, e.Name(), secrets); err != nil {
			return err
		}
	}
	return nil
}

type scriptConfig struct {
	Interpreter []string `hcl:"interpreter,optional" help:"the program that runs it, with its options, such as [\"Rscript\"]; default: what its first line names, such as #!/usr/bin/env Rscript"`
	codeConfig
}

var Script = step.Define(ofCode(step.Kind[scriptConfig]{
	Name:    "script",
	Version: 2,
	Doc: `Run a script of any language as it is.
It starts in a new folder that has the script and the files of code, at their paths beside the
pipeline, and its inputs at their names: "data/points.csv" is the file data/points.csv. outputs
are collected from their names there, as the tree "out"; what else it leaves there is not kept.
What it prints is "stdout". The key has the interpreter, arguments, inputs, the names and texts
of the files (of Python, what counts: see python), and beside these what a command's key has.
What the script reads or calls of the files beside it has to be in code: what is not there
fails it, and is named. Cost: as a command. docs/code.md has the rules.`,
	Example: `step "script" "plot" {
  script      = "R/plot.R"
  interpreter = ["Rscript"]
  code        = ["R/theme.R"]
  inputs      = { "data/points.csv" = step.command.points.out["points.csv"] }
  outputs     = ["plot.svg"]
}`,
	Outputs:  codeOutputs,
	Defaults: scriptConfig{codeConfig: codeConfig{programConfig: programDefaults}},
	Check:    func(c scriptConfig) error { return checkCode(c.program()) },
	Lint:     scriptConfig.lint,
	Code:     scriptConfig.withCode,
}, func(c *scriptConfig) (*codeConfig, commandConfig) { return &c.codeConfig, c.program() }))

func (c scriptConfig) program() commandConfig {
	return c.command(slices.Concat(c.Interpreter, []string{c.Script}, c.Arguments))
}

// withCode reads the script and finds its interpreter.
func (c scriptConfig) withCode(files step.CodeFiles) (scriptConfig, error) {
	if checkCode(c.program()) != nil {
		return c, nil // the check will say so
	}
	err := c.gather(files, "script", nil, func(text string, _ map[string]string, _ python.Read) (map[string]string, error) {
		return map[string]string{c.Script: text}, nil
	})
	if err != nil || len(c.Interpreter) > 0 {
		return c, err
	}
	text, _, err := readCode(files, c.Script)
	if err == nil {
		c.Interpreter, err = named(c.Script, text)
	}
	if err != nil {
		err = step.Problem{Path: "script", Detail: err.Error()}
	}
	return c, err
}

// usual are programs that run scripts, by the ending of the script's name.
var usual = map[string]string{".R": "Rscript", ".r": "Rscript", ".jl": "julia", ".sh": "bash", ".bash": "bash", ".py": "python3", ".pl": "perl", ".rb": "ruby", ".js": "node", ".lua": "lua"}

func named(name, text string) ([]string, error) {
	if strings.HasPrefix(text, "#!") {
		line, err := script.Interpreter(text)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return line, err
	}
	with := cmp.Or(usual[path.Ext(name)], "NAME")
	return nil, fmt.Errorf("the first line of %s names no program that runs it: begin it with #!/usr/bin/env %s, or write interpreter = [%q]", name, with, with)
}

// lint warns of failures that a shell script hides, and of programs that no key has.
func (c scriptConfig) lint() []step.Problem {
	p := c.program()
	if p.unpack() != nil || len(c.Interpreter) == 0 {
		return nil
	}
	shell, err := script.Parse(p.Argv, p.Files[c.Script])
	if err != nil {
		return []step.Problem{{Path: "script", Detail: c.Script + ": " + err.Error()}}
	}
	if shell == nil {
		return nil
	}
	return p.lintShell(shell, p.Argv[0], "script", "begin it with set -euo pipefail and #!/bin/bash")
}
