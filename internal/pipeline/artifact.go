package pipeline

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

// artifact is the value of a step's output, or of a file or folder of it, while loading: it
// can be passed on, but not compared or looked into (see opaque).
type artifact struct {
	ref    step.Ref
	output step.Output
	spec   *step.Spec // of the step
	names  leaves     // of the step
}

// leaves names the files of an output of a step, as far as that is known before it has run.
// Folders whose files are not known end in "/". nil: of no output.
type leaves func(output string) (names []string, known bool)

var artifactType = cty.CapsuleWithOps("artifact", reflect.TypeFor[artifact](), &cty.CapsuleOps{
	Equals:    func(a, b any) cty.Value { return cty.BoolVal(a.(*artifact).ref == b.(*artifact).ref) },
	RawEquals: func(a, b any) bool { return a.(*artifact).ref == b.(*artifact).ref },
	HashKey:   func(v any) string { return v.(*artifact).ref.String() },
})

func (a *artifact) value() cty.Value { return cty.CapsuleVal(artifactType, a) }

// outputsOf is the value of one step: an object of its outputs.
func outputsOf(spec *step.Spec, outputs []step.Output, address string, names leaves) cty.Value {
	m := make(map[string]cty.Value, len(outputs))
	for _, o := range outputs {
		m[o.Name] = (&artifact{step.Ref{Step: address, Output: o.Name}, o, spec, names}).value()
	}
	return cty.ObjectVal(m)
}

// stepType is the type of outputsOf.
func stepType(spec *step.Spec) cty.Type { return outputsOf(spec, spec.Outputs, "", nil).Type() }

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

func (a *artifact) leaves() ([]string, bool) {
	if a.names == nil {
		return nil, false
	}
	return a.names(a.ref.Output)
}

// files names all files of a tree, if that is known before the step has run.
func (a *artifact) files() ([]string, bool) {
	names, known := a.leaves()
	return names, known && a.ref.Path == "" && !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "/") })
}

// at is a file or folder of the artifact.
func (a *artifact) at(name, typ string) *artifact {
	b := *a
	b.ref.Path = path.Join(a.ref.Path, name)
	if b.output.Type = typ; typ == step.FileType {
		b.output.Tree, b.output.Fields = false, nil
	}
	return &b
}

// pick is the file or folder of a tree that an index names. That it exists is checked here
// where the step's configuration names its files, else when the step has run.
func (a *artifact) pick(name string) (*artifact, error) {
	trimmed := strings.TrimSuffix(name, "/")
	if err := artifacts.CheckFileName(trimmed); err != nil {
		return nil, err
	}
	full, folder := path.Join(a.ref.Path, trimmed), trimmed != name
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
		return nil, fmt.Errorf("%s has no file %q: the step names no outputs", a.ref.WithoutPath(), full)
	case !found:
		return nil, fmt.Errorf("%s has no file or folder %q. %s", a.ref.WithoutPath(), full, syntax.Suggest(full, names, "file"))
	case folder:
		return a.at(trimmed, a.output.Type), nil
	}
	return a.at(trimmed, step.FileType), nil
}

// treeOf is the artifact that a value is, if it has files.
func treeOf(v cty.Value) *artifact {
	if v, _ = v.Unmark(); v.Type() != artifactType || !v.IsKnown() || v.IsNull() {
		return nil
	}
	if a := v.EncapsulatedValue().(*artifact); a.output.Tree {
		return a
	}
	return nil
}

func (a *artifact) pickBy(key cty.Value) (cty.Value, error) {
	if key.Type() != cty.String || key.IsNull() {
		return cty.DynamicVal, errors.New(`a file of an artifact is named by a text, as in step.KIND.NAME.out["a.csv"]`)
	}
	x, err := a.pick(key.AsString())
	if err != nil {
		return cty.DynamicVal, err
	}
	return x.value(), nil
}

func holdsArtifact(t cty.Type) bool {
	switch {
	case t == artifactType:
		return true
	case t.IsCollectionType():
		return holdsArtifact(t.ElementType())
	case t.IsTupleType():
		return slices.ContainsFunc(t.TupleElementTypes(), holdsArtifact)
	case t.IsObjectType():
		return slices.ContainsFunc(slices.Collect(maps.Values(t.AttributeTypes())), holdsArtifact)
	}
	return false
}

func isStep(t cty.Type) bool {
	for _, a := range t.AttributeTypes() {
		if a != artifactType {
			return false
		}
	}
	return len(t.AttributeTypes()) > 0
}

func outputNames(v cty.Value, address string) string {
	return address + "." + strings.Join(syntax.Keys(v.Type().AttributeTypes()), ", "+address+".")
}
