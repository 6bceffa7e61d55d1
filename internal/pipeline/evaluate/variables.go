package evaluate

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

func (f *frame) setVariables(from Given) {
	given := f.values(from)
	for name, v := range f.variables {
		g, ok := given[name]
		switch {
		case ok:
			v.value, v.local, v.given = f.settled(g, v.Variable), g.local, true
		case v.Optional:
			v.value = v.Fallback
		case v.Sensitive:
			f.Lacks.Secrets = true
			f.Diags.Error(v.Range, "Variable without a value",
				fmt.Sprintf("var.%s is sensitive, so neither the pipeline nor a saved plan has its value. Set %s%s in the environment, or give it with --var-file or --var.", name, EnvPrefix, name))
		default:
			f.Diags.Error(v.Range, "Variable without a value",
				fmt.Sprintf("var.%s has no default. Give it a value with --var %s=…, in a --var-file, or in the environment as %s%s.", name, name, EnvPrefix, name))
		}
	}
	secrets := map[string]cty.Value{}
	for name, v := range f.variables {
		if v.Sensitive {
			secrets[name] = v.value
			v.value = v.value.Mark(language.Sensitive(name))
		}
	}
	f.Secrets = secrets
	f.validateAll()
	for name := range secrets { // a refused value is unknown now
		secrets[name], _ = f.variables[name].value.Unmark()
	}
}

func (f *frame) validateAll() {
	all := slices.Collect(maps.Values(f.variables))
	for _, v := range lists.Filter(all, func(v *setting) bool { return !f.validate(v) }) {
		v.value = cty.DynamicVal // what follows from a refused value is not news
	}
}

// validate runs a variable's validation blocks, which may refer to variables; false: a block refuses the value.
func (f *frame) validate(v *setting) bool {
	allowed := true
	for _, c := range v.Checks {
		if f.links.Bad[c.Condition] || !v.value.IsWhollyKnown() {
			continue
		}
		sc := f.sees(f.context(syntax.Dir(v.Range.Filename)), nil)
		ok, _ := sc.Value(c.Condition).Unmark()
		if !ok.IsKnown() {
			continue
		}
		ok, err := convert.Convert(ok, cty.Bool)
		if err != nil || ok.IsNull() {
			f.Diags.Error(c.Condition.Range(), "Wrong type", "A condition is true or false.")
			continue
		}
		if ok.True() {
			continue
		}
		detail := fmt.Sprintf("The value of var.%s is not shown, as it is sensitive.", v.Name)
		switch {
		case v.Sensitive || language.SensitiveIn(v.value) != "":
		case language.HoldsArtifact(v.value.Type()):
			detail = fmt.Sprintf("The value of var.%s contains an artifact.", v.Name)
		default:
			value := v.argument()
			if n := len(value); n > syntax.Long {
				value = fmt.Sprintf("%s… (%d bytes)", value[:syntax.Runes(value, syntax.Shown)], n)
			}
			detail = fmt.Sprintf("The value of var.%s is %s.", v.Name, value)
		}
		if m := sc.Open(sc.Value(c.Message), c.Message.Range()); m.IsKnown() && !m.IsNull() && m.Type() == cty.String {
			detail = m.AsString() + "\n" + detail
		}
		f.Diags.Error(v.Range, "Value not allowed", detail, syntax.Place{Range: c.Condition.Range(), Text: "this condition is false"})
		allowed = false
	}
	return allowed
}

func (v *setting) argument() string {
	if v.Type == cty.String && v.value.Type() == cty.String {
		return v.value.AsString()
	}
	return strings.TrimSpace(string(hclwrite.TokensForValue(v.value).Bytes()))
}

