package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// module is what the files of a pipeline declare, or of a module within it.
type module struct {
	files     map[string][]byte
	bodies    []*syntax.Body
	parent    *module // nil of the pipeline itself
	variables map[string]*variable
	singles   map[string]*hclsyntax.Block // by the type of which there is one
	nodes     []*node                     // locals, outputs, modules and blocks in source order
	byName    map[string]*node            // step.train.dsi, module.first, local.sizes
	typos     schema.Typos
}

func newModule(files map[string][]byte, parent *module) *module {
	return &module{files: files, parent: parent, variables: map[string]*variable{}, singles: map[string]*hclsyntax.Block{}, byName: map[string]*node{}, typos: schema.Typos{}}
}

// broken reports whether some file is not HCL, so that it is not known what is declared.
func (m *module) broken() bool {
	return len(m.bodies) == 0 || len(m.bodies) < len(syntax.Pipelines(m.files))
}

// ignores reports whether a block of a type says nothing here: it is about the pipeline that is run,
// and this is a module.
func (m *module) ignores(t *Type) bool { return m.parent != nil && t.Alone }

// anySensitive reports whether a variable that has been declared so far is sensitive.
func (m *module) anySensitive() bool {
	for _, v := range m.variables {
		if v.sensitive {
			return true
		}
	}
	return false
}

// node is something that is evaluated: one local value or output, or a block.
type node struct {
	name  string // local.sizes, step.train.dsi, table.dedup_counts, module.first, output.texts
	dir   string // the folder of its source, for file()
	index int    // among the nodes of its module that have a name
	rng   hcl.Range

	expr   hclsyntax.Expression // of a local or output
	block  *block               // of a source, step, table, figure or claim
	module *moduleCall
	form   *hclsyntax.Block // an environment or publish block
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

// block is a source, step, table, figure or claim.
type block struct {
	*hclsyntax.Block
	typ, kind, name string
	owner           string     // in sentences about its attributes
	spec            *step.Spec // nil if there is no such kind; reported
	forEach         hclsyntax.Expression
	flags
	resources *hclsyntax.Block
	retry     *hclsyntax.Block
	checks    []*hclsyntax.Block
	places    map[string]syntax.Pos // of its attributes and inner blocks, by name
}

// flags are what a block says beside the attributes of its kind: whether it runs, why not, and whether
// its outputs stay.
type flags struct {
	when, otherwise, keep hclsyntax.Expression
	allowEmpty            bool
}

// address is the block's name in references.
func (b *block) address() string {
	if b.typ == "step" {
		return "step." + b.kind + "." + b.name
	}
	return b.typ + "." + b.name
}

// placesIn are those of the attributes and blocks in a body, by name.
func placesIn(body *hclsyntax.Body) map[string]syntax.Pos {
	at, expects := map[string]syntax.Pos{}, 0
	for name, a := range body.Attributes {
		at[name] = syntax.PosOf(a.NameRange)
	}
	for _, inner := range body.Blocks {
		pos := syntax.PosOf(inner.TypeRange)
		if _, ok := at[inner.Type]; !ok {
			at[inner.Type] = pos
		}
		if inner.Type == expectBlock {
			at[fmt.Sprintf("%s[%d]", expectBlock, expects)] = pos
			expects++
		}
	}
	return at
}

// variable is a declared variable.
type variable struct {
	name      string
	rng       hcl.Range
	typ       cty.Type // DynamicPseudoType if any value will do
	fallback  cty.Value
	optional  bool   // has a default
	sensitive bool   // its value is nowhere but where it is used
	ask       string // how a person is asked for it; "": not
	checks    []check
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
	declared  func() *module // declares it when first asked; nil if its files cannot be had, which is reported
	forEach   hclsyntax.Expression
	arguments []*hclsyntax.Attribute
}
