// Package dvc turns the stages of a dvc.yaml into the text of a pipeline that runs them, and lists what it could not take
// over. It reads dvc.yaml and files beside it, starts nothing, and must not know how a pipeline is run.
package dvc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/host/tracked"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

type conversion struct {
	ctx     context.Context
	dir     string
	scope   *pipeline.Scope
	local   map[string]cty.Value // the pipeline's local values
	locals  map[string]string    // and their expressions
	top     *stage               // stands for what belongs to no stage
	stages  []*stage
	outputs []output
	leaves  map[string]int     // the first of outputs, by path
	shown   map[string][]entry // metrics and plots among them
	sources string             // blocks for data that no stage makes
	records tracked.Records
	failed  error    // the first template without a value
	notes   []string // what is not taken over
}

// stage is a stage, or all of one with foreach or matrix.
type stage struct {
	name, label, wdir string
	body              map[string]any
	names             map[string]string // of templates, to the expression for each
	each              string            // expression of for_each; "" without
	keys              []string          // of its instances
	all               []cty.Value       // what each is to them
	outs              []string          // templates, from the folder of dvc.yaml
	leaves            []string          // objects of the steps, by the path of what they leave
	files, inputs     map[string]string // expressions by path
	below             map[string]string // expressions for inputs in a folder, by its path
	rows              strings.Builder   // of its table
	columns           map[string]bool   // whether each is an integer, by its path in the file
	notes             string            // comments
}

type output struct {
	*stage
	key, path string
	ref       string // the expression for all that the instance leaves
}

