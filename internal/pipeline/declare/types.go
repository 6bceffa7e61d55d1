package declare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/step"
)

// The kinds that blocks other than steps stand for.
const (
	SourceKind = "source"
	TableKind  = "render_table"
	FigureKind = "render_figure"
	ClaimKind  = "claim"
)

// Attributes and blocks that are in common.
const (
	forEachAttr    = "for_each"
	whenAttr       = "when"
	otherwiseAttr  = "otherwise"
	AllowEmptyAttr = "allow_empty"
	keepAttr       = "keep"
	freshAttr      = "fresh"
	OnFailureAttr  = "on_failure"
	leaveOut       = "leave_out" // of on_failure
	AtLeastAttr    = "at_least"
	resourcesBlock = "resources"
	retryBlock     = "retry"
	checkBlock     = "check"
)

// LimitsBlock says how many steps may have a name at a time.
const LimitsBlock = "limits"

// ExpectBlock is the repeated block of tables, figures and claims, each of which has a place of its own.
const ExpectBlock = "expect"

// Type is a type of block at the top of a pipeline file.
type Type struct {
	Name, Snippet, Help string     // as editors show them
	Labels              []string   // what they are, as messages say it: KIND, NAME
	Makes               Makes      // what one is read as
	Kind                string     // of work: the kind that it stands for; "" of a step, whose label says it
	Form                *step.Spec // what its body may have; nil: its kind says, or anything may
	Root                string     // what references to it begin with; "": nothing refers to it
	Refers              string     // what values of a block that stands once may refer to; "": nothing
	rootOnly            bool       // it is read only in the pipeline that is run
	idle                [2]string  // the title and text of the lint of one in a module, where it has no effect; "": none
}

type Makes int

const (
	MakesWork     Makes = iota // steps of a kind, or claims
	MakesValue                 // named values
	MakesVariable              // a value from outside
	MakesOutput                // a value for others
	MakesCall                  // another pipeline
	MakesNode                  // something with a name and a form
	MakesOnce                  // something of which a pipeline has one
)

var oneName = []string{"NAME"}

// Types are all types of blocks, in the order of editors: what reads, completes, explains or documents blocks goes by them.
var Types = []Type{
	{Name: "step", Labels: []string{"KIND", "NAME"}, Makes: MakesWork, Root: "step", Snippet: `step "${1:KIND}" "${2:NAME}" {` + "\n  $0\n}",
		Help: "A piece of work: its kind does it, and its key is made from its inputs."},
	{Name: "source", Labels: oneName, Makes: MakesWork, Kind: SourceKind, Root: "source", Snippet: `source "${1:NAME}" {` + "\n  path = \"$0\"\n}",
		Help: "Files of this machine as they lie: a folder, a file or a pattern. Steps take them as source.NAME.files."},
	{Name: "environment", Labels: oneName, Makes: MakesNode, Form: step.Form[EnvironmentForm](nil), Root: "environment", Snippet: `environment "${1:NAME}" {` + "\n  uv = \"$0\"\n}",
		Help: "What programs are run in, as a lock file has it. Steps take it as environment.NAME; the key has its packages."},
	{Name: "table", Labels: oneName, Makes: MakesWork, Kind: TableKind, Root: "table", Snippet: `table "${1:NAME}" {` + "\n  $0\n}",
		Help: "A table of numbers that steps left, with the paper's beside them."},
	{Name: "figure", Labels: oneName, Makes: MakesWork, Kind: FigureKind, Root: "figure", Snippet: `figure "${1:NAME}" {` + "\n  $0\n}",
		Help: "A figure of numbers that steps left."},
	{Name: "claim", Labels: oneName, Makes: MakesWork, Kind: ClaimKind, Snippet: `claim "${1:NAME}" {` + "\n  text = \"$2\"\n  expect {\n    $0\n  }\n}",
		Help: "A sentence of the paper, and what holds for cells where it is true. It is not part of any key."},
	{Name: "locals", Makes: MakesValue, Root: "local", Snippet: "locals {\n  $0\n}",
		Help: "Named values, that expressions refer to as local.NAME."},
	{Name: "variable", Labels: oneName, Makes: MakesVariable, Form: &step.Spec{Attrs: variableAttrs}, Root: "var", Snippet: `variable "${1:NAME}" {` + "\n  $0\n}",
		Help: "A value that is given from outside, and that expressions refer to as var.NAME."},
	{Name: "module", Labels: oneName, Makes: MakesCall, Form: &step.Spec{Attrs: moduleAttrs}, Root: "module", Snippet: `module "${1:NAME}" {` + "\n  source = \"$0\"\n}",
		Help: "Another pipeline, with values for its variables. Expressions refer to its outputs as module.NAME.OUTPUT."},
	{Name: "output", Labels: oneName, Makes: MakesOutput, Form: &step.Spec{Attrs: outputAttrs}, Snippet: `output "${1:NAME}" {` + "\n  value = $0\n}",
		Help: "What a pipeline that has this one as a module refers to as module.NAME.OUTPUT."},
	{Name: "checklist", Makes: MakesOnce, Form: step.Form(checkChecklist), Snippet: "checklist {\n  $0\n}",
		Help: "What conferences' checklists ask and no record knows: how results were chosen, what was tried, licences. It is not part of any key."},
	{Name: "paper", Makes: MakesOnce, Form: step.Form(checkPaper), Refers: "var", rootOnly: true, Snippet: "paper {\n  title   = \"$1\"\n  authors = [$0]\n}",
		Help: "What the pipeline rebuilds: the report begins with it. It is not part of any key."},
	{Name: "publish", Labels: oneName, Makes: MakesNode, Form: step.Form(checkPublish), Snippet: `publish "${1:NAME}" {` + "\n  files = $2\n  to    = \"$0\"\n}",
		Help: "Files of steps that a run writes into a folder beside the pipeline. It is not part of any key.",
		idle: [2]string{"publish in a module", "This block has no effect in a module: the pipeline that is run says what is written."}},
	{Name: LimitsBlock, Makes: MakesOnce, Refers: "var", Snippet: "limits {\n  ${1:downloads} = ${0:2}\n}",
		Help: "How many steps of a run may have a name of resources { limits = [NAME] } at a time. It is not part of any key."},
	{Name: "results", Makes: MakesOnce, Form: step.Form[ResultsForm](nil), Refers: "var", rootOnly: true, Snippet: "results {\n  from = [\"$1\"]$0\n}",
		Help: "Where others' results are, and whose are trusted. It is not part of any key.",
		idle: [2]string{"Results of a module", "This block has no effect in a module: the pipeline that is run says whose results are trusted."}},
}

