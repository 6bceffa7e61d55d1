package pipeline

import (
	"reflect"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/step"
)

// artifact is the value of a step's output while loading: it can be passed on,
// but not compared or looked into (see opaque).
type artifact struct {
	ref    step.Ref
	output step.Output
	spec   *step.Spec // of the step
}

var artifactType = cty.CapsuleWithOps("artifact", reflect.TypeFor[artifact](), &cty.CapsuleOps{
	Equals:    func(a, b any) cty.Value { return cty.BoolVal(a.(*artifact).ref == b.(*artifact).ref) },
	RawEquals: func(a, b any) bool { return a.(*artifact).ref == b.(*artifact).ref },
	HashKey:   func(v any) string { return v.(*artifact).ref.String() },
})

// outputsOf is the value of one step: an object of its outputs.
func outputsOf(spec *step.Spec, outputs []step.Output, address string) cty.Value {
	m := make(map[string]cty.Value, len(outputs))
	for _, o := range outputs {
		m[o.Name] = cty.CapsuleVal(artifactType, &artifact{step.Ref{Step: address, Output: o.Name}, o, spec})
	}
	return cty.ObjectVal(m)
}

// stepType is the type of outputsOf.
func stepType(spec *step.Spec) cty.Type {
	m := make(map[string]cty.Type, len(spec.Outputs))
	for _, o := range spec.Outputs {
		m[o.Name] = artifactType
	}
	return cty.Object(m)
}

// stepOf tells whether a value is a whole step, and its address. An object of some
// of its outputs, or with other names, is one that was written out.
func stepOf(v cty.Value) (string, bool) {
	if !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() {
		return "", false
	}
	address := ""
	outputs := v.AsValueMap()
	for name, e := range outputs {
		if e.Type() != artifactType || e.IsNull() || !e.IsKnown() {
			return "", false
		}
		a := e.EncapsulatedValue().(*artifact)
		if address != "" && a.ref.Step != address || name != a.ref.Output || len(outputs) != len(a.spec.Outputs) {
			return "", false
		}
		address = a.ref.Step
	}
	return address, address != ""
}
