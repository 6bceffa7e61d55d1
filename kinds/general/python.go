package general

import (
	"context"
	"path"

	"github.com/redsi/redsi/internal/host/python"
	"github.com/redsi/redsi/step"
)

// pythonConfig is a script of Python beside the pipeline, with what it imports from there.
type pythonConfig struct {
	Script         string            `hcl:"script" help:"the script, a path relative to the pipeline's folder, such as src/fit.py; or a notebook, .ipynb"`
	Arguments      []string          `hcl:"arguments,optional" help:"what follows the script on its command line"`
	Sources        []string          `hcl:"sources,optional" help:"folders that Python looks through for modules after that of the script, such as [\"src\"]; the pipeline's own is \".\""`
	Python         string            `hcl:"python,optional" help:"the Python that runs it: a name in PATH, or an absolute path"`
	Program        string            `hcl:"program,optional" help:"sha256 of the Python's file, in hex; default: that of the one that is found when planned"`
	Programs       []string          `hcl:"programs,optional" help:"programs that the script starts, such as [\"samtools\"]: another version of one is another step. They are looked up in PATH"`
	ProgramDigests map[string]string `hcl:"program_digests,optional" help:"sha256 of programs by name, in hex; default: those of the programs that PATH finds when planned"`
	codeConfig
	programConfig
}

var Python = step.Define(step.Kind[pythonConfig]{
	Name:    "python",
	Version: 1,
	Doc: `Run a script of Python as it is, with what it imports.
It starts in a new folder that has the script and the modules that it imports from its own
folder or from sources, at their paths beside the pipeline, and its inputs at their names:
"data/points.csv" is the file data/points.csv. outputs are collected from their names there,
as the tree "out"; what else it leaves there is not kept. What it prints is "stdout".
The key has the arguments, inputs, the names of the files and what counts of each: its tokens,
so that comments, blank lines and layout do not; beside these what that of a command has,
such as the SHA-256 of Python and of what is installed for it. Modules are found by import
statements, wherever they are, and by import_module with a name that is written there; code
names what is loaded in other ways. A notebook (.ipynb) is run by nbclient, in its own folder;
outputs, execution counts and metadata of cells do not count, nor do cells of text. Cost: as a command. docs/code.md has the rules.`,
	Example: `step "python" "fit" {
  script    = "src/fit.py"
  arguments = ["--k", "8"]
  inputs    = { "points.csv" = step.command.points.out["points.csv"] }
  outputs   = ["metrics.json"]
}`,
	Outputs: []step.Output{
		{Name: "out", Type: "files", Tree: true, Help: "the files of outputs", Why: "unless compare says otherwise"},
		{Name: "stdout", Type: "file", Help: "what it printed", Why: "unless compare says otherwise"},
		{Name: "notebook", Type: "files", Tree: true, Optional: true, Help: "of a notebook, its executed copy and, where nbconvert is installed, an HTML page of it", Why: "unless compare says otherwise"},
	},
	Defaults: pythonConfig{Python: "python3", programConfig: programDefaults},
	Check:    pythonConfig.check,
	Code:     pythonConfig.withCode,
	Class:    "script",
	Leaves:   func(c pythonConfig) map[string][]string { return map[string][]string{"out": c.Outputs} },
	Resolve: func(ctx context.Context, env step.Sources, c pythonConfig) (pythonConfig, error) {
		r, err := resolveCommand(ctx, env, c.command())
		c.Program, c.ProgramDigests, c.programConfig = r.Program, r.ProgramDigests, r.programConfig
		return c, err
	},
	Run: func(ctx context.Context, x *step.IO, c pythonConfig) error { return runCode(ctx, x, c.command()) },
	Stage: func(ctx context.Context, x *step.IO, c pythonConfig, dir string) (step.Program, error) {
		return stageCode(ctx, x, c.command(), dir)
	},
	Alike: func(c pythonConfig) map[string]step.Alike { return c.command().alike() },
})

// command is the program that the step runs.
func (c pythonConfig) command() commandConfig {
	return commandConfig{
		Argv: c.line(), Program: c.Program, Programs: c.Programs, ProgramDigests: c.ProgramDigests,
		programConfig: c.programConfig, code: &asIs{c.codeConfig, c.Script, c.Arguments, c.Sources},
	}
}

func (c pythonConfig) check() error {
	if python.IsNotebook(c.Script) && len(c.Arguments) > 0 {
		return step.Problem{Path: "arguments", Detail: "a notebook has no command line; give it what it needs by env"}
	}
	return checkCode(c.command())
}

// withCode finds what the script is made of, where it has a name of a file.
func (c pythonConfig) withCode(files step.CodeFiles) (pythonConfig, error) {
	if c.check() != nil {
		return c, nil // the check will say so
	}
	folders := append([]string{path.Dir(c.Script)}, c.Sources...)
	var err error
	c.codeConfig, err = c.gather(files, []any{"python", c.Script, c.Sources}, func(read python.Read) (map[string]string, error) {
		texts, err := python.Closure(c.Script, folders, read)
		if err == nil && python.IsNotebook(c.Script) {
			return withDriver(c.Script, texts)
		}
		return texts, err
	})
	return c, err
}