// common are the attributes and blocks that all work may have beside its kind's. Modules have the first three.
var common = []step.Attr{
	{Name: forEachAttr, Type: anyType, Optional: true, Help: "A map, or a set or list of texts: the block stands for one step or module of each key, in which each.key and each.value are that element. product({ … }) makes all combinations of several lists; files(ARTIFACT, PATTERN) is the files that a step leaves, each of which is each.file"},
	{Name: whenAttr, Type: step.Type{Kind: step.Bool}, Optional: true, Help: "The step, or module, is skipped where this is false. json(ARTIFACT, \"FILE:FIELD\") asks what another step found"},
	{Name: otherwiseAttr, Type: textType, Optional: true, Help: "Why the block is left out where its when is false, in a sentence: the plan, the end of a run and the report say so"},
	{Name: AllowEmptyAttr, Type: step.Type{Kind: step.Bool}, Optional: true, Help: "There may be no piece of a for_each over what a step leaves"},
	{Name: OnFailureAttr, Type: textType, Optional: true, Enum: []string{leaveOut}, Help: "\"leave_out\", beside a for_each: what reads several of the block's steps goes on without the steps that fail. The run fails all the same. It is not part of any key"},
	{Name: AtLeastAttr, Type: step.Type{Kind: step.Float}, Optional: true, Help: "Beside on_failure: how many of the block's steps that it reads must have results for a step to go on without the others: a share below 1, such as 0.95, or a number from 1 on. Default: 1"},
	{Name: freshAttr, Type: textType, Optional: true, Help: "For how long its result counts, such as \"24h\": a run that begins later rebuilds it. What reads it runs only if its bytes differ. It is not part of any key"},
	{Name: keepAttr, Type: step.Type{Kind: step.Bool}, Optional: true, Default: "true", Help: "false: the bytes of the step's outputs leave the store when all that read them are done, and come back by running it again. It is not part of the key"},
	{Name: resourcesBlock, Optional: true, Block: true, Help: "What the step needs to run. It is not part of the key", Type: objectOf(innerForms[resourcesBlock])},
	{Name: retryBlock, Optional: true, Block: true, Help: "How a failed program is tried again. It is not part of the key", Type: objectOf(innerForms[retryBlock])},
	{Name: checkBlock, Optional: true, Block: true, Help: "What must be so of a number that the step leaves. It is not part of the key", Type: objectOf(innerForms[checkBlock])},
}

