package pipeline

import "github.com/redsi/redsi/step"

// BlockTypes are the types of blocks at the top of a pipeline file, each with what an editor puts in
// for one, as a snippet, and what it is.
var BlockTypes = []struct{ Name, Snippet, Help string }{
	{"step", `step "${1:KIND}" "${2:NAME}" {` + "\n  $0\n}", "A piece of work: its kind does it, and its key is made from its inputs."},
	{"source", `source "${1:NAME}" {` + "\n  path = \"$0\"\n}", "Files of this machine as they lie: a folder, a file or a pattern. Steps take them as source.NAME.files."},
	{"environment", `environment "${1:NAME}" {` + "\n  uv = \"$0\"\n}", "What programs are run in, as a lock file has it. Steps take it as environment.NAME; the key has its packages."},
	{"table", `table "${1:NAME}" {` + "\n  $0\n}", "A table of numbers that steps left, with the paper's beside them."},
	{"figure", `figure "${1:NAME}" {` + "\n  $0\n}", "A figure of numbers that steps left."},
	{"claim", `claim "${1:NAME}" {` + "\n  text = \"$2\"\n  expect {\n    $0\n  }\n}", "A sentence of the paper, and what holds for cells where it is true. It is not part of any key."},
	{"locals", "locals {\n  $0\n}", "Named values, that expressions refer to as local.NAME."},
	{"variable", `variable "${1:NAME}" {` + "\n  $0\n}", "A value that is given from outside, and that expressions refer to as var.NAME."},
	{"module", `module "${1:NAME}" {` + "\n  source = \"$0\"\n}", "Another pipeline, with values for its variables. Expressions refer to its outputs as module.NAME.OUTPUT."},
	{"output", `output "${1:NAME}" {` + "\n  value = $0\n}", "What a pipeline that has this one as a module refers to as module.NAME.OUTPUT."},
	{"checklist", "checklist {\n  $0\n}", "What conferences' checklists ask and no record knows: how results were chosen, what was tried, licences. It is not part of any key."},
	{"paper", "paper {\n  title   = \"$1\"\n  authors = [$0]\n}", "What the pipeline rebuilds: the report begins with it. It is not part of any key."},
	{"publish", `publish "${1:NAME}" {` + "\n  files = $2\n  to    = \"$0\"\n}", "Files of steps that a run writes into a folder beside the pipeline. It is not part of any key."},
	{"limits", "limits {\n  ${1:downloads} = ${0:2}\n}", "How many steps of a run may have a name of resources { limits = [NAME] } at a time. It is not part of any key."},
	{"results", "results {\n  from = [\"$1\"]$0\n}", "Where others' results are, and whose are trusted. It is not part of any key."},
}

// The attributes of blocks that declare names of a pipeline.
var (
	textType = step.Type{Kind: step.String}
	anyType  = step.Type{Kind: "any"}

	variableAttrs = []step.Attr{
		{Name: "type", Type: step.Type{Kind: "type"}, Optional: true, Help: "Its type, such as string, number, bool, list(string) or any. Without one, that of the default."},
		{Name: "default", Type: anyType, Optional: true, Help: "Its value if none is given. A variable without a default must be given one."},
		{Name: "description", Type: textType, Optional: true, Help: "What it is, for people."},
		{Name: "ask", Type: textType, Optional: true, Help: "A question: where nobody has set the variable and a step refuses its default, redsi run and redsi plan ask it once at the terminal."},
		{Name: "sensitive", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "Whether its value is a secret, kept out of configurations, keys and messages."},
		{Name: "validation", Optional: true, Block: true, Help: "A condition that its value must meet.", Type: step.Type{Kind: step.Object, Attrs: []step.Attr{
			{Name: "condition", Type: step.Type{Kind: step.Bool}, Help: "True if the value is allowed. It may refer to variables."},
			{Name: "error_message", Type: textType, Help: "The message if it does not hold."},
		}}},
	}
	moduleAttrs = []step.Attr{
		{Name: "source", Type: textType, Help: "Where the pipeline is: a folder or .hcl file by a path that starts with ./, ../ or /, or git::URL//FOLDER?ref=REF."},
	}
	outputAttrs = []step.Attr{
		{Name: "value", Type: anyType, Help: "Its value: an artifact, a step, a map of them, or any other."},
		{Name: "description", Type: textType, Optional: true, Help: "What it is, for people."},
	}
)