// Convert writes the pipeline of a dvc.yaml, for the same folder, and says what is not taken over.
// A stage that cannot be converted is left out; an error says that none can, or that outputs overlap.
func Convert(ctx context.Context, file string) (text []byte, notes []string, err error) {
	defer func() { err = cmp.Or(ctx.Err(), err) }() // what lacks a value then is no fault of the file
	written, err := syntax.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	c := &conversion{ctx: ctx, records: tracked.Records{}, dir: filepath.Dir(file), leaves: map[string]int{},
		local: map[string]cty.Value{}, locals: map[string]string{}, shown: map[string][]entry{}, top: &stage{names: map[string]string{}, keys: []string{""}, all: []cty.Value{cty.EmptyObjectVal}}, notes: []string{}}
	c.scope, _, _ = pipeline.Open(map[string][]byte{filepath.ToSlash(filepath.Join(c.dir, syntax.DefaultFile)): nil}, pipeline.Options{World: pipeline.World{ReadFile: syntax.ReadFile}, Stop: ctx.Err})
	doc, err := c.plain(parameters(filepath.Base(file)))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	top, _ := doc.(map[string]any)
	stages, _ := top["stages"].(map[string]any)
	if len(stages) == 0 {
		return nil, nil, fmt.Errorf("%s has no stages", file)
	}
	if err := c.variables(entries(top["vars"])); err != nil {
		return nil, nil, fmt.Errorf("%s: vars: %w", file, err)
	}
	place := func(name string) int {
		at := regexp.MustCompile(`(?m)^[ \t]+["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*:`).FindIndex(written)
		return append(at, len(written))[0]
	}
	var failed error
	for _, name := range slices.SortedFunc(maps.Keys(stages), func(a, b string) int { return place(a) - place(b) }) {
		err := c.addStage(name, stages[name])
		if err = cmp.Or(c.failed, err); err != nil {
			failed, c.failed = cmp.Or(failed, fmt.Errorf("%s: stage %s: %w", file, name, err)), nil
			c.note(c.top, "stage %s is left out, and until you write its step others take what lies here as its outputs: %v", name, err)
		}
	}
	if len(c.stages) == 0 {
		return nil, nil, failed
	}
	for i, m := range c.outputs {
		at := path.Dir(m.path)
		if c.leaves[m.path] != i {
			at = m.path
		}
		if of, ok := c.maker(at); ok {
			return nil, nil, fmt.Errorf("%s: outputs overlap, which DVC refuses: %s of %s@%s, and %s of %s@%s; give each a path of its own", file, of.path, of.name, of.key, m.path, m.name, m.key)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(top)) {
		if !slices.Contains([]string{"stages", "vars", "params", "metrics", "plots"}, k) {
			c.note(c.top, "%s, at the top", k)
		}
	}
	var blocks, b strings.Builder
	shown := c.show(top)
	for _, s := range c.stages {
		c.step(&blocks, s)
	}
	if rules, _ := os.ReadFile(filepath.Join(c.dir, ".dvcignore")); c.sources != "" && regexp.MustCompile(`(?m)^[^#\s]`).Match(rules) {
		c.note(c.top, ".dvcignore: a source takes all that its folder has")
	}
	if config, _ := os.ReadFile(filepath.Join(c.dir, ".dvc", "config")); bytes.Contains(config, []byte("[parsing]")) {
		c.note(c.top, "parsing, in .dvc/config: a mapping in a command is written as without it")
	}
	rest := c.sources + blocks.String() + shown
	fmt.Fprintf(&b, "# The stages of %s, by redsi init --from %[1]s. Steps start in a folder of their own: each\n# puts its inputs where the stage had them, and moves what it made to out.\n%[2]s\n", filepath.Base(file), c.top.notes)
	maps.DeleteFunc(c.locals, func(name, _ string) bool { return !strings.Contains(rest+c.locals["vars"], "local."+name) })
	if len(c.locals) > 0 {
		fmt.Fprintf(&b, "locals %s\n\n", block("%s", c.locals))
	}
	return hclwrite.Format([]byte(b.String() + strings.TrimSpace(rest) + "\n")), c.notes, nil
}

// note says what is not taken over, in the list and before the step.
func (c *conversion) note(s *stage, format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
	comment := "# Not taken over: " + text + "\n"
	if strings.Contains(s.notes, comment) {
		return
	}
	s.notes += comment
	c.notes = append(c.notes, strings.TrimPrefix(s.name+": "+text, ": "))
}

// variables names what templates may have: params.yaml, the files in vars, and the values there.
func (c *conversion) variables(vars []entry) (err error) {
	own := map[string]any{}
	if _, err := c.stat("params.yaml"); err == nil {
		vars = append(entries("params.yaml"), vars...)
	}
	for _, v := range vars {
		if !v.bare {
			own[v.name] = v.options
			continue
		}
		file, _, _ := strings.Cut(v.name, ":")
		file = path.Clean(file)
		expr := parameters(file)
		have, err := c.value(expr, c.top)
		switch {
		case err != nil:
			return err
		case have.IsNull(): // it is empty
			have = cty.EmptyObjectVal
		case !have.Type().IsObjectType():
			return fmt.Errorf("%s has no names at its top", file)
		}
		name := cmp.Or(map[string]string{"params.yaml": "params"}[file], label(file))
		c.locals[name], c.local[name] = expr, have
		for key := range have.Type().AttributeTypes() {
			c.top.names[key] = "local." + name + "." + key
		}
	}
	if len(own) > 0 {
		c.locals["vars"] = c.literal(c.top, own)
		c.local["vars"], err = c.value(c.locals["vars"], c.top)
	}
	for name := range own {
		c.top.names[name] = "local.vars." + name
	}
	return err
}

func formatOf(file string) string {
	return cmp.Or(map[string]string{".json": "json", ".toml": "toml"}[path.Ext(file)], "yaml")
}

// parameters is the expression for what a file of parameters has, with numbers as DVC writes them.
func parameters(file string) string {
	return "dvcdecode(file(" + quote(file) + "), " + quote(formatOf(file)) + ")"
}

func decoded(file string) string { return formatOf(file) + "decode(file(" + quote(file) + "))" }

var notWord = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// label is a name in the pipeline for a file or stage.
func label(name string) string {
	s := strings.Trim(notWord.ReplaceAllString(name, "_"), "_")
	if !hclsyntax.ValidIdentifier(s) {
		s = "_" + s
	}
	return s
}

func (c *conversion) stat(file string) (os.FileInfo, error) {
	return os.Stat(filepath.Join(c.dir, filepath.FromSlash(file)))
}

var dropped = map[string]string{
	"frozen":         ": a step runs again where something that it reads has changed",
	"always_changed": ": a step without changes is a HIT",
}

func (c *conversion) addStage(name string, v any) (err error) {
	s := &stage{name: name, label: label(name), names: maps.Clone(c.top.names), keys: c.top.keys, all: c.top.all, columns: map[string]bool{}, files: map[string]string{}, inputs: map[string]string{}, below: map[string]string{}}
	s.body, _ = v.(map[string]any)
	if matrix, ok := s.body["matrix"].(map[string]any); ok {
		delete(s.body, "matrix")
		err = c.matrix(s, matrix)
	} else if each, ok := s.body["foreach"]; ok {
		s.body, _ = s.body["do"].(map[string]any)
		s.each, err = c.items(s, each, "%s", "{ for i, v in %s : tostring(i) => v }", "toset([for v in %s : tostring(v)])")
	}
	if err == nil && s.each != "" {
		var all cty.Value
		if all, err = c.value(s.each, c.top); err == nil {
			s.names["item"], s.keys, s.all = "each.value", nil, nil
			for k, v := range all.Elements() {
				s.keys, s.all = append(s.keys, k.AsString()), append(s.all, cty.ObjectVal(map[string]cty.Value{"key": k, "value": v}))
			}
		}
	}
	if err != nil {
		return err
	}
	if s.body["cmd"] == nil || len(s.keys) == 0 {
		return fmt.Errorf("it has no cmd, or nothing to run it for")
	}
	all, _ := json.Marshal(s.body) // it came from JSON
	if _, err := c.expand(s, c.text(s, string(all), escaped)); cmp.Or(c.failed, err) != nil {
		return err
	}
	c.stages = append(c.stages, s)
	s.wdir, _ = s.body["wdir"].(string)
	for _, k := range slices.Sorted(maps.Keys(s.body)) {
		if !slices.Contains([]string{"cmd", "deps", "params", "outs", "metrics", "plots", "wdir", "desc"}, k) {
			c.note(s, "%s%s", k, dropped[k])
		}
	}
	for _, key := range []string{"outs", "metrics", "plots"} {
		for _, o := range entries(s.body[key]) {
			c.output(s, key, o)
		}
	}
	return nil
}

// matrix is for_each of all combinations. An axis of a mapping has its names.
func (c *conversion) matrix(s *stage, matrix map[string]any) error {
	axes := map[string]any{}
	for name, values := range matrix {
		x, err := c.items(s, values, "keys(%s)", `{ for i, v in %s : "`+escaped(name)+`${i}" => v }`, "%s")
		if err != nil {
			return err
		}
		axes[name] = raw(x)
	}
	s.each, s.names["key"] = "product("+c.literal(s, axes)+")", "each.key"
	if len(axes) > 1 { // DVC's key joins them with -, in the order in which they are written
		s.names["key"] = ""
	}
	return nil
}

// items is an expression of one of three forms: for a mapping (the only one with keys), a list with lists or mappings, others.
func (c *conversion) items(s *stage, v any, mapping, deep, list string) (string, error) {
	x := c.literal(s, v)
	all, err := c.value(x, c.top)
	form := list
	switch t := all.Type(); {
	case err != nil:
	case t.IsObjectType():
		form, s.names["key"] = mapping, "each.key"
	case !t.IsTupleType(), slices.Contains(t.TupleElementTypes(), cty.DynamicPseudoType):
		err = fmt.Errorf("foreach and matrix: want a mapping, or a list without nulls")
	case slices.ContainsFunc(t.TupleElementTypes(), func(t cty.Type) bool { return t.IsObjectType() || t.IsTupleType() }):
		form = deep
	}
	return fmt.Sprintf(form, x), err
}

// output adds one of outs, metrics and plots.
func (c *conversion) output(s *stage, key string, o entry) {
	at, ok := c.at(s, o.name)
	if !ok {
		c.note(s, "output %s: it is outside the folder of dvc.yaml", o.name)
		return
	}
	s.outs = append(s.outs, at)
	expanded, _ := c.expand(s, at) // addStage has tried it
	ref, all := "step.command."+s.label, fmt.Sprintf(`{ "%s" = step.command.%s.out }`, at, s.label)
	if s.each != "" {
		all = fmt.Sprintf(`{ for k, v in %s : "%s" => step.command.%s[k].out }`, s.each, strings.NewReplacer("each.key", "k", "each.value", "v").Replace(at), s.label)
	}
	s.leaves = append(s.leaves, all)
	c.locals["outputs_"+s.label] = merged(s.leaves)
	for i, path := range expanded {
		m := output{s, s.keys[i], path, ref + ".out"}
		if s.each != "" {
			m.ref = ref + "[" + quote(m.key) + "].out"
		}
		if _, ok := c.leaves[path]; !ok {
			c.leaves[path] = len(c.outputs)
		}
		c.outputs = append(c.outputs, m)
		c.shown[key] = append(c.shown[key], entry{name: m.path, options: o.options})
	}
	flags, _ := o.options.(map[string]any)
	for _, k := range []string{"persist", "push", "remote"} {
		if flags[k] != nil {
			c.note(s, "%s of %s: a step begins without its earlier outputs, and all of them are in the store", k, o.name)
		}
	}
}

// at is a path of a stage as a template, from the folder of dvc.yaml; false if it leads out.
func (c *conversion) at(s *stage, name string) (string, bool) {
	at := path.Join(s.wdir, name)
	return c.text(s, at, escaped), filepath.IsLocal(at) && at != "." && !path.IsAbs(name) && !strings.Contains(name, "://")
}

// expand gives what a template is for each instance; the template itself with an error.
func (c *conversion) expand(s *stage, text string) ([]string, error) {
	v, err := c.value(`[for each in all : tostring("`+text+`")]`, s)
	if err != nil {
		return slices.Repeat([]string{text}, len(s.keys)), err
	}
	return lists.Map(v.AsValueSlice(), cty.Value.AsString), nil
}

// maker finds what leaves a path, as an output or within one.
func (c *conversion) maker(at string) (output, bool) {
	i, ok := c.leaves[at]
	if up := path.Dir(at); !ok && up != at {
		return c.maker(up)
	} else if !ok {
		return output{stage: c.top}, false
	}
	return c.outputs[i], true
}
