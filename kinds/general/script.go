package general

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/python"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/step"
)

// scriptConfig is a script of any language beside the pipeline.
type scriptConfig struct {
	Script         string            `hcl:"script" help:"the script, a path relative to the pipeline's folder, such as R/fit.R"`
	Arguments      []string          `hcl:"arguments,optional" help:"what follows the script on its command line"`
	Interpreter    []string          `hcl:"interpreter,optional" help:"the program that runs it, with its options, such as [\"Rscript\"]; default: what its first line names, such as #!/usr/bin/env Rscript"`
	Program        string            `hcl:"program,optional" help:"sha256 of the interpreter's file, in hex; default: that of the one that is found when planned"`
	Programs       []string          `hcl:"programs,optional" help:"programs that the script starts, such as [\"samtools\"]: another version of one is another step. They are looked up in PATH"`
	ProgramDigests map[string]string `hcl:"program_digests,optional" help:"sha256 of programs by name, in hex; default: those of the programs that PATH finds when planned"`
	codeConfig
	programConfig
}

var Script = step.Define(step.Kind[scriptConfig]{
	Name:    "script",
	Version: 1,
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
	Outputs: []step.Output{
		{Name: "out", Type: "files", Tree: true, Help: "the files of outputs", Why: "unless compare says otherwise"},
		{Name: "stdout", Type: "file", Help: "what it printed", Why: "unless compare says otherwise"},
	},
	Defaults: scriptConfig{programConfig: programDefaults},
	Check:    func(c scriptConfig) error { return checkCode(c.command()) },
	Lint:     scriptConfig.lint,
	Code:     scriptConfig.withCode,
	Class:    "script",
	Leaves:   func(c scriptConfig) map[string][]string { return map[string][]string{"out": c.Outputs} },
	Resolve: func(ctx context.Context, env step.Sources, c scriptConfig) (scriptConfig, error) {
		r, err := resolveCommand(ctx, env, c.command())
		c.Program, c.ProgramDigests, c.programConfig = r.Program, r.ProgramDigests, r.programConfig
		return c, err
	},
	Run: func(ctx context.Context, x *step.IO, c scriptConfig) error { return runCode(ctx, x, c.command()) },
	Stage: func(ctx context.Context, x *step.IO, c scriptConfig, dir string) (step.Program, error) {
		return stageCode(ctx, x, c.command(), dir)
	},
	Alike: func(c scriptConfig) map[string]step.Alike { return c.command().alike() },
})

// command is the program that the step runs.
func (c scriptConfig) command() commandConfig {
	return commandConfig{
		Argv: slices.Concat(c.Interpreter, []string{c.Script}, c.Arguments), Program: c.Program, Programs: c.Programs, ProgramDigests: c.ProgramDigests,
		programConfig: c.programConfig, code: &asIs{codeConfig: c.codeConfig, script: c.Script, arguments: c.Arguments},
	}
}

// withCode reads the script, where it has a name of a file, and finds its interpreter.
func (c scriptConfig) withCode(files step.CodeFiles) (scriptConfig, error) {
	if checkCode(c.command()) != nil {
		return c, nil // the check will say so
	}
	var first string
	var err error
	c.codeConfig, err = c.gather(files, []any{"script", c.Script}, func(read python.Read) (map[string]string, error) {
		text, err := theScript(read, c.Script)
		return map[string]string{c.Script: text}, err
	})
	if err != nil || len(c.Interpreter) > 0 {
		return c, err
	}
	if first, _, err = readCode(files, c.Script); err == nil {
		c.Interpreter, err = named(c.Script, first)
	}
	if err != nil {
		err = step.Problem{Path: "script", Detail: err.Error()}
	}
	return c, err
}

func theScript(read python.Read, name string) (string, error) {
	text, ok, err := read(name)
	if err == nil && !ok {
		err = errors.New("there is no such file")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
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
	p, err := c.command().unpacked()
	if err != nil || len(c.Interpreter) == 0 {
		return nil
	}
	line := c.command().line()
	shell, err := script.Parse(line, p.Files[c.Script])
	if err != nil {
		return []step.Problem{{Path: "script", Detail: c.Script + ": " + err.Error()}}
	}
	if shell == nil {
		return nil
	}
	return p.lintShell(shell, line[0], "script", "begin it with set -euo pipefail and #!/bin/bash")
}
