package language

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Artifact is the value of a step's output, or a part of it: handed on, not compared or looked into (see opaque).
type Artifact struct {
	Ref    step.Ref
	Output step.Output
	Spec   *step.Spec // of the step
	Leaves Leaves     // of the step
}

// Leaves names the files of an output that are known before a run, folders of other files with a "/"; nil: of no output.
type Leaves func(output string) (names []string, known bool)

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

// StepOf is the address of the step that a value is; false: another value, such as an object with some of its outputs.
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

func (a *Artifact) at(name, typ string) *Artifact {
	b := *a
	b.Ref.Path = path.Join(a.Ref.Path, name)
	if b.Output.Type = typ; typ == step.FileType {
		b.Output.Tree, b.Output.Fields = false, nil
	}
	return &b
}

// pick is the file or folder of a tree at an index: checked here if the configuration names the files, else after the step.
func (a *Artifact) pick(key cty.Value) (cty.Value, error) {
	if key.Type() != cty.String || key.IsNull() {
		return cty.DynamicVal, errors.New(`a file of an artifact is named by a text, as in step.KIND.NAME.out["a.csv"]`)
	}
	name := key.AsString()
	trimmed := strings.TrimSuffix(name, "/")
	if err := artifacts.CheckFileName(trimmed); err != nil {
		return cty.DynamicVal, err
	}
	full, folder := path.Join(a.Ref.Path, trimmed), trimmed != name
	names, known := a.leaves()
	found := !known
	for _, n := range names {
		switch {
		case n == full && !folder:
			return a.at(trimmed, step.FileType).value(), nil
		case strings.HasPrefix(n, full+"/"):
			found, folder = true, true
		case strings.HasSuffix(n, "/") && strings.HasPrefix(full, n):
			found = true
		}
	}
	switch {
	case !found && len(names) == 0:
		return cty.DynamicVal, fmt.Errorf("%s has no file %q: the step names no outputs. Name it there: outputs = [%[2]q]", a.Ref.WithoutPath(), full)
	case !found:
		return cty.DynamicVal, fmt.Errorf("%s has no file or folder %q. %s", a.Ref.WithoutPath(), full, syntax.Suggest(full, names, "file"))
	case folder:
		return a.at(trimmed, a.Output.Type).value(), nil
	}
	return a.at(trimmed, step.FileType).value(), nil
}

// treeOf is the artifact with files that a value is; nil: it is another value.
func treeOf(v cty.Value) *Artifact {
	if v, _ = v.Unmark(); v.Type() != ArtifactType || !v.IsKnown() || v.IsNull() {
		return nil
	}
	if a := v.EncapsulatedValue().(*Artifact); a.Output.Tree {
		return a
	}
	return nil
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
	outputs := slices.Collect(maps.Values(t.AttributeTypes()))
	return len(outputs) > 0 && !slices.ContainsFunc(outputs, func(o cty.Type) bool { return o != ArtifactType })
}

// What a step has left may decide which steps there are: files() and json() look into it. Until Options.Made has it, their
// value is unknown, and so is what is computed from it. A block with such a for_each, and a step with such a configuration or
// `when`, is one pending step, which says what it awaits; once that is there, reloading gives the steps.

const (
	MaxPieces   = 50_000 // of a for_each over what a step has left
	PiecesTitle = "Wrong pieces"
)

// look is what a step has left; nil: it is not there yet, and the present evaluation awaits it.
func (s *Session) look(ref step.Ref) (*Made, error) {
	var m *Made
	if s.world.Made != nil {
		var err error
		if m, err = s.world.Made(ref.WithoutPath()); err != nil {
			return nil, s.meter.end("Output not readable", "%v.", err)
		}
	}
	switch {
	case s.Awaits == nil:
	case m == nil:
		s.Awaits.Refs[ref.WithoutPath()] = true
	default:
		s.Awaits.Made = true
	}
	return m, nil
}

// taken is the artifact that a function is given; nil if it is not known yet.
func taken(v cty.Value, what string) (*Artifact, error) {
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown():
		return nil, nil
	case v.IsNull() || v.Type() != ArtifactType:
		return nil, fmt.Errorf("%s an output of a step, such as step.KIND.NAME.out, not %s", what, v.Type().FriendlyName())
	}
	return v.EncapsulatedValue().(*Artifact), nil
}

var artifactParameter = function.Parameter{Name: "artifact", Type: cty.DynamicPseudoType}

// filesFunction is files(artifact, pattern): the matching files by their paths less the pattern's text around the wildcards.
func (s *Session) filesFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anything(artifactParameter), {Name: "pattern", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Map(ArtifactType)),
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			a, err := taken(args[0], "files() takes")
			if err != nil || a == nil {
				return cty.UnknownVal(t), err
			}
			pattern := args[1].AsString()
			if !doublestar.ValidatePattern(pattern) {
				return cty.UnknownVal(t), fmt.Errorf("%q is not a pattern: * stands for any part of a name, ** for folders, ? for a character, {a,b} for one of several", pattern)
			}
			if !a.Output.Tree {
				return cty.UnknownVal(t), fmt.Errorf("%s is one file, so that it has no files to choose from", a.Ref)
			}
			names, known := a.leaves()
			isFolder := func(name string) bool { return strings.HasSuffix(name, "/") }
			if !known || a.Ref.Path != "" || slices.ContainsFunc(names, isFolder) { // known once the step has run
				m, err := s.look(a.Ref)
				if m == nil || err != nil {
					return cty.UnknownVal(t), err
				}
				tree, err := a.Ref.In(m.Artifact)
				if err != nil {
					return cty.UnknownVal(t), err
				}
				names = lists.Map(tree.Readable(), func(f artifacts.File) string { return f.Name })
			}
			return a.matching(names, pattern)
		},
	})
}