// Values returns the values of the variables, also in the form that --var takes.
func (o *Opened) Values() (of Values, vars map[string]string) {
	of, vars = Values{Vars: map[string]json.RawMessage{}, Secrets: map[string]string{}}, map[string]string{}
	for _, name := range syntax.Keys(o.f.variables) {
		v := o.f.variables[name]
		if v.local {
			of.Local = append(of.Local, name)
		}
		if v.Sensitive {
			open := *v
			if open.value, _ = v.value.Unmark(); !open.value.IsNull() {
				of.Secrets[name] = open.argument()
			}
			continue
		}
		b, err := ctyjson.Marshal(v.value, v.value.Type())
		if err != nil {
			panic(fmt.Sprintf("var.%s: %v", name, err)) // values of variables are constants
		}
		of.Vars[name] = b
		if !v.value.IsNull() {
			vars[name] = v.argument()
		}
		if !v.Optional || !v.value.RawEquals(v.Fallback) {
			of.Given = append(of.Given, name)
		}
	}
	return of, vars
}

// argument is the value that a module's variable is given.
type argument struct {
	value     cty.Value
	rng, name hcl.Range
}

func (f *frame) setArguments(m *declare.Call, arguments map[string]argument) {
	for _, name := range syntax.Keys(arguments) {
		if f.variables[name] == nil {
			f.Diags.Error(arguments[name].name, "Undeclared variable",
				fmt.Sprintf("The module has no variable %q. %s", name, syntax.Suggest(name, syntax.Keys(f.variables), "variable")))
		}
	}
	for _, name := range syntax.Keys(f.variables) {
		v := f.variables[name]
		a, given := arguments[name]
		switch {
		case given && !(a.value.IsKnown() && a.value.IsNull() && v.Optional):
			v.value = f.argumentOf(v, a)
		case v.Optional:
			v.value = v.Fallback
		default:
			f.Diags.Error(m.DefRange(), "Variable without a value",
				fmt.Sprintf("The module's var.%s has no default. Give it a value: %s = ….", name, name), syntax.Place{Range: v.Range, Text: "declared here"})
		}
	}
	f.validateAll()
}

// argumentOf converts an argument to the variable's type. A sensitive variable takes another one's value unchanged.
func (f *frame) argumentOf(v *setting, a argument) cty.Value {
	if _, unchanged := f.WholeVariable(a.value); v.Sensitive && a.value.IsKnown() && !unchanged {
		f.Diags.Error(a.rng, "Not a sensitive variable",
			fmt.Sprintf("The module's var.%s is sensitive, so it takes only the unchanged value of a sensitive variable of the pipeline: no file may have its value.", v.Name), syntax.Place{Range: v.Range, Text: "declared here"})
		return cty.DynamicVal
	}
	if a.value.Type() == cty.DynamicPseudoType && !a.value.IsKnown() {
		return a.value // reported
	}
	return fitted(f.Diags, v.Variable, a.value, a.rng, "the module's ")
}

// fitted converts a value to the type of a variable, whose owner messages name; a misfit is reported, and unknown.
func fitted(d *syntax.Collector, v *declare.Variable, value cty.Value, rng hcl.Range, owner string) cty.Value {
	out, err := convert.Convert(value, v.Type)
	if err != nil {
		hint := "Give it one of that type, or change type = … of the variable."
		if language.HoldsArtifact(value.Type()) {
			hint = "A variable that takes artifacts has type = any."
		}
		d.Error(rng, "Wrong type", fmt.Sprintf("The value does not fit the type of %svar.%s, %s: %s. %s", owner, v.Name, typeexpr.TypeString(v.Type), err, hint),
			syntax.Place{Range: v.Range, Text: "declared here"})
		return cty.DynamicVal
	}
	return out
}

// EnvPrefix starts the name of an environment variable that sets a variable.
const EnvPrefix = "REDSI_VAR_"

// given is a value from outside: a text to be parsed by the variable's type, or an expression of a variable file.
type given struct {
	name  string
	rng   hcl.Range
	text  string
	expr  hcl.Expression
	local bool // of Options.Local
}

// Given is where variables get their values, strongest first.
type Given struct {
	Vars     map[string]string // --var NAME=VALUE
	VarFiles []syntax.File     // --var-file, later ones win
	Env      []string          // REDSI_VAR_NAME=VALUE among others, as os.Environ gives them
	Local    []syntax.File     // of a LocalFile, later ones win
}

