package step

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
)

// ofTree calls a function of a kind with a completed tree; zero where the kind does not have it.
func ofTree[T any](s *Spec, ask func(config any) T, tree map[string]any) (said T, err error) {
	if ask == nil {
		return said, nil
	}
	c, err := s.Decode(tree)
	if err != nil {
		return said, err
	}
	return ask(c), nil
}

// ofTask is ofTree of a task's tree.
func ofTask[T any](s *Spec, ask func(config any) T, t Task) (said T, err error) {
	if ask == nil {
		return said, nil
	}
	tree, err := t.Tree()
	if err != nil {
		return said, err
	}
	return ofTree(s, ask, tree)
}

func (s *Spec) config(t Task) (any, error) {
	tree, err := t.Tree()
	if err != nil {
		return nil, err
	}
	return s.Decode(tree)
}

// Decode returns a tree as the kind's configuration type, checked. Errors are Problems, or what the kind's
// Check returned.
func (s *Spec) Decode(tree map[string]any) (any, error) {
	v := reflect.New(s.configType).Elem()
	v.Set(s.defaults)
	if ps := decodeObject(tree, v, s.Attrs, ""); len(ps) > 0 {
		return nil, ps
	}
	c := v.Interface()
	if s.Kind.Check != nil {
		if err := s.Kind.Check(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Complete checks a configuration tree and returns it with defaults filled in. Errors are as of Decode.
func (s *Spec) Complete(tree map[string]any) (map[string]any, error) {
	c, err := s.Decode(tree)
	if err != nil {
		return nil, err
	}
	return encodeObject(reflect.ValueOf(c), s.defaults, s.Attrs, false), nil
}

func NewTask(spec *Spec, tree map[string]any) (Task, error) {
	tree, err := spec.Complete(tree)
	if err != nil {
		return Task{}, err
	}
	t, err := encodeTask(spec.Name, tree)
	if err == nil && t.mayRefer() {
		refs := RefsIn(tree)
		t.refs = &refs
	}
	return t, err
}

// HasCode reports whether a kind takes its code from files beside the pipeline.
func (s *Spec) HasCode() bool { return s.Kind.Code != nil }

// WithCode fills in a tree what the kind's Code does. Other mistakes in the tree are for Complete to report.
func (s *Spec) WithCode(tree map[string]any, files CodeFiles) error {
	if s.Kind.Code == nil {
		return nil
	}
	v := reflect.New(s.configType).Elem()
	v.Set(s.defaults)
	_ = decodeObject(tree, v, s.Attrs, "")
	c, err := s.Kind.Code(v.Interface(), files)
	if err != nil {
		return err
	}
	filled := lists.Filter(s.Attrs, func(a Attr) bool { return tree[a.Name] == nil && !a.Type.HasInput() })
	maps.Copy(tree, encodeObject(reflect.ValueOf(c), s.defaults, filled, false))
	return nil
}

// Output finds a declared output.
func (s *Spec) Output(name string) (Output, bool) {
	i := slices.IndexFunc(s.Outputs, func(o Output) bool { return o.Name == name })
	if i < 0 {
		return Output{}, false
	}
	return s.Outputs[i], true
}

// Declared returns the outputs of a task, with the Fields that its configuration gives them.
func (s *Spec) Declared(t Task) []Output {
	fields, err := ofTask(s, s.Kind.Declares, t)
	if err != nil || fields == nil {
		return s.Outputs
	}
	outputs := slices.Clone(s.Outputs)
	for i, o := range outputs {
		if f := fields[o.Name]; f != nil {
			outputs[i].Fields = f
		}
	}
	return outputs
}

// Leaves names the files of an output of a task; false if only a run can tell. Folders whose files only a
// run can tell end in "/".
func (s *Spec) Leaves(t Task, output string) ([]string, bool) {
	all, err := ofTask(s, s.Kind.Leaves, t)
	names, ok := all[output]
	return names, err == nil && ok
}

// Rules returns how each output of a task is compared, by name. A configuration that the kind does not take
// is an error.
func (s *Spec) Rules(t Task) (map[string]Alike, error) {
	rules := make(map[string]Alike, len(s.Outputs))
	for _, o := range s.Outputs {
		rules[o.Name] = o.Rule()
	}
	own, err := ofTask(s, s.Kind.Alike, t)
	if err != nil {
		return nil, err
	}
	maps.Copy(rules, own)
	return rules, nil
}

// ClassOf names the class of tasks that are expected to take equally long, if no better estimate is at hand.
func (s *Spec) ClassOf(t Task) string {
	var attrs map[string]json.RawMessage
	if s.Kind.Class == "" || json.Unmarshal(t.Config, &attrs) != nil {
		return s.Name
	}
	return s.Name + " " + string(attrs[s.Kind.Class])
}

// Work returns what a task does, by its configuration; zero if its kind does not say.
func (s *Spec) Work(t Task) Work {
	w, _ := ofTask(s, s.Kind.Work, t) // a run reports the error
	return w
}

// Lint reports what in a task's configuration is allowed but hardly meant.
func (s *Spec) Lint(t Task) []Problem {
	problems, _ := ofTask(s, s.Kind.Lint, t)
	return problems
}

// Unkeyed names what a task's program loads that its key does not have.
func (s *Spec) Unkeyed(t Task) []string {
	if t.unkeyed != nil {
		return *t.unkeyed
	}
	names, _ := ofTask(s, s.Kind.Unkeyed, t)
	return names
}

// Reads names the fields of JSON inputs that a completed tree's task will read.
func (s *Spec) Reads(tree map[string]any) ([]Read, error) { return ofTree(s, s.Kind.Reads, tree) }

// Cells names the numbers and texts that a completed tree's task leaves; nil for kinds without Cells.
func (s *Spec) Cells(tree map[string]any) ([]string, error) { return ofTree(s, s.Kind.Cells, tree) }

// CellNames lists the cells of other blocks that a completed tree names.
func (s *Spec) CellNames(tree map[string]any) ([]CellName, error) {
	return ofTree(s, s.Kind.Names, tree)
}

// HasPins reports whether tasks of this kind find out checksums of sources.
func (s *Spec) HasPins() bool { return s.Kind.Pins != nil }

// Pins returns the checksums that a finished task found out about its sources.
func (s *Spec) Pins(t Task, outputs map[string]artifacts.Artifact) ([]Pin, error) {
	if s.Kind.Pins == nil {
		return nil, nil
	}
	return ofTask(s, func(c any) []Pin { return s.Kind.Pins(c, outputs) }, t)
}

// Splits reports whether work of this kind is cut into parts.
func (s *Spec) Splits() bool { return s.Kind.Split != nil }

// Elsewhere reports whether the second program computes a task, since this one cannot.
func (s *Spec) Elsewhere(tree map[string]any) (bool, error) {
	if s.Computable() {
		return false, nil
	}
	return ofTree(s, s.elsewhere, tree)
}

func (s *Spec) elsewhere(c any) bool { return s.Kind.Run == nil || s.Unless != nil && !s.Unless(c) }

// Computable reports whether this program computes all tasks of the kind.
func (s *Spec) Computable() bool { return s.Kind.Run != nil && s.Kind.Unless == nil }

// NeedsSecond reports whether the second program computes a step of the configuration, or a part, of any
// configuration, that the step may be cut into.
func (s *Spec) NeedsSecond(tree map[string]any) bool {
	if elsewhere, err := s.Elsewhere(tree); err != nil || elsewhere {
		return err == nil
	}
	return slices.ContainsFunc(s.Kind.Parts, func(p Spec) bool { return p.Kind.Run == nil })
}

// SecondFor returns what steps of the kind, or their parts, need the second program for; "" if for nothing.
func (s *Spec) SecondFor() string {
	needs := s.Needs
	for _, p := range s.Kind.Parts {
		needs = cmp.Or(needs, p.Needs)
	}
	return needs
}

// DeviceOf returns where a task is to compute: "cpu", "auto", "cuda", "cuda:1"; "" for kinds without Device.
func (s *Spec) DeviceOf(tree map[string]any) (string, error) { return ofTree(s, s.Kind.Device, tree) }

// Fingerprint returns a text that is equal in two programs with the same version and attributes of a kind.
func (s *Spec) Fingerprint() string {
	b, err := json.Marshal(s.Attrs)
	if err != nil {
		panic(err) // a schema is made of texts, numbers and lists
	}
	return fmt.Sprintf("%d %x", s.Version, sha256.Sum256(b))
}

// Registry is the explicit list of kinds that a program knows.
type Registry struct {
	specs  []Spec
	byName map[string]*Spec
}

// NewRegistry lists the given kinds, each followed by its parts. Two kinds with the same name are a
// programming error and panic.
func NewRegistry(kinds ...Spec) *Registry {
	r := &Registry{byName: map[string]*Spec{}}
	for _, k := range kinds {
		r.specs = append(append(r.specs, k), k.Kind.Parts...)
	}
	for i := range r.specs {
		s := &r.specs[i]
		if r.byName[s.Name] != nil {
			panic(fmt.Sprintf("kind %q is listed twice", s.Name))
		}
		r.byName[s.Name] = s
	}
	return r
}

// Kinds returns the kinds, and their parts after them, in the order of the list.
func (r *Registry) Kinds() []Spec { return r.specs }

// Lookup finds a kind by name; nil if there is none.
func (r *Registry) Lookup(name string) *Spec { return r.byName[name] }

// Half is the computing half of a declared kind, which only the second program has.
type Half struct {
	kind       string
	configType reflect.Type
	run        func(context.Context, *IO, any) error
}

// Compute returns the half of a kind that is declared with Needs. Another configuration than the kind's is a
// programming error and panics.
func Compute[C any](declared Spec, run func(ctx context.Context, io *IO, c C) error) Half {
	h := Half{declared.Name, reflect.TypeFor[C](), func(ctx context.Context, io *IO, c any) error { return run(ctx, io, c.(C)) }}
	if declared.Needs == "" || declared.configType != h.configType {
		panic(fmt.Sprintf("kind %q is computed by redsi itself, or has another configuration than %s", declared.Name, h.configType))
	}
	return h
}

// WithHalves returns the kinds, and their parts, with the halves. A half without a kind is left out: a
// program may have fewer kinds.
func WithHalves(kinds []Spec, halves ...Half) []Spec {
	of := map[string]Half{}
	for _, h := range halves {
		of[h.kind] = h
	}
	var join func(list []Spec) []Spec
	join = func(list []Spec) []Spec {
		var out []Spec
		for _, s := range list {
			if h, ok := of[s.Name]; ok && h.configType == s.configType {
				s.Kind.Run, s.Kind.Unless = h.run, nil
			}
			s.Kind.Parts = join(s.Kind.Parts)
			out = append(out, s)
		}
		return out
	}
	return join(kinds)
}

// Split cuts a task into parts; nil for kinds that do not split.
func (s *Spec) Split(ctx context.Context, io *IO, tree map[string]any) ([]Task, error) {
	if s.Kind.Split == nil {
		return nil, nil
	}
	c, err := s.Decode(tree)
	if err != nil {
		return nil, Permanent(err)
	}
	return s.Kind.Split(ctx, io, c)
}

// Known lists the files of a task's outputs that are trees, as far as its parts have results.
func (s *Spec) Known(io *IO, tree map[string]any, parts []*artifacts.Result) (map[string][]artifacts.File, error) {
	if s.Kind.Known == nil {
		return nil, nil
	}
	known, err := ofTree(s, func(c any) map[string][]artifacts.File { return s.Kind.Known(io, c, parts) }, tree)
	return known, Permanent(err)
}

// Run runs a task without Refs in this program: see Elsewhere.
func (s *Spec) Run(ctx context.Context, io *IO, tree map[string]any) error {
	c, err := s.Decode(tree)
	if err != nil {
		return Permanent(err)
	}
	if s.elsewhere(c) {
		return Permanent(fmt.Errorf("kind %s needs %s, which this program does not have", s.Name, s.Needs))
	}
	return s.Kind.Run(ctx, io, c)
}

// Stage fills the folder dir with what a run of the task would find there: read-only inputs, and files. For a
// kind without Stage it does nothing and returns nil.
func (s *Spec) Stage(ctx context.Context, io *IO, tree map[string]any, dir string) (*Program, error) {
	if s.Kind.Stage == nil {
		return nil, nil
	}
	c, err := s.Decode(tree)
	if err != nil {
		return nil, Permanent(err)
	}
	p, err := s.Kind.Stage(ctx, io, c, dir)
	return &p, err
}
