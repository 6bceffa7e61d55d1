package evaluate

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// EnvPrefix starts the name of an environment variable that sets a variable.
const EnvPrefix = "REDSI_VAR_"

// Names under which what has no file is quoted in diagnostics.
const (
	argumentSource = "--var"
	envSource      = "environment"
)

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

// givens reads what the variables of a pipeline are given.
type givens struct {
	decl  *declare.Module
	diags *syntax.Collector
	from  Given
}

// values collects the strongest value that each variable is given, and reports values of undeclared variables.
func (gs *givens) values() map[string]given {
	declared := syntax.Keys(gs.decl.Variables)
	m := map[string]given{}
	set := func(list []given, local bool) {
		for _, g := range list {
			g.local = local
			m[g.name] = g
		}
	}
	for _, f := range gs.from.Local {
		set(gs.variableFile(f), true)
	}
	for _, f := range gs.environment() {
		// Other pipelines may have variables that this one has not: no error.
		if gs.decl.Variables[f.name] != nil {
			m[f.name] = f
		} else if near := syntax.Nearest(f.name, declared); near != "" {
			gs.diags.Warn(f.rng, "Undeclared variable", fmt.Sprintf("The pipeline has no variable %q. Did you mean %q?", f.name, near))
		}
	}
	for _, f := range gs.from.VarFiles {
		set(gs.variableFile(f), false)
	}
	set(gs.lines(argumentSource, "", gs.from.Vars), false)
	for name, g := range m {
		if gs.decl.Variables[name] == nil {
			gs.diags.Error(g.rng, "Undeclared variable",
				fmt.Sprintf("The pipeline has no variable %q. %s", name, syntax.Suggest(name, declared, "variable")))
		}
	}
	return m
}

func (gs *givens) environment() []given {
	values := map[string]string{}
	for _, e := range gs.from.Env {
		name, value, ok := strings.Cut(e, "=")
		if v, has := strings.CutPrefix(name, EnvPrefix); ok && has {
			values[v] = value
		}
	}
	return gs.lines(envSource, EnvPrefix, values)
}

// lines makes a text of NAME=VALUE lines, each behind a prefix, for diagnostics to quote.
func (gs *givens) lines(source, prefix string, values map[string]string) []given {
	var text strings.Builder
	list := make([]given, len(values))
	for i, n := range syntax.Keys(values) {
		line := prefix + n + "=" + gs.hideText(n, values[n])
		start := hcl.Pos{Line: i + 1, Column: 1, Byte: text.Len()}
		end := hcl.Pos{Line: i + 1, Column: 1 + len(line), Byte: text.Len() + len(line)}
		list[i] = given{name: n, text: values[n], rng: hcl.Range{Filename: source, Start: start, End: end}}
		text.WriteString(line + "\n")
	}
	if len(list) > 0 {
		gs.diags.Quote(source, []byte(text.String()))
	}
	return list
}

// variableFile reads NAME = VALUE attributes of HCL, or the names at the top of JSON, YAML or TOML, by the file's ending.
func (gs *givens) variableFile(f syntax.File) []given {
	if !gs.decl.AnySensitive() { // else no line of it is quoted
		gs.diags.Quote(f.Name, f.Bytes)
	}
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".yaml", ".yml":
		return gs.dataFile(f, "YAML", language.DecodeYAML)
	case ".toml":
		return gs.dataFile(f, "TOML", language.DecodeTOML)
	}
	start := hcl.Range{Filename: f.Name, Start: hcl.InitialPos, End: hcl.InitialPos}
	var file *hcl.File
	var ds hcl.Diagnostics
	switch {
	case !syntax.CheckSource(f.Name, f.Bytes, gs.diags):
		return nil
	case strings.HasSuffix(f.Name, ".json"):
		file, ds = hcljson.Parse(f.Bytes, f.Name)
	default:
		file, ds = hclsyntax.ParseConfig(f.Bytes, f.Name, hcl.InitialPos)
	}
	gs.diags.HCL(ds, start)
	if ds.HasErrors() {
		return nil
	}
	if b, ok := file.Body.(*hclsyntax.Body); ok {
		hclsyntax.VisitAll(b, syntax.UnixLines)
	}
	attrs, ds := file.Body.JustAttributes()
	gs.diags.HCL(ds, start)
	var list []given
	for name, a := range attrs {
		list = append(list, given{name: name, rng: a.Range, expr: a.Expr})
	}
	return list
}

