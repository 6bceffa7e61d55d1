package step

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/redsi/redsi/artifacts"
)

// Queue says which workers run a kind.
type Queue string

// The queues: workers of a class of machines.
const (
	CPU Queue = "cpu"
	GPU Queue = "gpu"
)

// Kind defines a step kind. C is its configuration, a struct whose fields have the tags that Attr documents.
//
// Version is part of every key: raise it when Run writes other bytes for the same configuration and inputs.
type Kind[C any] struct {
	Name     string
	Version  int
	Doc      string // first line: a summary; then what it reads, writes and costs
	Example  string // HCL, shown by `redsi kinds NAME`
	Outputs  []Output
	Defaults C

	// Check reports mistakes that types, enums and ranges cannot, such as exclusive options.
	Check func(C) error

	// Lint, if set, reports what is allowed but hardly meant, for `validate --strict`.
	Lint func(C) []Problem

	// Unkeyed, if set, names what a program loads that no key has although results may depend on it, such
	// as "packages of R". It may look at this machine's programs.
	Unkeyed func(C) []string

	// Code, if set, fills in attributes from files beside the pipeline, such as the sources of a program,
	// when the pipeline is loaded: before Check, and before inputs are known. Its errors are Problems.
	Code func(C, CodeFiles) (C, error)

	// Reads, if set, names the fields of JSON inputs that Run will read. A field that its output does not
	// declare is reported at its place in the pipeline.
	Reads func(C) []Read

	// Cells, if set, names the numbers and texts that a result will have, which other blocks may name.
	Cells func(C) []string

	// Names, if set, lists the cells of other blocks that a configuration names.
	Names func(C) []CellName

	// Declares, if set, returns the Fields of outputs, by name, that depend on the configuration, such as
	// the measures of a score. They replace Output.Fields, which hold for every configuration.
	Declares func(C) map[string]*Fields

	// Leaves, if set, names the files of outputs that are trees, by output, as far as a configuration
	// decides them. A folder whose files it does not decide ends in "/".
	Leaves func(C) map[string][]string

	// Resolve, if set, fills in what configuration does not say before the key is made, such as the pinned
	// checksum of a source.
	Resolve func(ctx context.Context, env Sources, c C) (C, error)

	// Pins, if set, returns the checksums that a run found out about its sources. They go into the lock
	// file, and the result is also filed under the key that Resolve will make with them.
	Pins func(c C, outputs map[string]artifacts.Artifact) []Pin

	// Class, if set, is an attribute whose value decides how long runs take. Without it, all steps of a
	// kind are expected to take equally long.
	Class string

	// Split, if set, cuts the work into tasks of Parts, each cached by its own key and run on any worker;
	// Run then finds their results by IO.Parts. So a step is resumed part by part.
	Split func(ctx context.Context, io *IO, c C) ([]Task, error)
	Parts []Spec // of DefinePart

	// Known, if set, lists the files of outputs that are trees as far as the parts have results (nil: a
	// part has none), so that a plan knows which parts the steps that read them will have.
	Known func(io *IO, c C, parts []*artifacts.Result) map[string][]artifacts.File

	OneByOne bool // parts run one after the other, to spare the server that they ask

	// Run does the work. It reads and writes through io only, is deterministic in its configuration and inputs, and
	// returns Permanent errors for what a retry cannot fix. For a kind with Needs, Compute sets it.
	Run func(ctx context.Context, io *IO, c C) error

	// Stage, if set, fills a folder as Run does for its program, for people who want to look at it there.
	// Such a kind is given the x bits of inputs that are one file of a tree, and its keys have them.
	Stage func(ctx context.Context, io *IO, c C, dir string) (Program, error)

	// Alike, if set, returns the rules that a configuration gives for outputs, by name, in place of
	// Output.Alike. Check has looked at them.
	Alike func(C) map[string]Alike

	// Counts is what the number of a checkpoint counts, such as "step", and CountsTo the attribute with
	// their number, if there is one.
	Counts, CountsTo string

	// Trajectory, if set, names the attributes that decide only how far a run goes, such as a number of updates. Steps
	// that differ only in these share what they keep by IO.Trajectory. None: a step shares with no other.
	Trajectory func(C) []string

	// Work, if set, returns what a configuration does, in units that are measured, for prices of plans.
	Work func(C) Work

	Resumes bool  // it saves how far it is, and continues from there, so that half of it is worth the time
	Inline  bool  // short work, which is done in a batch with other steps
	Block   bool  // written as a table, figure or claim block, not as a step
	Claim   bool  // no work: it says something of cells, and has neither outputs nor Run
	Queue   Queue // default CPU

	// Needs says that the second program computes the kind, and for what: Libtorch or Tokenizers. "": redsi
	// itself does.
	Needs string

	// Unless, if set, reports the configurations of a kind with Needs that redsi's own Run computes.
	Unless func(C) bool

	// Device, if set, returns where it computes: "cpu", "auto", "cuda:1".
	Device func(C) string
}

