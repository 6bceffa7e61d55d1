package pipeline

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// node is something that is evaluated: one local value or output, or a block.
type node struct {
	name  string // local.sizes, step.train.dsi, table.dedup_counts, module.first, output.texts
	dir   string // the folder of its source, for file()
	rng   hcl.Range
	value cty.Value // what references to it give; DynamicVal where that failed
	deps  []edge
	read  bool // something refers to it

	awaits    *language.Awaited // what the value waits for, or was made of; nil if no step decides it
	undecided bool              // of a block: it is not known yet whether some step of it is skipped

	expr   hclsyntax.Expression // of a local or output
	block  *block               // of a source, step, table, figure or claim
	cells  cty.Value            // of a table or figure, what claims see; see cellsOf
	module *moduleCall

	form *hclsyntax.Block // an environment or publish block
}

func (n *node) forEach() hclsyntax.Expression {
	switch {
	case n.module != nil:
		return n.module.forEach
	case n.block != nil:
		return n.block.forEach
	}
	return nil
}

// edge is a reference from one node to another.
type edge struct {
	to   *node
	rng  hcl.Range
	bare bool // it takes an output of a step that may be skipped, not within try()
}

// block is a source, step, table, figure or claim.
type block struct {
	*hclsyntax.Block
	typ, kind, name string
	owner           string     // in sentences about its attributes
	spec            *step.Spec // nil if there is no such kind; reported
	forEach, when   hclsyntax.Expression
	otherwise       hclsyntax.Expression
	keep            hclsyntax.Expression
	allowEmpty      bool
	resources       *hclsyntax.Block
	retry           *hclsyntax.Block
	checks          []*hclsyntax.Block
	attrPos         map[string]syntax.Pos // what places has found
}

// address is the block's name in references.
func (b *block) address() string {
	if b.typ == "step" {
		return "step." + b.kind + "." + b.name
	}
	return b.typ + "." + b.name
}

// variable is a declared variable and, once set, its value.
type variable struct {
	name      string
	rng       hcl.Range
	typ       cty.Type // DynamicPseudoType if any value will do
	fallback  cty.Value
	optional  bool   // has a default
	sensitive bool   // its value is nowhere but where it is used
	local     bool   // its value is of Options.Local
	given     bool   // somebody has set it
	ask       string // how a person is asked for it; "": not
	used      bool   // something refers to it
	checks    []check
	value     cty.Value // DynamicVal until it is set, and where that failed
}

// check is a validation block of a variable.
type check struct {
	condition, message hclsyntax.Expression
	rng                hcl.Range
}

// moduleCall is a module block: another pipeline, with values for its variables. It
// is evaluated like any pipeline, in a scope of its own; what others see of it is
// its outputs.
type moduleCall struct {
	*hclsyntax.Block
	files     map[string][]byte // nil if they cannot be had; reported
	forEach   hclsyntax.Expression
	arguments []*hclsyntax.Attribute
}
