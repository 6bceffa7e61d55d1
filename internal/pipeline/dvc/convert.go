package dvc

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline"
)

// Converted is a pipeline and what it lacks.
type Converted struct {
	Pipeline []byte   `json:"-"`
	Steps    int      `json:"steps"`          // of stages; one with foreach or matrix has several
	Notes    []string `json:"not_taken_over"` // in words
}

type conversion struct {
	dir     string
	scope   *pipeline.Scope
	names   map[string]string    // of templates, to the expression for each
	local   map[string]cty.Value // the pipeline's local values
	locals  map[string]string    // and their expressions
	stages  []*stage
	lock    string          // the text of dvc.lock
	sources strings.Builder // blocks for data that no stage makes
	failed  error           // the first template without a value
	notes   string          // comments on what belongs to no stage
	out     *Converted
}

// stage is a stage, or all of one with foreach or matrix.
type stage struct {
	name, label, wdir string
	body              map[string]any
	each              string // expression of for_each; "" without
	list              []instance
	outs              []string        // in quotes, from the folder of dvc.yaml
	rows              strings.Builder // of its table
	columns           map[string]bool // whether each is a whole number, by its path in the file
	notes             []string
}

type instance struct {
	key  string
	each cty.Value // NilVal without foreach and matrix
	made []string  // the paths of outs
}

