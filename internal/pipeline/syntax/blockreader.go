package syntax

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/system/lists"
)

// BlockReader reads a file beside a pipeline, see IsBeside, whose values are constants.
type BlockReader struct {
	Name   string
	Source []byte
	Wrong  hcl.Diagnostics
}

// File is what the file has by a schema; nil if it is not HCL.
func (r *BlockReader) File(s *hcl.BodySchema) *hcl.BodyContent {
	parsed, ds := hclsyntax.ParseConfig(r.Source, r.Name, hcl.InitialPos)
	if r.Wrong = append(r.Wrong, ds...); ds.HasErrors() {
		return nil
	}
	hclsyntax.VisitAll(parsed.Body.(*hclsyntax.Body), UnixLines)
	return r.Content(parsed.Body, s)
}

func (r *BlockReader) Content(b hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	c, ds := b.Content(s)
	r.Wrong = append(r.Wrong, ds...)
	return c
}

func (r *BlockReader) Fail(at hcl.Range, summary, detail string) {
	r.Wrong = append(r.Wrong, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}

// Value is the value of an attribute, which may be missing: of a type and without nulls.
func (r *BlockReader) Value(a *hcl.Attribute, want cty.Type, wrong string) (v cty.Value, ok bool) {
	if a == nil {
		return v, false
	}
	v, ds := a.Expr.Value(nil)
	if r.Wrong = append(r.Wrong, ds...); ds.HasErrors() {
		return v, false
	}
	var err error
	if want.IsListType() {
		v, err = convert.Convert(v, want)
	}
	if err != nil || v.Type() != want || v.IsNull() || want.IsListType() && slices.ContainsFunc(v.AsValueSlice(), cty.Value.IsNull) {
		r.Fail(a.Expr.Range(), "Wrong type", wrong)
		return v, false
	}
	return v, true
}

// Texts is the value of an attribute that is a list of texts.
func (r *BlockReader) Texts(a *hcl.Attribute, wrong string) (list []string, ok bool) {
	v, ok := r.Value(a, cty.List(cty.String), wrong)
	if !ok {
		return nil, false
	}
	return lists.Map(v.AsValueSlice(), cty.Value.AsString), true
}

// Variables is the file with nothing but a variables block, at its place: diagnostics about it have theirs.
func (r *BlockReader) Variables(b *hcl.Block) File {
	attrs, ds := b.Body.JustAttributes()
	r.Wrong = append(r.Wrong, ds...)
	text := make([]byte, len(r.Source))
	for i, c := range r.Source {
		if text[i] = ' '; c == '\n' {
			text[i] = '\n'
		}
	}
	for _, a := range attrs {
		copy(text[a.Range.Start.Byte:], a.Range.SliceBytes(r.Source))
	}
	return File{Name: r.Name, Bytes: text}
}