var innerForms = map[string]*step.Spec{
	resourcesBlock: step.Form[ResourcesForm](nil), retryBlock: step.Form[RetryForm](nil), checkBlock: step.Form[CheckForm](nil),
}

func objectOf(form *step.Spec) step.Type { return step.Type{Kind: step.Object, Attrs: form.Attrs} }

// FormOf is what a block may have that is read by the tags of a struct, as a step's kind is; nil of another block.
func FormOf(b *hclsyntax.Block) *step.Spec {
	if t := Of(b.Type); t != nil {
		return t.Form
	}
	return innerForms[b.Type]
}

// OwnerOf is a block in sentences about its attributes.
func OwnerOf(b *hclsyntax.Block) string {
	switch t := Of(b.Type); {
	case t == nil || t.Makes != MakesWork:
		return "The " + b.Type + " block"
	case t.Kind == "":
		return fmt.Sprintf("Kind %q", t.KindOf(b.Labels))
	}
	return "A " + b.Type
}

// Of is the type of a block by its name; nil if there is none.
func Of(name string) *Type { return typeBy(func(t *Type) bool { return t.Name == name }) }

// OfKind is the type whose blocks stand for a kind; nil if steps do.
func OfKind(kind string) *Type {
	return typeBy(func(t *Type) bool { return t.Kind == kind && kind != "" })
}

func typeBy(is func(*Type) bool) *Type {
	for i := range Types {
		if is(&Types[i]) {
			return &Types[i]
		}
	}
	return nil
}

// Roots are the names that an expression can start with, in the order in which messages list them.
var Roots = []string{"var", "local", "source", "step", "environment", "table", "figure", "module", "each"}

// Depth is how many names a reference with a root has, up to the declaration that it refers to; 0: nothing has that root.
func Depth(root string) int {
	t := typeBy(func(t *Type) bool { return t.Root == root && root != "" })
	if t == nil {
		return 0
	}
	return 1 + max(1, len(t.Labels)) // the names of local values are not labels
}

// Outputs reports whether references to such a block go on to outputs of its kind.
func (t *Type) Outputs() bool { return t != nil && t.Makes == MakesWork && t.Root != "" }

// KindOf is the kind that a block with labels is of; "" if it is of none.
func (t *Type) KindOf(labels []string) string {
	switch {
	case t == nil:
		return ""
	case t.Makes == MakesWork && t.Kind == "" && len(labels) > 0:
		return labels[0]
	}
	return t.Kind
}

// Attrs are the attributes and blocks that such a block may have, its kind's among them.
func (t *Type) Attrs(r *step.Registry, kind string) []step.Attr {
	switch {
	case t == nil:
	case t.Makes == MakesWork:
		if s := r.Lookup(kind); s != nil {
			return slices.Concat(s.Attrs, common)
		}
	case t.Makes == MakesCall:
		return slices.Concat(t.Form.Attrs, common[:3])
	case t.Form != nil:
		return t.Form.Attrs
	}
	return nil
}

// NameOf is the name that a block declares: var.x, step.train.dsi, output.o. Names of local values are attributes.
func NameOf(b *hclsyntax.Block) (name string, ok bool) {
	t := Of(b.Type)
	if t == nil || len(b.Labels) == 0 || len(b.Labels) != len(t.Labels) {
		return "", false
	}
	return cmp.Or(t.Root, t.Name) + "." + strings.Join(b.Labels, "."), true
}

// The attributes of blocks that declare names of a pipeline.
var (
	textType = step.Type{Kind: step.String}
	anyType  = step.Type{Kind: "any"}

	variableAttrs = []step.Attr{
		{Name: "type", Type: step.Type{Kind: "type"}, Optional: true, Help: "Its type, such as string, number, bool, list(string) or any. Without a type, the default's."},
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
		{Name: sourceAttr, Type: textType, Help: "Where the pipeline is: a folder or .hcl file by a path that starts with ./, ../ or /, or git::URL//FOLDER?ref=REF."},
	}
	outputAttrs = []step.Attr{
		{Name: "value", Type: anyType, Help: "Its value: an artifact, a step, a map of them, or any other."},
		{Name: "description", Type: textType, Optional: true, Help: "What it is, for people."},
	}
)

const sourceAttr = "source"