// dataFile is variableFile for formats of other tools.
func (gs *givens) dataFile(f syntax.File, format string, decode func([]byte) (cty.Value, error)) (list []given) {
	fail := func(line int, detail string) []given {
		gs.diags.Error(syntax.Line(f, line), "Wrong variable file", fmt.Sprintf("%s is not the %s that it should be: %s.", f.Name, format, detail))
		return nil
	}
	if len(f.Bytes) > syntax.MaxSource {
		return fail(1, fmt.Sprintf("it has %d bytes; a variable file may have %d", len(f.Bytes), syntax.MaxSource))
	}
	text, err := language.CheckedText(f.Name, f.Bytes)
	var v cty.Value
	if err == nil {
		v, err = decode(f.Bytes)
	}
	if err != nil {
		line := 1
		_, _ = fmt.Sscanf(err.Error(), "line %d:", &line) // where it is known
		return fail(line, err.Error())
	}
	if v.IsNull() { // it is empty
		return nil
	}
	if !v.Type().IsObjectType() {
		return fail(1, "it has no variables at its top, such as name: value")
	}
	for name, value := range v.AsValueMap() {
		rng := syntax.Line(f, 1)
		key := regexp.MustCompile(`(?m)^\[*[ \t]*["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*[:=.\]]`)
		if at := key.FindStringIndex(text); at != nil {
			rng = syntax.Line(f, 1+strings.Count(text[:at[0]], "\n"))
		}
		list = append(list, given{name: name, rng: rng, expr: hcl.StaticExpr(value, rng)})
	}
	return list
}

// value converts what was given to the variable's type.
func (g given) value(gs *givens, v *declare.Variable) cty.Value {
	var val cty.Value
	switch {
	case g.expr != nil:
		var ds hcl.Diagnostics
		val, ds = g.expr.Value(nil)
		gs.diags.HCL(ds, g.rng)
		if ds.HasErrors() {
			return cty.DynamicVal
		}
		if val.IsNull() { // as if it were not given
			if !v.Optional {
				gs.diags.Error(g.rng, "Variable without a value", fmt.Sprintf("var.%s has no default, so it cannot be null.", v.Name))
			}
			return v.Fallback
		}
	case v.Type.IsPrimitiveType():
		if syntax.NotNFC([]byte(g.text)) > 0 {
			gs.diags.Error(g.rng, "Text not in NFC",
				fmt.Sprintf("The value of var.%s is not in Unicode's form NFC, such as a letter with an accent that is a character of its own. Give it in NFC, or let a step read it as an input.", v.Name))
			return cty.DynamicVal
		}
		val = cty.StringVal(g.text)
	default:
		var ok bool
		if val, ok = gs.parseValue(g); !ok {
			return cty.DynamicVal
		}
	}
	tooLarge := language.Measure(val)
	if tooLarge == nil && v.Type == cty.Number && val.Type() == cty.String && val.IsKnown() && !val.IsNull() {
		tooLarge = syntax.LongNumber(val.AsString())
	}
	if tooLarge != nil {
		gs.diags.Error(g.rng, tooLarge.Summary, tooLarge.Detail)
		return cty.DynamicVal
	}
	out, err := convert.Convert(val, v.Type)
	if err != nil {
		gs.diags.Error(g.rng, "Wrong type",
			fmt.Sprintf("The value does not fit the type of var.%s, %s: %s.", v.Name, typeexpr.TypeString(v.Type), err), syntax.Place{Range: v.Range, Text: "declared here"})
		return cty.DynamicVal
	}
	return out
}

func (gs *givens) parseValue(g given) (cty.Value, bool) {
	if !syntax.CheckSource(g.rng.Filename, []byte(g.text), gs.diags) {
		return cty.DynamicVal, false
	}
	e, ds := hclsyntax.ParseExpression([]byte(g.text), g.rng.Filename, g.rng.Start)
	v := cty.DynamicVal
	if !ds.HasErrors() {
		v, ds = e.Value(nil)
	}
	if ds.HasErrors() {
		gs.diags.Error(g.rng, "Not a value",
			fmt.Sprintf("%s Write it as in a pipeline file, for example --var '%s=[\"a\", \"b\"]'.", ds[0].Detail, g.name))
	}
	return v, !ds.HasErrors()
}

// hideText is a value from outside as diagnostics quote it: hidden if its variable is sensitive, or it may be meant for one.
func (gs *givens) hideText(name, value string) string {
	if v := gs.decl.Variables[name]; v != nil && v.Sensitive || v == nil && gs.decl.AnySensitive() {
		return "…"
	}
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(value)
}