// values collects the strongest value that each variable is given, and reports values of undeclared variables.
func (f *frame) values(from Given) map[string]given {
	declared := syntax.Keys(f.decl.Variables)
	m := map[string]given{}
	set := func(list []given, local bool) {
		for _, g := range list {
			g.local = local
			m[g.name] = g
		}
	}
	for _, file := range from.Local {
		set(f.variableFile(file), true)
	}
	environment := map[string]string{}
	for _, e := range from.Env {
		name, value, ok := strings.Cut(e, "=")
		if v, has := strings.CutPrefix(name, EnvPrefix); ok && has {
			environment[v] = value
		}
	}
	for _, g := range f.lines("environment", EnvPrefix, environment) {
		// A variable that only other pipelines have is no error.
		if f.decl.Variables[g.name] != nil {
			m[g.name] = g
		} else if near := syntax.Nearest(g.name, declared); near != "" {
			f.Diags.Warn(g.rng, "Undeclared variable", fmt.Sprintf("The pipeline has no variable %q. Did you mean %q?", g.name, near))
		}
	}
	for _, file := range from.VarFiles {
		set(f.variableFile(file), false)
	}
	set(f.lines("--var", "", from.Vars), false)
	for name, g := range m {
		if f.decl.Variables[name] == nil {
			f.Diags.Error(g.rng, "Undeclared variable",
				fmt.Sprintf("The pipeline has no variable %q. %s Leave the value out, or declare it: variable %[1]q {}.", name, syntax.Suggest(name, declared, "variable")))
		}
	}
	return m
}

// lines writes NAME=VALUE lines, each behind a prefix, for diagnostics to quote. What is, or may be meant to be,
// sensitive is hidden.
func (f *frame) lines(source, prefix string, values map[string]string) []given {
	var text strings.Builder
	list := make([]given, len(values))
	for i, n := range syntax.Keys(values) {
		value := strings.NewReplacer("\n", " ", "\r", " ").Replace(values[n])
		if v := f.decl.Variables[n]; v != nil && v.Sensitive || v == nil && f.decl.AnySensitive() {
			value = "…"
		}
		line := prefix + n + "=" + value
		start := hcl.Pos{Line: i + 1, Column: 1, Byte: text.Len()}
		end := hcl.Pos{Line: i + 1, Column: 1 + len(line), Byte: text.Len() + len(line)}
		list[i] = given{name: n, text: values[n], rng: hcl.Range{Filename: source, Start: start, End: end}}
		text.WriteString(line + "\n")
	}
	if len(list) > 0 {
		f.Diags.Sources[source] = []byte(text.String())
	}
	return list
}

// variableFile reads NAME = VALUE attributes of HCL, or the names at the top of JSON, YAML or TOML, by the file's ending.
func (f *frame) variableFile(from syntax.File) []given {
	if !f.decl.AnySensitive() { // else no line of it is quoted
		f.Diags.Sources[from.Name] = from.Bytes
	}
	switch strings.ToLower(path.Ext(from.Name)) {
	case ".yaml", ".yml":
		return f.dataFile(from, "YAML", language.DecodeYAML)
	case ".toml":
		return f.dataFile(from, "TOML", language.DecodeTOML)
	}
	start := hcl.Range{Filename: from.Name, Start: hcl.InitialPos, End: hcl.InitialPos}
	var file *hcl.File
	var ds hcl.Diagnostics
	switch {
	case !syntax.CheckSource(from.Name, from.Bytes, f.Diags):
		return nil
	case strings.HasSuffix(from.Name, ".json"):
		file, ds = hcljson.Parse(from.Bytes, from.Name)
	default:
		file, ds = hclsyntax.ParseConfig(from.Bytes, from.Name, hcl.InitialPos)
	}
	f.Diags.HCL(ds, start)
	if ds.HasErrors() {
		return nil
	}
	if b, ok := file.Body.(*hclsyntax.Body); ok {
		hclsyntax.VisitAll(b, syntax.UnixLines)
	}
	attrs, ds := file.Body.JustAttributes()
	f.Diags.HCL(ds, start)
	var list []given
	for name, a := range attrs {
		list = append(list, given{name: name, rng: a.Range, expr: a.Expr})
	}
	return list
}

