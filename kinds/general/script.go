package general

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/python"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/step"
)

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
of the files (of Python, what counts: see python), and beside these what that of a command has.
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

// withCode reads the script, where it has a name of a file, and finds its interpreter.
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

// usual are programs that run scripts with the ending of a name.
var usual = map[string]string{".R": "Rscript", ".r": "Rscript", ".jl": "julia", ".sh": "bash", ".bash": "bash", ".py": "python3", ".pl": "perl", ".rb": "ruby", ".js": "node", ".lua": "lua"}

// named is the interpreter that the first line of a script names.
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

// lint warns of what a shell script does that is hardly meant.
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