// Convert reads a dvc.yaml, and of the files beside it those of parameters, metrics and plots.
// The pipeline belongs into the same folder.
func Convert(file string) (*Converted, error) {
	written, err := pipeline.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := &conversion{dir: filepath.Dir(file), names: map[string]string{"item": "each.value", "key": "each.key"}, local: map[string]cty.Value{}, locals: map[string]string{}, out: &Converted{Notes: []string{}}}
	c.scope, _, _ = pipeline.Open(map[string][]byte{filepath.ToSlash(filepath.Join(c.dir, pipeline.DefaultFile)): nil}, pipeline.Options{ReadFile: pipeline.ReadFile})
	doc, err := c.plain(decoded(filepath.Base(file)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	top, _ := doc.(map[string]any)
	stages, _ := top["stages"].(map[string]any)
	if len(stages) == 0 {
		return nil, fmt.Errorf("%s has no stages", file)
	}
	if err := c.variables(entries(top["vars"])); err != nil {
		return nil, fmt.Errorf("%s: vars: %w", file, err)
	}
	lock, _ := os.ReadFile(filepath.Join(c.dir, "dvc.lock")) // it need not be there
	c.lock = string(lock)
	place := func(name string) int {
		at := regexp.MustCompile(`(?m)^[ \t]+["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*:`).FindIndex(written)
		return append(at, len(written))[0]
	}
	for _, name := range slices.SortedFunc(maps.Keys(stages), func(a, b string) int { return place(a) - place(b) }) {
		err := c.addStage(name, stages[name])
		if err = cmp.Or(c.failed, err); err != nil {
			return nil, fmt.Errorf("%s: stage %s: %w", file, name, err)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(top)) {
		if !slices.Contains([]string{"stages", "vars", "params", "metrics", "plots"}, k) {
			c.note(nil, "%s, at the top", k)
		}
	}
	var steps, b strings.Builder
	shown := c.show(top)
	for _, s := range c.stages {
		steps.WriteString(c.step(s))
	}
	if c.failed != nil {
		return nil, fmt.Errorf("%s: %w", file, c.failed)
	}
	fmt.Fprintf(&b, "# The stages of %s, by redsi init --from %[1]s. Steps start in a folder of their own: each\n# puts its inputs where the stage had them, and moves what it made to out.\n%[2]s\nlocals {\n", filepath.Base(file), c.notes)
	text := c.sources.String() + steps.String() + shown
	for _, name := range slices.Sorted(maps.Keys(c.locals)) {
		if strings.Contains(text+c.locals["vars"], "local."+name) {
			fmt.Fprintf(&b, "%s = %s\n", name, c.locals[name])
		}
	}
	c.out.Pipeline = hclwrite.Format([]byte(strings.Replace(b.String()+"}\n\n", "locals {\n}\n\n", "", 1) + strings.TrimSpace(text) + "\n"))
	return c.out, nil
}

// note says what is not taken over, in the list and before the step.
func (c *conversion) note(s *stage, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s != nil {
		if slices.Contains(s.notes, text) {
			return
		}
		s.notes = append(s.notes, text)
		text = s.name + ": " + text
	} else {
		c.notes += "# Not taken over: " + text + "\n"
	}
	c.out.Notes = append(c.out.Notes, text)
}

// variables names what templates may have: the parameters of params.yaml and of the files in
// vars, and the values there.
func (c *conversion) variables(vars []any) error {
	own := map[string]any{}
	if c.exists("params.yaml") {
		vars = append([]any{"params.yaml"}, vars...)
	}
	for _, v := range vars {
		if values, ok := v.(map[string]any); ok {
			maps.Copy(own, values)
			continue
		}
		file, _, _ := strings.Cut(fmt.Sprint(v), ":")
		of, err := c.params(path.Clean(file))
		if err != nil {
			return err
		}
		for name := range c.local[strings.TrimPrefix(of, "local.")].Type().AttributeTypes() {
			c.names[name] = of + "." + name
		}
	}
	if len(own) == 0 {
		return nil
	}
	c.locals["vars"] = c.literal(nil, own)
	var err error
	c.local["vars"], err = c.value(c.locals["vars"], cty.NilVal)
	for name := range own {
		c.names[name] = "local.vars." + name
	}
	return err
}

// params is the local value for a file of parameters.
func (c *conversion) params(file string) (string, error) {
	v, err := c.value(decoded(file), cty.NilVal)
	if err == nil && v.IsNull() { // it is empty
		v = cty.EmptyObjectVal
	} else if err == nil && !v.Type().IsObjectType() {
		err = fmt.Errorf("%s has no names at its top", file)
	}
	name := label(file)
	if file == "params.yaml" {
		name = "params"
	}
	c.locals[name], c.local[name] = decoded(file), v
	return "local." + name, err
}

// decoded is the expression for what a file has.
func decoded(file string) string {
	f := map[string]string{".json": "jsondecode", ".toml": "tomldecode"}[path.Ext(file)]
	if f == "" {
		f = "yamldecode"
	}
	return f + "(file(" + quote(file) + "))"
}

var notWord = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// label is a name in the pipeline for a file or stage.
func label(name string) string {
	s := strings.Trim(notWord.ReplaceAllString(name, "_"), "_")
	if !word.MatchString(s) {
		s = "_" + s
	}
	return s
}

func (c *conversion) exists(file string) bool {
	_, err := os.Stat(filepath.Join(c.dir, filepath.FromSlash(file)))
	return err == nil
}

func (c *conversion) addStage(name string, v any) error {
	s := &stage{name: name, label: label(name), list: []instance{{}}, columns: map[string]bool{}}
	s.body, _ = v.(map[string]any)
	matrix, isMatrix := s.body["matrix"]
	each, isEach := s.body["foreach"]
	switch {
	case isMatrix:
		s.each = "product(" + c.literal(nil, matrix) + ")"
	case isEach:
		s.each = c.literal(nil, each)
		v, err := c.value(s.each, cty.NilVal)
		if err != nil {
			return err
		}
		switch t := v.Type(); {
		case !t.IsTupleType():
		case slices.ContainsFunc(t.TupleElementTypes(), cty.Type.IsObjectType):
			s.each = "{ for i, v in " + s.each + " : tostring(i) => v }"
		default:
			s.each = "toset([for v in " + s.each + " : tostring(v)])"
		}
		s.body, _ = s.body["do"].(map[string]any)
	}
	if s.each != "" {
		all, err := c.value(s.each, cty.NilVal)
		if err == nil && !all.CanIterateElements() {
			err = fmt.Errorf("foreach: want a list or a mapping")
		}
		if err != nil {
			return err
		}
		s.list = nil
		for it := all.ElementIterator(); it.Next(); {
			k, v := it.Element()
			s.list = append(s.list, instance{key: k.AsString(), each: cty.ObjectVal(map[string]cty.Value{"key": k, "value": v})})
		}
	}
	if s.body["cmd"] == nil || len(s.list) == 0 {
		return fmt.Errorf("it has no cmd, or nothing to run it for")
	}
	c.stages = append(c.stages, s)
	c.out.Steps += len(s.list)
	if s.wdir, _ = s.body["wdir"].(string); s.wdir == "" {
		s.wdir = "."
	}
	for _, k := range slices.Sorted(maps.Keys(s.body)) {
		switch k {
		case "cmd", "deps", "params", "outs", "metrics", "plots", "wdir", "desc", "matrix":
		case "frozen":
			c.note(s, "frozen: a step runs again where something that it reads has changed")
		case "always_changed":
			c.note(s, "always_changed: a step without changes is a HIT")
		default:
			c.note(s, "%s", k)
		}
	}
	for _, o := range slices.Concat(entries(s.body["outs"]), entries(s.body["metrics"]), entries(s.body["plots"])) {
		c.output(s, o)
	}
	return nil
}

// known is a text in quotes for an instance.
func (c *conversion) known(quoted string, each cty.Value) string {
	v, err := c.value("tostring("+quoted+")", each)
	if err != nil { // it is noted where the text was made
		return quoted
	}
	return v.AsString()
}

// output adds one of outs, metrics and plots.
func (c *conversion) output(s *stage, o any) {
	name, options := named(o)
	at, ok := c.at(s, name)
	if !ok {
		c.note(s, "output %s: it is outside the folder of dvc.yaml", name)
		return
	}
	s.outs = append(s.outs, at)
	for i, in := range s.list {
		s.list[i].made = append(s.list[i].made, c.known(at, in.each))
	}
	flags, _ := options.(map[string]any)
	for _, k := range []string{"persist", "push", "remote"} {
		if flags[k] != nil {
			c.note(s, "%s of %s: a step begins without its earlier outputs, and all of them are in the store", k, name)
		}
	}
}

// at is a path of a stage in quotes, from the folder of dvc.yaml; false if it leads out.
func (c *conversion) at(s *stage, name string) (string, bool) {
	at := path.Join(s.wdir, name)
	return c.quoted(s, at), !path.IsAbs(name) && at != "." && at != ".." && !strings.HasPrefix(at, "../") && !strings.Contains(name, "://")
}

// path is that of an entry for an instance.
func (c *conversion) path(s *stage, in instance, entry any) string {
	name, _ := named(entry)
	at, _ := c.at(s, name)
	return c.known(at, in.each)
}

// maker finds who leaves a path, as one of its outputs or within one.
func (c *conversion) maker(at string) (*stage, string) {
	for _, s := range c.stages {
		for _, in := range s.list {
			if slices.ContainsFunc(in.made, func(o string) bool { return o == at || strings.HasPrefix(at, o+"/") }) {
				return s, in.key
			}
		}
	}
	return nil, ""
}

// ref is the expression for what an instance leaves.
func (s *stage) ref(key string) string {
	if s.each == "" {
		return "step.command." + s.label + ".out"
	}
	return "step.command." + s.label + "[" + quote(key) + "].out"
}
