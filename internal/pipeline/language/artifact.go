package language

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// Artifact is the value of a step's output, or a part of it: handed on, not compared or looked into (see opaque).
type Artifact struct {
	Ref    step.Ref
	Output step.Output
	Spec   *step.Spec // of the step
	Leaves Leaves     // of the step
}

// Leaves names an output's files as far as known before a run, folders of unknown files with a "/"; nil: of no output.
type Leaves func(output string) (names []string, known bool)

// ArtifactType is the type of artifacts' values.
var ArtifactType = cty.CapsuleWithOps("artifact", reflect.TypeFor[Artifact](), &cty.CapsuleOps{
	Equals:    func(a, b any) cty.Value { return cty.BoolVal(a.(*Artifact).Ref == b.(*Artifact).Ref) },
	RawEquals: func(a, b any) bool { return a.(*Artifact).Ref == b.(*Artifact).Ref },
	HashKey:   func(v any) string { return v.(*Artifact).Ref.String() },
})

func (a *Artifact) value() cty.Value { return cty.CapsuleVal(ArtifactType, a) }

// OutputsOf is the value of one step: an object of its outputs.
func OutputsOf(spec *step.Spec, outputs []step.Output, address string, names Leaves) cty.Value {
	m := make(map[string]cty.Value, len(outputs))
	for _, o := range outputs {
		m[o.Name] = (&Artifact{step.Ref{Step: address, Output: o.Name}, o, spec, names}).value()
	}
	return cty.ObjectVal(m)
}

// StepType is the type of OutputsOf.
func StepType(spec *step.Spec) cty.Type { return OutputsOf(spec, spec.Outputs, "", nil).Type() }

// StepOf tells whether a value is a whole step, and its address. An object with some outputs, or other names, was written
// out.
func StepOf(v cty.Value) (string, bool) {
	if !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() {
		return "", false
	}
	address := ""
	outputs := v.AsValueMap()
	for name, e := range outputs {
		if e.Type() != ArtifactType || e.IsNull() || !e.IsKnown() {
			return "", false
		}
		a := e.EncapsulatedValue().(*Artifact)
		if address != "" && a.Ref.Step != address || name != a.Ref.Output || len(outputs) != len(a.Spec.Outputs) {
			return "", false
		}
		address = a.Ref.Step
	}
	return address, address != ""
}

func (a *Artifact) leaves() ([]string, bool) {
	if a.Leaves == nil {
		return nil, false
	}
	return a.Leaves(a.Ref.Output)
}

// files names all files of a tree, if that is known before the step has run.
func (a *Artifact) files() ([]string, bool) {
	names, known := a.leaves()
	return names, known && a.Ref.Path == "" && !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "/") })
}

func (a *Artifact) at(name, typ string) *Artifact {
	b := *a
	b.Ref.Path = path.Join(a.Ref.Path, name)
	if b.Output.Type = typ; typ == step.FileType {
		b.Output.Tree, b.Output.Fields = false, nil
	}
	return &b
}

// pick is the file or folder of a tree at an index: checked here if the configuration names its files, else after the step.
func (a *Artifact) pick(name string) (*Artifact, error) {
	trimmed := strings.TrimSuffix(name, "/")
	if err := artifacts.CheckFileName(trimmed); err != nil {
		return nil, err
	}
	full, folder := path.Join(a.Ref.Path, trimmed), trimmed != name
	names, known := a.leaves()
	found := !known
	for _, n := range names {
		switch {
		case n == full && !folder:
			return a.at(trimmed, step.FileType), nil
		case strings.HasPrefix(n, full+"/"):
			found, folder = true, true
		case strings.HasSuffix(n, "/") && strings.HasPrefix(full, n):
			found = true
		}
	}
	switch {
	case !found && len(names) == 0:
		return nil, fmt.Errorf("%s has no file %q: the step names no outputs", a.Ref.WithoutPath(), full)
	case !found:
		return nil, fmt.Errorf("%s has no file or folder %q. %s", a.Ref.WithoutPath(), full, syntax.Suggest(full, names, "file"))
	case folder:
		return a.at(trimmed, a.Output.Type), nil
	}
	return a.at(trimmed, step.FileType), nil
}

// treeOf is the artifact that a value is, if it has files.
func treeOf(v cty.Value) *Artifact {
	if v, _ = v.Unmark(); v.Type() != ArtifactType || !v.IsKnown() || v.IsNull() {
		return nil
	}
	if a := v.EncapsulatedValue().(*Artifact); a.Output.Tree {
		return a
	}
	return nil
}

func (a *Artifact) pickBy(key cty.Value) (cty.Value, error) {
	if key.Type() != cty.String || key.IsNull() {
		return cty.DynamicVal, errors.New(`a file of an artifact is named by a text, as in step.KIND.NAME.out["a.csv"]`)
	}
	x, err := a.pick(key.AsString())
	if err != nil {
		return cty.DynamicVal, err
	}
	return x.value(), nil
}

// HoldsArtifact reports whether a value of the type is an artifact or has some in it.
func HoldsArtifact(t cty.Type) bool {
	switch {
	case t == ArtifactType:
		return true
	case t.IsCollectionType():
		return HoldsArtifact(t.ElementType())
	case t.IsTupleType():
		return slices.ContainsFunc(t.TupleElementTypes(), HoldsArtifact)
	case t.IsObjectType():
		return slices.ContainsFunc(slices.Collect(maps.Values(t.AttributeTypes())), HoldsArtifact)
	}
	return false
}

func isStep(t cty.Type) bool {
	for _, a := range t.AttributeTypes() {
		if a != ArtifactType {
			return false
		}
	}
	return len(t.AttributeTypes()) > 0
}

// OutputNames lists the outputs of a step as references name them.
func OutputNames(v cty.Value, address string) string {
	return address + "." + strings.Join(syntax.Keys(v.Type().AttributeTypes()), ", "+address+".")
}