// Values of Needs: what the second program has and redsi lacks.
const (
	Libtorch   = "libtorch"
	Tokenizers = "tokenizers"
)

// Spec is a Kind with its configuration type erased: the functions of its Kind take what Decode returns.
type Spec struct {
	Kind[any]
	Attrs  []Attr
	Hidden bool   // a part of another kind, not written in HCL
	Family string // the title of the page that documents the kind, such as "Identifiers"

	configType reflect.Type
	defaults   reflect.Value
}

// Define erases a Kind. A definition that cannot work (no name, no help text, a type that has no place in a
// key) is a programming error and panics.
func Define[C any](k Kind[C]) Spec {
	if k.Name == "" || k.Version < 1 || k.Doc == "" || !k.Claim && (k.Run == nil && k.Needs == "" || len(k.Outputs) == 0) {
		panic(fmt.Sprintf("kind %q needs a name, a version, a doc, outputs and a Run, or Needs", k.Name))
	}
	k.Queue = cmp.Or(k.Queue, CPU)
	s := Spec{Kind: erased(k), configType: reflect.TypeOf(k.Defaults), defaults: reflect.ValueOf(k.Defaults)}
	checkAlike(k.Name, k.Outputs)
	s.Attrs = schemaOf(s.configType)
	defaults := encodeObject(s.defaults, s.defaults, s.Attrs, false)
	for i := range s.Attrs {
		if s.Attrs[i].Optional {
			s.Attrs[i].Default = defaults[s.Attrs[i].Name]
		}
	}
	return s
}

// erased returns the kind with functions that take, and return, its configuration as any.
func erased[C any](k Kind[C]) (out Kind[any]) {
	typed, plain := reflect.ValueOf(k), reflect.ValueOf(&out).Elem()
	config := reflect.TypeFor[C]()
	for i := range typed.NumField() {
		f, to := typed.Field(i), plain.Field(i)
		if f.Kind() != reflect.Func {
			to.Set(f)
		} else if !f.IsNil() {
			to.Set(reflect.MakeFunc(to.Type(), func(args []reflect.Value) []reflect.Value {
				for n := range args {
					if f.Type().In(n) == config {
						args[n] = args[n].Elem()
					}
				}
				said := f.Call(args)
				for n := range said {
					said[n] = said[n].Convert(to.Type().Out(n))
				}
				return said
			}))
		}
	}
	// Functions that every plan calls for each step are called without reflection.
	if k.Check != nil {
		out.Check = func(c any) error { return k.Check(c.(C)) }
	}
	if k.Resolve != nil {
		out.Resolve = func(ctx context.Context, env Sources, c any) (any, error) { return k.Resolve(ctx, env, c.(C)) }
	}
	if k.Unkeyed != nil {
		out.Unkeyed = func(c any) []string { return k.Unkeyed(c.(C)) }
	}
	return out
}

// Form describes a block that is no step by the tags of C, as Define does a step. It is in no registry and
// no key. check may be nil.
func Form[C any](check func(C) error) *Spec {
	t := reflect.TypeFor[C]()
	return &Spec{configType: t, defaults: reflect.Zero(t), Attrs: schemaOf(t), Kind: erased(Kind[C]{Check: check})}
}

// Part is a kind of the parts that steps are cut into: it is in no pipeline, but has results, keys and a
// version of its own.
type Part[C any] struct{ Spec }

// DefinePart is Define for parts.
func DefinePart[C any](k Kind[C]) Part[C] {
	s := Define(k)
	s.Hidden = true
	return Part[C]{s}
}

// Task returns a part of the work, for Split.
func (p Part[C]) Task(c C) (Task, error) {
	return encodeTask(p.Name, encodeObject(reflect.ValueOf(c), reflect.Value{}, p.Attrs, false))
}

// OwnFolder is where a staged folder has files that a run would not find there.
const OwnFolder = ".step"

// Program is what a kind runs in a folder, for a person to run it there too.
type Program struct {
	Argv    []string          `json:"argv"`
	Env     map[string]string `json:"env"`
	Secrets []string          `json:"secrets,omitempty"` // further variables, whose values are not told
	Stdin   string            `json:"stdin,omitempty"`   // a file in the folder; "" is nothing
	Note    string            `json:"note,omitempty"`    // how a run of the step differs from running it by hand
}
