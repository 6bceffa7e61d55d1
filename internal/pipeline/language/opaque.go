package language

import (
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// An expression can choose among artifacts and hand them on, but not read them: it would compare or print a reference, the
// same whatever the step leaves. Each such use is an error, also within try and can, which pass over other errors.
const (
	opaqueTitle = "Artifact used as a value"

	ArtifactIs = "An artifact is the output of a step: its contents are known only after the step has run, and expressions are evaluated before that. " +
		"They can hand it to other steps. For a for_each or a when that is decided once the step has run, files(ARTIFACT, PATTERN) lists its files " +
		"and json(ARTIFACT, \"FILE:FIELD\") reads a value; for the rest, let a step that takes it as an input decide by its contents."
)

// carriers are the functions that choose among values, put them together or count them. All others refuse artifacts.
var carriers = map[string]bool{
	"product": true, "chunklist": true, "coalesce": true, "coalescelist": true, "concat": true, "element": true,
	"flatten": true, "keys": true, "length": true, "lookup": true, "merge": true, "one": true, "reverse": true, "setproduct": true,
	"files": true, "json": true, "slice": true, "values": true, "zipmap": true, "tolist": true, "tomap": true, "try": true, "can": true,
}

func opaque(what string, v cty.Value) *syntax.Limit {
	return syntax.Over(opaqueTitle, "%s %s. %s", what, ArtifactIn(v), ArtifactIs)
}

// holdsValue reports whether a value is, or contains, an artifact. Null does not.
func holdsValue(v cty.Value) bool { return !v.IsNull() && HoldsArtifact(v.Type()) }

// ArtifactIn names the first artifact of a value that holds some.
func ArtifactIn(v cty.Value) string {
	name := "artifacts"
	_ = cty.Walk(v, func(_ cty.Path, e cty.Value) (bool, error) { // an error only ends it
		e, _ = e.Unmark()
		if e.Type() == ArtifactType && e.IsKnown() && !e.IsNull() {
			name = "the artifact " + e.EncapsulatedValue().(*Artifact).Ref.String()
			return false, io.EOF
		}
		return true, nil
	})
	return name
}

// refuse is the error of a function that is given an artifact and cannot take it; nil: there is none.
func refuse(name string, args []cty.Value) *syntax.Limit {
	if carriers[name] {
		return nil
	}
	if i := slices.IndexFunc(args, holdsValue); i >= 0 {
		return opaque(name+"() cannot read", args[i])
	}
	return nil
}

// failed is the error of a carrier that failed; an argument that is itself an artifact, not a collection, is its reason.
func failed(name string, args []cty.Value, err error) error {
	i := slices.IndexFunc(args, func(a cty.Value) bool { return a.Type() == ArtifactType && !a.IsNull() })
	if i < 0 || name == "files" || name == "json" { // their errors are about what the step left
		return err
	}
	return opaque(fmt.Sprintf("%s() fails (%v) with", name, err), args[i])
}

// comparisons replace the operators that take values of any type.
var comparisons = map[*hclsyntax.Operation]*hclsyntax.Operation{
	hclsyntax.OpEqual:    comparison(func(a, b cty.Value) cty.Value { return a.Equals(b) }),
	hclsyntax.OpNotEqual: comparison(cty.Value.NotEqual),
}

// comparison refuses artifacts except beside null: whether there is an artifact is known.
func comparison(f func(a, b cty.Value) cty.Value) *hclsyntax.Operation {
	operand := anything(function.Parameter{Type: cty.DynamicPseudoType})
	return &hclsyntax.Operation{Type: cty.Bool, Impl: function.New(&function.Spec{
		Params: []function.Parameter{operand, operand},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if err := compares(args[0], args[1]); err != nil {
				return cty.UnknownVal(cty.Bool), err
			}
			return f(args[0], args[1]), nil
		},
	})}
}

func compares(a, b cty.Value) *syntax.Limit {
	switch {
	case a.IsNull() || b.IsNull():
	case holdsValue(a):
		return opaque("This compares", a)
	case holdsValue(b):
		return opaque("This compares", b)
	}
	return nil
}