// dataFile is variableFile for formats of other tools.
func (f *frame) dataFile(from syntax.File, format string, decode func([]byte) (cty.Value, error)) (list []given) {
	fail := func(line int, detail string) []given {
		f.Diags.Error(syntax.Line(from, line), "Wrong variable file", fmt.Sprintf("%s is not the %s that it should be: %s.", from.Name, format, detail))
		return nil
	}
	if len(from.Bytes) > syntax.MaxSource {
		return fail(1, fmt.Sprintf("it has %d bytes; a variable file may have %d", len(from.Bytes), syntax.MaxSource))
	}
	text, err := language.CheckedText(from.Name, from.Bytes)
	var v cty.Value
	if err == nil {
		v, err = decode(from.Bytes)
	}
	if err != nil {
		line := 1
		_, _ = fmt.Sscanf(err.Error(), "line %d:", &line) // if the error has it
		return fail(line, err.Error())
	}
	if v.IsNull() { // it is empty
		return nil
	}
	if !v.Type().IsObjectType() {
		return fail(1, "it has no variables at its top, such as name: value")
	}
	for name, value := range v.AsValueMap() {
		rng := syntax.Line(from, 1)
		key := regexp.MustCompile(`(?m)^\[*[ \t]*["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*[:=.\]]`)
		if at := key.FindStringIndex(text); at != nil {
			rng = syntax.Line(from, 1+strings.Count(text[:at[0]], "\n"))
		}
		list = append(list, given{name: name, rng: rng, expr: hcl.StaticExpr(value, rng)})
	}
	return list
}

// settled is the value that a variable is given; unknown if it is wrong.
func (f *frame) settled(g given, v *declare.Variable) cty.Value {
	var val cty.Value
	switch {
	case g.expr != nil:
		var ds hcl.Diagnostics
		val, ds = g.expr.Value(nil)
		f.Diags.HCL(ds, g.rng)
		if ds.HasErrors() {
			return cty.DynamicVal
		}
		if val.IsNull() { // as if it were not given
			if !v.Optional {
				f.Diags.Error(g.rng, "Variable without a value", fmt.Sprintf("var.%s has no default, so it cannot be null.", v.Name))
			}
			return v.Fallback
		}
	case v.Type.IsPrimitiveType():
		if syntax.NotNFC([]byte(g.text)) > 0 {
			f.Diags.Error(g.rng, "Text not in NFC",
				fmt.Sprintf("The value of var.%s is not in Unicode's form NFC, such as a letter with an accent that is a character of its own. Give it in NFC, or let a step read it as an input.", v.Name))
			return cty.DynamicVal
		}
		val = cty.StringVal(g.text)
	default:
		var ok bool
		if val, ok = f.parseValue(g); !ok {
			return cty.DynamicVal
		}
	}
	tooLarge := language.Measure(val)
	if tooLarge == nil && v.Type == cty.Number && val.Type() == cty.String && val.IsKnown() && !val.IsNull() {
		tooLarge = syntax.LongNumber(val.AsString())
	}
	if tooLarge != nil {
		f.Diags.Error(g.rng, tooLarge.Summary, tooLarge.Detail)
		return cty.DynamicVal
	}
	return fitted(f.Diags, v, val, g.rng, "")
}

func (f *frame) parseValue(g given) (cty.Value, bool) {
	if !syntax.CheckSource(g.rng.Filename, []byte(g.text), f.Diags) {
		return cty.DynamicVal, false
	}
	e, ds := hclsyntax.ParseExpression([]byte(g.text), g.rng.Filename, g.rng.Start)
	v := cty.DynamicVal
	if !ds.HasErrors() {
		v, ds = e.Value(nil)
	}
	if ds.HasErrors() {
		f.Diags.Error(g.rng, "Not a value",
			fmt.Sprintf("%s Write it as in a pipeline file, for example --var '%s=[\"a\", \"b\"]'.", ds[0].Detail, g.name))
	}
	return v, !ds.HasErrors()
}
