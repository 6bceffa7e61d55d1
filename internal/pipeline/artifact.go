package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
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

// leavesOf are those of a step that is made: what its configuration names, or what lies
// where a source block says.
func (s *session) leavesOf(t step.Task, at syntax.Pos, spec *step.Spec) leaves {
	return func(output string) ([]string, bool) {
		path, ignore, ok := SourceOf(t, at)
		if !ok {
			return spec.Leaves(t, output)
		}
		id := path
		if !ignore {
			id += " with all that is ignored"
		}
		names, known := s.found.Folders[id]
		if !known {
			names, known = s.Found.Folders[id]
		}
		if !known && s.Folder != nil {
			var err error
			names, err = s.Folder(path, ignore)
			known = err == nil // else planning says what is wrong with it
		}
		if known {
			s.found.Folders[id] = names
		}
		return names, known
	}
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

// A reference such as step.command.split.out["a.fa"] looks like the element of a
// collection. The evaluator follows parts of references by their own methods, and takes
// the element of a value by its type; so a part is replaced by one that knows artifacts,
// and the value by an object with the one element that is asked for.

// picked is the index of a reference that may follow an artifact.
type picked struct{ hcl.TraverseIndex }

func (t picked) TraversalStep(v cty.Value) (cty.Value, hcl.Diagnostics) {
	a := treeOf(v)
	if a == nil {
		return t.TraverseIndex.TraversalStep(v)
	}
	x, err := a.pickBy(t.Key)
	if err != nil {
		return cty.DynamicVal, hcl.Diagnostics{noFile(err, &t.SrcRange, nil, nil)}
	}
	return x, nil
}

// pickable is a collection that may be an artifact, of which key is taken.
// Walkers see a pair of parentheses.
type pickable struct {
	*hclsyntax.ParenthesesExpr
	key hclsyntax.Expression
}

func (e pickable) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, ds := e.Expression.Value(ctx)
	a := treeOf(v)
	if ds.HasErrors() || a == nil {
		return v, ds
	}
	k, more := e.key.Value(ctx)
	if k, _ = k.Unmark(); more.HasErrors() || !k.IsKnown() {
		return cty.DynamicVal, ds // the index says it, too
	}
	x, err := a.pickBy(k)
	if err != nil {
		rng := e.key.Range()
		return cty.DynamicVal, append(ds, noFile(err, &rng, e, ctx))
	}
	return cty.ObjectVal(map[string]cty.Value{k.AsString(): x}), ds
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

func noFile(err error, rng *hcl.Range, e hcl.Expression, ctx *hcl.EvalContext) *hcl.Diagnostic {
	detail := strings.TrimRight(err.Error(), ".") + "."
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No such file", Detail: detail,
		Subject: rng, Expression: e, EvalContext: ctx, Extra: &syntax.Limit{Summary: "No such file", Detail: detail}}
}

// pickFrom lets references reach into artifacts.
func pickFrom(n hclsyntax.Node) {
	switch e := n.(type) {
	case *hclsyntax.IndexExpr:
		e.Collection = pickable{&hclsyntax.ParenthesesExpr{Expression: e.Collection, SrcRange: e.Collection.Range()}, e.Key}
	case *hclsyntax.ScopeTraversalExpr:
		first := 2
		if e.Traversal.RootName() == "step" {
			first = 4 // step.KIND.NAME[KEY] is an instance
		}
		pickParts(e.Traversal, first)
	case *hclsyntax.RelativeTraversalExpr:
		pickParts(e.Traversal, 0)
	}
}

func pickParts(tr hcl.Traversal, first int) {
	for i := first; i < len(tr); i++ {
		if t, ok := tr[i].(hcl.TraverseIndex); ok {
			tr[i] = picked{t}
		}
	}
}

// written is a part of a reference as the library has it.
func written(t hcl.Traverser) hcl.Traverser {
	if p, ok := t.(picked); ok {
		return p.TraverseIndex
	}
	return t
}

// SourceOf returns the path that the task of a source block names, as it is from the folder of
// this process, and whether .gitignore files count there; ok is false of other tasks, and while
// steps have yet to decide the path.
func SourceOf(t step.Task, pos syntax.Pos) (path string, ignore, ok bool) {
	var c struct {
		Path   string `json:"path"`
		Ignore bool   `json:"ignore"`
	}
	if t.Kind != SourceKind || json.Unmarshal(t.Config, &c) != nil || c.Path == "" {
		return "", false, false
	}
	if path = filepath.FromSlash(c.Path); !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(filepath.FromSlash(pos.File)), path)
	}
	return path, c.Ignore, true
}

// names returns the leading names of a reference: step.train.dsi and
// step["train"].dsi are the same.
func names(tr hcl.Traversal) []string {
	var out []string
	for _, t := range tr {
		switch t := written(t).(type) {
		case hcl.TraverseRoot:
			out = append(out, t.Name)
		case hcl.TraverseAttr:
			out = append(out, t.Name)
		case hcl.TraverseIndex:
			if t.Key.Type() != cty.String || t.Key.IsNull() || !t.Key.IsKnown() {
				return out
			}
			out = append(out, t.Key.AsString())
		default:
			return out
		}
	}
	return out
}