func (a *Artifact) matching(names []string, pattern string) (cty.Value, error) {
	prefix, suffix := fixed(pattern)
	pieces, from := map[string]cty.Value{}, map[string]string{}
	for _, name := range names {
		if !doublestar.MatchUnvalidated(pattern, name) {
			continue
		}
		key := name
		if len(name) > len(prefix)+len(suffix) {
			key = name[len(prefix) : len(name)-len(suffix)]
		}
		if other, twice := from[key]; twice {
			return cty.DynamicVal, syntax.Over(PiecesTitle, "files(%s, %q) has two files with the key %q: %s and %s. Put the pattern's fixed text in braces, as in {part}*, so that keys are full names.", a.Ref, pattern, key, other, name)
		}
		pieces[key], from[key] = a.at(name, step.FileType).value(), name
	}
	if len(pieces) > MaxPieces {
		return cty.DynamicVal, syntax.Over(PiecesTitle, "files(%s, %q) has %d files; at most %d are allowed. Let one step do the work of several: let the step before it write fewer, larger files.", a.Ref, pattern, len(pieces), MaxPieces)
	}
	if len(pieces) == 0 {
		return cty.MapValEmpty(ArtifactType), nil
	}
	return cty.MapVal(pieces), nil
}

// fixed is a pattern's text before its first and behind its last wildcard; of a pattern without one, its folder.
func fixed(pattern string) (prefix, suffix string) {
	first := strings.IndexAny(pattern, `*?[{\`)
	if first < 0 {
		return pattern[:strings.LastIndex(pattern, "/")+1], ""
	}
	return pattern[:first], pattern[strings.LastIndexAny(pattern, `*?]}\`)+1:]
}

// jsonFunction is json(artifact, "FILE:FIELD"), the JSON that a step has written; an output that is one file takes no FILE.
func (s *Session) jsonFunction() function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{anything(artifactParameter)},
		VarParam: &function.Parameter{Name: "path", Type: cty.String},
		Type:     function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			path := ""
			switch {
			case len(args) == 2:
				path = args[1].AsString()
			case len(args) > 2:
				return cty.DynamicVal, errors.New("json() takes an artifact and a path in it")
			}
			a, err := taken(args[0], "json() takes")
			if err != nil || a == nil {
				return cty.DynamicVal, err
			}
			if s.Dropped[a.Ref.Step] {
				return cty.DynamicVal, fmt.Errorf("json() reads %s whenever the pipeline is planned, and %s has keep = false", a.Ref, a.Ref.Step)
			}
			m, err := s.look(a.Ref)
			if m == nil || err != nil {
				return cty.DynamicVal, err
			}
			part, err := a.Ref.In(m.Artifact)
			if err != nil {
				return cty.DynamicVal, err
			}
			v, err := fieldIn(a.Ref, part, path, func(f artifacts.File) ([]byte, error) {
				b, err := m.Read(f)
				if err != nil {
					err = s.meter.end("Output not readable", "%v.", err)
				}
				return b, err
			})
			if err == nil && v.CanIterateElements() && v.LengthInt() > MaxPieces {
				err = syntax.Over(PiecesTitle, "json(%s, %q) has %d elements; at most %d are allowed.", a.Ref, path, v.LengthInt(), MaxPieces)
			}
			return v, err
		},
	})
}

func fieldIn(ref step.Ref, a artifacts.Artifact, path string, read func(artifacts.File) ([]byte, error)) (cty.Value, error) {
	f, name, field := artifacts.File{Digest: a.Digest, Size: a.Size}, ref.String(), path
	if a.Files != nil {
		file, rest, _ := strings.Cut(path, ":")
		r := ref
		if r.Path = file; ref.Path != "" {
			r.Path = ref.Path + "/" + file
		}
		var ok bool
		if f, ok = a.File(file); !ok {
			_, err := step.Ref{Step: ref.Step, Output: ref.Output, Path: file}.In(a)
			if file == "" || err == nil {
				err = fmt.Errorf(`%s is a tree: write json(…, "FILE:FIELD")`, ref)
			}
			return cty.DynamicVal, err
		}
		name, field = r.String(), rest
	}
	if f.Size > syntax.MaxFile {
		return cty.DynamicVal, fmt.Errorf("%s has %d bytes; values are read of files of up to %d MiB", name, f.Size, syntax.MaxFile>>20)
	}
	text, err := read(f)
	if err != nil {
		return cty.DynamicVal, err
	}
	if err := deep(string(text)); err != nil {
		return cty.DynamicVal, err
	}
	at, err := exactJSON(text)
	if err != nil {
		return cty.DynamicVal, fmt.Errorf("%s %w", name, err)
	}
	if field == "" || field == "." {
		return FromTree(at), nil
	}
	for w := step.WalkPath(field); w.Next(); {
		if at, err = w.In(at); err != nil {
			return cty.DynamicVal, fmt.Errorf("%s: %w", name, err)
		}
	}
	return FromTree(at), nil
}

// exactJSON reads one JSON value, whose numbers keep their digits.
func exactJSON(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("is more than one JSON value")
	}
	return v, nil
}
