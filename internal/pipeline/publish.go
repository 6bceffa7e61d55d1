package pipeline

import (
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/step"
)

// Publish is a publish block: files of steps that a run writes beside the pipeline. It is not a
// step and is in no key.
type Publish struct {
	Name  string
	To    string // a folder below that of its source, with slashes
	Files []step.Ref
	Pos   Pos
}

// publishFolder is that of a publish block: below the pipeline's, and not hidden.
var publishFolder = regexp.MustCompile(`^[^./\\:][^/\\:]*(/[^./\\:][^/\\:]*)*/?$`)

// declarePublish declares a publish block.
func (l *loader) declarePublish(b *hclsyntax.Block) {
	if !l.labels(b, "NAME") {
		return
	}
	n := &node{name: "publish." + b.Labels[0], rng: header(b), publish: b}
	if !l.add(n) {
		return
	}
	l.noBlocks(b, "A publish block has attributes only: files and to.")
	l.attributes(b, "A publish block", attribute{"files", expression(&n.expr)}, attribute{"to", expression(&n.to)})
	if n.expr == nil || n.to == nil {
		l.diags.error(n.rng, "Missing attribute", `A publish block is written publish "NAME" { files = step.KIND.NAME.OUTPUT, to = "FOLDER" }, on lines of their own.`)
		return
	}
	if l.parent == nil {
		l.nodes = append(l.nodes, n)
	} else if l.Lint {
		l.diags.warn(n.rng, "publish in a module", "This block has no effect in a module: the pipeline that is run says what is written.")
	}
}

// evaluatePublish reads a publish block whose references have values.
func (l *loader) evaluatePublish(n *node, ctx *hcl.EvalContext) {
	p := Publish{Name: n.publish.Labels[0], Pos: posOf(n.rng)}
	files := l.open(l.value(n.expr, ctx, nil), n.expr.Range(), nil)
	to := l.open(l.value(n.to, ctx, nil), n.to.Range(), nil)
	if !files.IsKnown() || !to.IsKnown() {
		return // reported
	}
	if to.IsNull() || to.Type() != cty.String || !publishFolder.MatchString(to.AsString()) {
		l.diags.error(n.to.Range(), "Wrong folder", `to is a folder below the pipeline's own, such as "results/plots"; no part of it begins with a dot.`)
		return
	}
	p.To = to.AsString()
	list := []cty.Value{files}
	if t := files.Type(); !files.IsNull() && (t.IsTupleType() || t.IsListType()) {
		list = files.AsValueSlice()
	}
	for _, v := range list {
		if v.IsNull() || v.Type() != artifactType {
			l.diags.error(n.expr.Range(), "Wrong type", "files is an artifact, the output of a step such as step.KIND.NAME.OUTPUT, or a list of them.")
			return
		}
		if v.IsKnown() {
			p.Files = append(p.Files, v.EncapsulatedValue().(*artifact).ref)
		}
	}
	l.publish = append(l.publish, p)
}
