package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/step"
)

// blockDocs are the types of blocks at the top of a pipeline file.
var blockDocs = []struct{ typ, form, help string }{
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

// Attributes outside kinds.
var (
	text1    = step.Type{Kind: step.String}
	anything = step.Type{Kind: "any"}

	variableAttrs = []step.Attr{
		{Name: "type", Type: step.Type{Kind: "type"}, Optional: true, Help: "Its type, such as string, number, bool, list(string) or any. Without one, that of the default."},
		{Name: "default", Type: anything, Optional: true, Help: "Its value if none is given. A variable without a default must be given one."},
		{Name: "description", Type: text1, Optional: true, Help: "What it is, for people."},
		{Name: "ask", Type: text1, Optional: true, Help: "A question: where nobody has set the variable and a step refuses its default, redsi run and redsi plan ask it once at the terminal."},
		{Name: "sensitive", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "Whether its value is a secret, kept out of configurations, keys and messages."},
		{Name: "validation", Optional: true, Block: true, Help: "A condition that its value must meet.", Type: step.Type{Kind: step.Object, Attrs: []step.Attr{
			{Name: "condition", Type: step.Type{Kind: step.Bool}, Help: "True if the value is allowed. It may refer to variables."},
			{Name: "error_message", Type: text1, Help: "The message if it does not hold."},
		}}},
	}
	moduleAttrs = []step.Attr{
		{Name: "source", Type: text1, Help: "Where the pipeline is: a folder or .hcl file by a path that starts with ./, ../ or /, or git::URL//FOLDER?ref=REF."},
	}
	outputAttrs = []step.Attr{
		{Name: "value", Type: anything, Help: "Its value: an artifact, a step, a map of them, or any other."},
		{Name: "description", Type: text1, Optional: true, Help: "What it is, for people."},
	}
	commonAttrs = []step.Attr{
		{Name: "for_each", Type: anything, Optional: true, Help: "A map, or a set or list of texts: the block stands for one step or module of each key, in which each.key and each.value are that element. product({ … }) makes all combinations of several lists; files(ARTIFACT, PATTERN) is the files that a step leaves, each of which is each.file"},
		{Name: "when", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "The step is skipped where this is false. json(ARTIFACT, \"FILE:FIELD\") asks what another step found"},
		{Name: "otherwise", Type: text1, Optional: true, Help: "Why the block is left out where its when is false, in a sentence: the plan, the end of a run and the report say so"},
		{Name: "allow_empty", Type: step.Type{Kind: step.Bool}, Optional: true, Help: "There may be no piece of a for_each over what a step leaves"},
		{Name: "keep", Type: step.Type{Kind: step.Bool}, Optional: true, Default: "true", Help: "false: the bytes of the step's outputs leave the store when all that read them are done, and come back by running it again. It is not part of the key"},
		{Name: "resources", Optional: true, Block: true, Help: "What the step needs to run. It is not part of the key", Type: formOf("resources")},
		{Name: "retry", Optional: true, Block: true, Help: "How a failed program is tried again. It is not part of the key", Type: formOf("retry")},
	}
)

func formOf(block string) step.Type {
	return step.Type{Kind: step.Object, Attrs: pipeline.BlockAttrs(block)}
}

// attrsOf lists what may be in the innermost of some blocks of a document.
func (s *server) attrsOf(d *document, blocks []header) []step.Attr {
	if len(blocks) == 0 {
		return nil
	}
	attrs := pipeline.BlockAttrs(blocks[0].typ)
	if own, ok := map[string][]step.Attr{"variable": variableAttrs, "output": outputAttrs}[blocks[0].typ]; ok {
		attrs = own
	} else if blocks[0].typ == "module" {
		attrs = s.moduleAttrsOf(d, blocks[0])
	} else if spec := s.Load.Registry.Lookup(blocks[0].kind()); spec != nil {
		attrs = slices.Concat(spec.Attrs, commonAttrs)
	}
	for _, b := range blocks[1:] {
		a := find(attrs, b.typ)
		if a == nil || !a.Block {
			return nil
		}
		attrs = element(a.Type).Attrs
	}
	return attrs
}

func find(attrs []step.Attr, name string) *step.Attr {
	for i := range attrs {
		if attrs[i].Name == name {
			return &attrs[i]
		}
	}
	return nil
}

// element is a list's or map's type of elements, or the type itself.
func element(t step.Type) step.Type {
	for t.Elem != nil {
		t = *t.Elem
	}
	return t
}

// attrAt follows a path into a value: what is expected there; nil if that is not known.
func attrAt(attrs []step.Attr, path []string) *step.Attr {
	if len(path) == 0 {
		return nil
	}
	a := find(attrs, path[0])
	if a == nil {
		return nil
	}
	at := *a
	for _, p := range path[1:] {
		switch t := at.Type; {
		case p == "[]" && t.Kind == step.List || p != "[]" && t.Kind == step.Map:
			at.Type = *t.Elem
		case p == "[]" && t.Kind == step.InputMany:
		case p == "{}" && t.Kind == step.Object:
		case t.Kind == step.Object:
			inner := find(t.Attrs, p)
			if inner == nil {
				return nil
			}
			at = *inner
		default:
			return nil
		}
	}
	return &at
}

// accepts reports whether an attribute takes an artifact of a type.
func accepts(a *step.Attr, typ string) bool {
	return a == nil || a.Accepts == "" || slices.Contains(strings.Split(a.Accepts, ","), typ)
}

// takesArtifact reports whether a value that is one artifact may be there.
func takesArtifact(a *step.Attr) bool {
	return a != nil && (a.Type.Kind == step.InputOne || a.Type.Kind == step.InputMany)
}

// describeAttr writes what an attribute is as Markdown.
func describeAttr(a *step.Attr) string {
	need := "required"
	if a.Optional {
		need = "optional"
	}
	form := a.Type.String()
	if a.Block {
		form = "block"
	}
	text := fmt.Sprintf("`%s` (%s, %s)\n\n%s", a.Name, form, need, sentence(a.Help))
	if len(a.Enum) > 0 {
		text += "\n\nOne of `\"" + strings.Join(a.Enum, "\"`, `\"") + "\"`."
	}
	if a.Accepts != "" {
		text += "\n\nTakes artifacts of type `" + strings.ReplaceAll(a.Accepts, ",", "` or `") + "`."
	}
	if a.Default != nil {
		if b, err := json.Marshal(a.Default); err == nil && len(b) < 500 {
			text += fmt.Sprintf("\n\nDefault: `%s`.", b)
		}
	}
	if a.NoKey {
		text += "\n\nNot part of the key."
	}
	return text
}

func sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
